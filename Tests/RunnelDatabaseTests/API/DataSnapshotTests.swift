import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct DataSnapshotTests {
  private let folder: TemporaryFolder
  private let place: Reference

  init() async throws {
    folder = try TemporaryFolder()
    place = try await folder.open().reference(withPath: "users/ana")
  }

  private func snapshot(_ json: String, index: QueryIndex = .priority) throws -> DataSnapshot {
    DataSnapshot(reference: place, node: try node(json), index: index)
  }

  @Test func aLeafHasAValueAndNoChildren() throws {
    let leaf = try snapshot(#"{".value":5,".priority":"p"}"#)
    #expect(leaf.key == "ana" && leaf.reference == place && leaf.exists)
    #expect(leaf.value == 5)
    #expect(leaf.exportValue == [".value": 5, ".priority": "p"])
    #expect(leaf.priority == "p")
    #expect(!leaf.hasChildren && leaf.childrenCount == 0 && leaf.children.isEmpty)
    #expect(try leaf.child("a").exists == false)
  }

  @Test func equalityIsThatOfPlaceValueAndPriority() throws {
    let json = #"{"a":1,"b":{".value":2,".priority":3}}"#
    let one = try snapshot(json)
    let pending = DataSnapshot(
      reference: place, node: one.node, index: .key, pending: [place.path])
    #expect(pending.hasPendingWrites && !one.hasPendingWrites)
    #expect(one == pending && Set([one, pending]).count == 1)
    #expect(try one != snapshot(#"{"a":1,"b":2}"#))
    #expect(try one != snapshot(#"{"a":1,"b":{".value":2,".priority":3},".priority":1}"#))
    #expect(try one.child("a") != DataSnapshot(reference: place, node: node("1")))
  }

  @Test func nothingHasNothing() throws {
    let nothing = try snapshot("null")
    #expect(!nothing.exists && nothing.value == nil && nothing.exportValue == nil)
    #expect(nothing.priority == nil && nothing.children.isEmpty && !nothing.hasChild("a"))
  }

  @Test func arraysAreMadeOnRequestOnly() throws {
    let list = try snapshot(#"{"l":["a",null,"c"]}"#)
    #expect(list.value == ["l": ["0": "a", "2": "c"]])
    #expect(list.value(coercingArrays: true) == ["l": ["a", nil, "c"]])
    #expect(list.exportValue == ["l": ["0": "a", "2": "c"]])
  }

  @Test func childrenAreReachedByPath() throws {
    let user = try snapshot(#"{"name":{"last":"B",".priority":1},"e":1}"#)
    #expect(user.hasChild("name") && user.hasChild("name/last") && !user.hasChild("name/x"))
    #expect(!user.hasChild("a.b"))
    let last = try user.child("name/last")
    #expect(last.value == "B" && last.reference.description == "/users/ana/name/last")
    #expect(try user.child("").value == user.value)
    #expect(throws: TreeError.self) { try user.child("a.b") }
    #expect(user.childrenCount == 2 && user.hasChildren)
  }

  @Test func childrenComeInTheOrderAskedForAndTheirChildrenByPriority() throws {
    let json = #"{"x":{"b":1,"a":{".value":2,".priority":3},"c":0},"y":1}"#
    let byKey = try snapshot(json, index: .key)
    #expect(byKey.children.map(\.key) == ["x", "y"])
    #expect(byKey.children[0].children.map(\.key) == ["b", "c", "a"])
    #expect(try snapshot(json, index: .value).children.map(\.key) == ["y", "x"])
    #expect(byKey.children[0].reference.description == "/users/ana/x")
  }

  @Test(arguments: 0..<100) func childrenAreSortedAsAQueryWould(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let node = try random.node(depth: 2)
    let index = random.pick(
      try [
        QueryIndex.priority, .key, .value, .child(Path("a")),
        QueryIndex([SortKey(.key, isDescending: true)]),
        QueryIndex([
          SortKey(.child(Path("a")), isDescending: true), SortKey(.key, isDescending: true),
        ]), QueryIndex([SortKey(.child(Path("b"))), SortKey(.value, isDescending: true)]),
      ])
    let expected = RowSlice(index: index).rows(among: node.children, detail: .full)
    let snapshot = DataSnapshot(reference: place, node: node, index: index)
    #expect(snapshot.children.map(\.key) == expected.map(\.key.text), "seed \(seed)")
    #expect(snapshot.children.map(\.node) == expected.map(\.node), "seed \(seed)")
  }

  @Test func aSnapshotIsDecodedFromItsPlace() throws {
    struct User: Decodable, Equatable {
      var name: String
      var age: Int?
    }
    #expect(try snapshot(#"{"name":"Ana"}"#).decode(User.self) == User(name: "Ana", age: nil))
    #expect(try snapshot("null").decode(User?.self) == nil)
    let error = #expect(throws: DataCodingError.self) {
      try snapshot(#"{"name":"Ana","age":"x"}"#).decode(User.self)
    }
    #expect(error?.path == "/users/ana/age" && error?.expected == "Int" && error?.code == .mismatch)
    let number: Int = try snapshot("3").decode()
    #expect(number == 3)
  }
}
