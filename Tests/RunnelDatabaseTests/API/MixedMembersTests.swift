import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// What a program may give to the functions that write.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct MixedMembersTests {
  private let folder: TemporaryFolder
  private let database: Database

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
  }

  private func value(_ reference: Reference) async throws -> JSONValue {
    try await reference.get().value
  }

  @Test func literalWithVariablesIsWritten() async throws {
    let (name, count) = ("Ana", 3)
    let place = try database.reference(withPath: "a")
    try await place.setValue(["name": name, "n": 3, "count": count, "old": nil])
    #expect(try await value(place) == ["count": 3, "n": 3, "name": "Ana"])
    let child = try await place.push(["name": name, "isDone": true])
    #expect(try await value(child) == ["isDone": true, "name": "Ana"])
    database.close()
  }

  /// The number of an accident must not become a removal.
  @Test func aDoubleThatIsNoNumberIsRefusedAndRemovesNothing() async throws {
    let place = try database.reference(withPath: "car")
    let members: JSONValue = ["name": "Volvo", "speed": 3]
    try await place.setValue(members)
    let bad = Double.nan
    await #expect(throws: JSONNumberError.self) {
      try await place.setValue(["speed": JSONValue(bad)])
    }
    await #expect(throws: JSONNumberError.self) {
      try await place.updateChildValues(["speed": JSONValue(bad)])
    }
    await #expect(throws: DataCodingError.self) { try await place.setValue(["speed": bad]) }
    #expect(try await value(place) == members)
    try await place.updateChildValues(["speed": JSONValue(2.5)])
    #expect(try await value(place) == ["name": "Volvo", "speed": 2.5])
    database.close()
  }

  @Test func dictionaryOfJSONIsWritten() async throws {
    let members: [String: JSONValue] = ["a": 1, "b": ["c": "d"]]
    let (json, none): (JSONValue, JSONValue?) = (["e": 2], nil)
    let place = try database.reference(withPath: "a")
    try await place.setValue(members)
    #expect(try await value(place) == ["a": 1, "b": ["c": "d"]])
    let child = try await place.push(members)
    #expect(try await value(child) == ["a": 1, "b": ["c": "d"]])
    try await place.setValue(json)
    #expect(try await value(place) == ["e": 2])
    try await place.setValue(none)
    #expect(try await value(place) == .null)
    database.close()
  }

  @Test func serverValueStandsBesideOtherMembers() async throws {
    let place = try database.reference(withPath: "a")
    try await place.setValue(["old": 1, "n": 1])
    try await place.updateChildValues([
      "at": ServerValue.timestamp, "n": ServerValue.increment(2), "old": nil, "b/c": "d",
    ])
    let found = try await value(place)
    #expect(found["at"]?.int != nil && found["n"] == 3 && found["b"] == ["c": "d"])
    #expect(found["old"] == nil)
    try await place.onDisconnectUpdateChildValues(["online": false, "seen": ServerValue.timestamp])
    database.close()
    let again = try await folder.open()
    let left = try await value(again.reference(withPath: "a"))
    #expect(left["online"] == false && left["seen"]?.int != nil && left["n"] == 3)
    again.close()
  }

  /// As the documentation of `updateChildValues` has it.
  @Test func nilOfADictionaryRemovesAndNilOfAPropertyKeeps() async throws {
    struct Patch: Encodable {
      var title: String
      var note: String?
    }
    let place = try database.reference(withPath: "a")
    let title = "t"
    try await place.setValue(["title": "s", "note": "n"])
    try await place.updateChildValues(Patch(title: title, note: nil))
    #expect(try await value(place) == ["note": "n", "title": "t"])
    try await place.updateChildValues(["title": title, "note": nil])
    #expect(try await value(place) == ["title": "t"])
    try await place.setValue(["title": "s", "note": "n"])
    try await place.updateChildValues(
      Patch(title: title, note: nil), using: NodeEncoder(nils: .null))
    #expect(try await value(place) == ["title": "t"])
    database.close()
  }

  @Test func incrementReplacesAText() async throws {
    let place = try database.reference(withPath: "a")
    try await place.setValue("text")
    try await place.setValue(ServerValue.increment(2))
    #expect(try await value(place) == 2)
    database.close()
  }

  // MARK: As text

  @Test func whatIsReadIsShownAsJSON() async throws {
    let place = try database.reference(withPath: "a/b")
    let receipt = try await place.setValue(["n": 1])
    #expect("\(receipt)" == "final")
    let snapshot = try await place.get()
    #expect("\(snapshot.value)" == #"{"n":1}"#)
    #expect("\(snapshot)" == #"/a/b: {"n":1}"#)
    #expect(String(reflecting: snapshot) == #"/a/b: {"n":1}"#)
    #expect(
      "\(DataEvent.childAdded(snapshot, previousKey: nil))" == #"childAdded /a/b: {"n":1}"#)
    let page = try await database.history(count: 1)
    let entry = try #require(page.entries.first)
    #expect("\(entry)".hasSuffix(#"/a/b: null -> {"n":1}"#), "\(entry)")
    #expect("\(DatabaseError.Code.changed)" == "changed")
    #expect("\(TreeError.Code.invalidKey)" == "invalid_key")
    database.close()
  }

  @Test func changeOfAStreamIsShownWithItsRows() throws {
    let row = TreeRow(
      Child(key: try Key("b"), node: Node(.bool(true))), index: .key, detail: .full)
    var changes = ChangeSet()
    changes.insertedIDs = ["/a/b"]
    changes.batch = .reload
    #expect("\(changes)" == "reload")
    let rows = [Record(row, in: try Path("a"))]
    let change = StreamChange(
      sections: [StreamSection(items: rows)], changes: changes, loadState: .loaded)
    #expect("\(change)" == "loaded, reload: [/a/b: true]")
  }
}
