import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct ReferenceTests {
  private let folder: TemporaryFolder
  private let database: Database

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
  }

  private func reference(_ path: String) throws -> Reference {
    try database.reference(withPath: path)
  }

  private func export(_ path: String = "/") async throws -> String {
    try await reference(path).get().exportValue.jsonText()
  }

  @Test(arguments: [EventKinds(), .pending])
  func aSingleEventOfNoKindIsRefused(kinds: EventKinds) async throws {
    let place = try reference("a")
    let error = await #expect(throws: DatabaseError.self) {
      try await place.observeSingleEvent(of: kinds)
    }
    #expect(error?.code == .refused)
  }

  // MARK: Places

  @Test func aReferenceKnowsItsPlace() throws {
    let reference = try reference("//users///ana/")
    #expect(reference.key == "ana")
    #expect(reference.path == (try Path("users/ana")))
    #expect(reference.description == "/users/ana")
    #expect(reference.parent == (try self.reference("users")))
    #expect(reference.parent?.parent == database.reference())
    #expect(reference.root == database.reference())
    #expect(try reference.child("name/last").description == "/users/ana/name/last")
  }

  @Test(arguments: ["", "/", "//"]) func anEmptyPathIsNoChild(path: String) throws {
    let place = try reference("users/ana")
    let error = #expect(throws: TreeError.self) { try place.child(path) }
    #expect(error?.code == .invalidPath)
    #expect(error?.description.contains("/users/ana") == true)
  }

  @Test func theRootHasNoKeyAndNoParent() {
    #expect(database.reference().key == nil)
    #expect(database.reference().parent == nil)
    #expect(database.reference().description == "/")
  }

  @Test func referencesAreEqualIfTheyNameOnePlaceOfOneDatabase() async throws {
    let other = try await folder.open()
    let places = try [
      reference("a"), database.reference().child("a"), reference("a/b"),
      other.reference(at: Path("a")),
    ]
    #expect(places[0] == places[1])
    #expect(Set(places).count == 3)
    other.close()
  }

  @Test(arguments: ["a.b", "a#", "$a", "[", "a/\u{7}", "a/b.c/d"])
  func aPathThatIsNoneIsRefused(_ path: String) throws {
    let refused = #expect(throws: TreeError.self) { try database.reference().child(path) }
    #expect(refused?.code == .invalidKey)
    #expect(throws: TreeError.self) { try database.reference(withPath: path) }
  }

  @Test func aPlaceMayBeAtTheLastLevelAndNotBelowIt() throws {
    let deepest = try reference(
      Array(repeating: "a", count: TreeLimits.depthMax).joined(separator: "/"))
    let error = #expect(throws: TreeError.self) { try deepest.child("b") }
    #expect(error?.code == .invalidPath)
    #expect(throws: TreeError.self) { try deepest.childByAutoID() }
    #expect(throws: Never.self) { try deepest.parent?.childByAutoID() }
  }

  @Test func automaticKeysAscendAndWriteNothing() async throws {
    let children = try (0..<50).map { _ in try reference("l").childByAutoID() }
    let keys = children.compactMap { $0.path.lastKey }
    #expect(keys == keys.sorted() && Set(keys).count == 50)
    #expect(keys[0].text.hasPrefix("-NjEtLV-"))
    #expect(try await export() == "null")
  }

  // MARK: Writing

  @Test func settingReplacesAndClearsThePriority() async throws {
    let place = try reference("a")
    try await place.setValue(["x": 1, "y": [true, nil, "z"]], priority: 5)
    #expect(try await export() == #"{"a":{"x":1,"y":{"0":true,"2":"z"},".priority":5}}"#)
    try await place.setValue(["y": 2])
    #expect(try await export() == #"{"a":{"y":2}}"#)
    try await place.setValue(nil)
    #expect(try await export() == "null")
  }

  @Test func aPriorityIsSetWithEveryKindOfValue() async throws {
    let place = try reference("a")
    let cases: [(JSONValue, String)] = [
      (1, #"{".value":1,".priority":"p"}"#),
      ("s", #"{".value":"s",".priority":"p"}"#),
      (["x"], #"{"0":"x",".priority":"p"}"#),
      (["k": 1], #"{"k":1,".priority":"p"}"#),
      (["k": 1, ".priority": 3], #"{"k":1,".priority":3}"#),
      ([".value": 2, ".priority": 3], #"{".value":2,".priority":3}"#),
      ([".sv": "timestamp"], #"{".value":1700000000000,".priority":"p"}"#),
      (nil, "null"), ([:], "null"), ([], "null"),
    ]
    for (value, stored) in cases {
      try await place.setValue(value, priority: "p")
      #expect(try await export("a") == stored, "\(value)")
    }
    try await place.setValue(1, priority: ServerValue.timestamp.json)
    #expect(try await place.get().priority == 1_700_000_000_000)
  }

  @Test func settingThePriorityLeavesTheValue() async throws {
    let place = try reference("a")
    try await place.setPriority(1)
    #expect(try await export() == "null")
    try await place.setValue(["x": 1])
    try await place.setPriority("high")
    #expect(try await export("a") == #"{"x":1,".priority":"high"}"#)
    try await place.setPriority(nil)
    #expect(try await export("a") == #"{"x":1}"#)
    try await database.reference().setPriority(2)
    #expect(try await export() == #"{"a":{"x":1},".priority":2}"#)
    await #expect(throws: DatabaseError.self) { try await place.setPriority(true) }
  }

  @Test func anUpdateReplacesWhatItNamesAndLeavesTheRest() async throws {
    let users = try reference("users")
    try await users.setValue(["ana": ["age": 36, "away": true], "bo": 1], priority: 9)
    try await users.updateChildValues([
      "ana/away": nil, "ana/name": "Ana", "bo/.priority": 4, "c": 2,
    ])
    #expect(
      try await export("users")
        == #"{"ana":{"age":36,"name":"Ana"},"bo":{".value":1,".priority":4},"c":2,".priority":9}"#)
    try await users.updateChildValues([:] as [String: JSONValue])
    let error = await #expect(throws: DatabaseError.self) {
      try await users.updateChildValues(["ana": 1, "ana/age": 2])
    }
    #expect(error?.code == .refused)
  }

  @Test func anUpdateBySwiftValuesLeavesWhatIsNil() async throws {
    struct Part: Encodable {
      var name: String?
      var age: Int?
    }
    let place = try reference("a")
    try await place.setValue(["name": "Ana", "age": 1, "x": true])
    try await place.updateChildValues(Part(name: nil, age: 2))
    try await place.updateChildValues(["y/z": 3.5])
    #expect(try await export("a") == #"{"age":2,"name":"Ana","x":true,"y":{"z":3.5}}"#)
    let error = await #expect(throws: DataCodingError.self) { try await place.updateChildValues(5) }
    #expect(error?.path == "/a")
  }

  @Test func removingIsIdempotent() async throws {
    let place = try reference("a/b")
    try await place.setValue(true)
    try await place.removeValue()
    try await place.removeValue()
    #expect(try await export() == "null")
  }

  @Test func pushingAddsChildrenInOrder() async throws {
    struct Message: Codable, Equatable { var text: String }
    let list = try reference("l")
    let first = try await list.push("one", priority: 1)
    let second = try await list.push(Message(text: "two"))
    let snapshot = try await list.get()
    #expect(snapshot.childrenCount == 2)
    #expect(try await first.get().exportValue == [".value": "one", ".priority": 1])
    #expect(try await second.get().decode(Message.self) == Message(text: "two"))
    #expect(first.path < second.path)
  }

  @Test func nothingIsPushedInNoFormAndAKeyAloneIsMadeWithoutAWrite() async throws {
    struct Line: Codable {
      var text: String?
      var tags: [String] = []
    }
    let list = try reference("l")
    let forms: [() async throws -> Reference] = [
      { try await list.push(nil as JSONValue) },
      { try await list.push([:] as JSONValue, priority: 1) },
      { try await list.push(["a": [nil, [:]]] as JSONValue) },
      { try await list.push(Line()) },
      { try await list.push(nil as Int?) },
      { try await list.push([String: Line]()) },
    ]
    for (number, push) in forms.enumerated() {
      let error = await #expect(throws: DatabaseError.self, "form \(number)") { try await push() }
      #expect(error?.code == .refused, "form \(number)")
      #expect(error?.message.contains("`childByAutoID()`") == true, "form \(number)")
    }
    #expect(try await export() == "null")
    #expect(try list.childByAutoID().path.parent == list.path)
    try await list.push(Line(text: "x"))
    #expect(try await list.get().childrenCount == 1)
  }

  @Test func serverValuesAreResolvedWhereverTheyStand() async throws {
    struct Visit: Encodable {
      var at = ServerValue.timestamp
      var count = ServerValue.increment(2)
      var sum = ServerValue.increment(0.5)
    }
    let place = try reference("v")
    try await place.setValue(Visit())
    try await place.updateChildValues(Visit())
    #expect(try await export("v") == #"{"at":1700000000000,"count":4,"sum":1}"#)
    try await place.child("count").setValue(ServerValue.increment(-5))
    #expect(try await export("v/count") == "-1")
    for delta in [Double.infinity, .nan] {
      await #expect(throws: DataCodingError.self) {
        try await place.setValue(ServerValue.increment(delta))
      }
      await #expect(throws: DatabaseError.self) {
        try await place.setValue(ServerValue.increment(delta).json)
      }
    }
  }

  @Test func whatIsRefusedNamesThePlaceAndChangesNothing() async throws {
    let place = try reference("a")
    try await place.setValue(1)
    let error = await #expect(throws: DatabaseError.self) {
      try await place.setValue(["b": ["c.d": 1]] as JSONValue)
    }
    #expect(error?.code == .refused)
    #expect(error?.message.contains("/a/b") == true)
    let wrong = await #expect(throws: DataCodingError.self) {
      try await place.setValue(["x": [Double.nan]])
    }
    #expect(wrong?.path == "/a/x/0")
    #expect(try await export() == #"{"a":1}"#)
  }

  // MARK: Reading

  @Test func whatIsNotThereIsASnapshotThatDoesNotExist() async throws {
    let snapshot = try await reference("a/b").get()
    #expect(!snapshot.exists && snapshot.value == nil && snapshot.key == "b")
  }

  @Test func shallowReadsPageThroughTheKeys() async throws {
    let list = try reference("l")
    let all = (0..<250).map { "k\($0)" }
    try await list.setValue(
      Dictionary(uniqueKeysWithValues: all.map { ($0, String(repeating: "x", count: 100)) }))
    var keys: [String] = []
    var cursor: String?
    repeat {
      let page = try await list.shallow(limit: 100, after: cursor)
      #expect(page.numberOfChildren == 250 && page.hasChildren && page.exists)
      keys += page.keys
      cursor = page.next
    } while cursor != nil
    #expect(keys == all.sorted())
    #expect(try await list.shallow(limit: 250).next == nil)
    #expect(try await list.shallow(limit: 249).next == "k98")
    #expect(try await list.shallow(limit: 0).keys.isEmpty)
    #expect(try await list.shallow(limit: 0).numberOfChildren == 250)
    #expect(try await list.shallow(limit: 2, after: "k5").keys == ["k50", "k51"])
    await #expect(throws: TreeError.self) { try await list.shallow(after: "a.b") }
  }

  @Test func shallowReadsTellLeavesAndNothingApart() async throws {
    try await reference("leaf").setValue(7)
    let leaf = try await reference("leaf").shallow()
    #expect(leaf.exists && !leaf.hasChildren && leaf.keys.isEmpty)
    #expect(try await reference("none").shallow().exists == false)
  }

  // MARK: Opening and closing

  @Test func aClosedDatabaseRefusesEverything() async throws {
    let place = try reference("a")
    database.close()
    database.close()
    for work in [
      { try await place.setValue(1) }, { try await place.removeValue() },
      { _ = try await place.get() }, { _ = try await place.shallow() },
      { try await place.runTransaction { _ in .abort } },
    ] as [@Sendable () async throws -> Void] {
      let error = await #expect(throws: DatabaseError.self) { try await work() }
      #expect(error?.code == .closed)
    }
  }

  @Test func aReadOnlyDatabaseReadsAndRefuses() async throws {
    try await reference("a").setValue(1)
    let reader = try await folder.open(isReadOnly: true)
    #expect(try await reader.reference().get().value == ["a": 1])
    let error = await #expect(throws: DatabaseError.self) {
      try await reader.reference().setValue(2)
    }
    #expect(error?.code == .readOnly)
    #expect(error?.message.contains("was opened for reading only") == true)
    reader.close()
  }

  @Test func aFileThatIsNoDatabaseIsNotOpened() async throws {
    try folder.write(.init("no database".utf8), to: "other")
    let error = await #expect(throws: DatabaseError.self) { try await folder.open("other") }
    #expect(error?.code == .corrupt)
  }

  @Test func writesAreThereWhenTheFileIsOpenedAgain() async throws {
    try await reference("a").setValue(Int64.max)
    database.close()
    let again = try await folder.open()
    #expect(try await again.reference(withPath: "a").get().value == .number(JSONNumber(.max)))
    again.close()
  }
}
