import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// The examples of the pages "Coming from ...", run.
@Suite(.timeLimit(.minutes(5))) struct NewcomerExampleTests {
  private let folder: TemporaryFolder
  private let database: Database

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
  }

  private func set(_ path: String, _ value: JSONValue) async throws {
    try await database.reference(withPath: path).setValue(value)
  }

  @Test func aStreamFillsAListAndFollowsChanges() async throws {
    try await set("items", ["a": ["name": "Ada"], "b": ["name": 7], "c": ["x": 1]])
    let (session, table) = (StreamSession(database), TextTable())
    let controller = try MyController(session, table)
    while table.rows.isEmpty { try await session.receive() }
    #expect(table.rows[0].count == 3)
    #expect(table.rows[0][0] == "Ada" && table.rows[0][2] == "without a name")
    #expect(table.rows[0][1].contains("name"))
    try await set("items/b/name", "Bo")
    while table.rows[0][1] != "Bo" { try await session.receive() }
    #expect(table.reloadCount == 1)
    #expect(controller.stream.loadState == .loaded)
  }

  @Test func sectionsOfOneStreamFollowAField() async throws {
    try await set(
      "users", ["a": ["name": "Ada", "isOrganizer": true], "b": ["name": "Bo"] as JSONValue])
    let (session, table) = (StreamSession(database), TextTable())
    let controller = try RosterController(session, table)
    while table.rows.isEmpty { try await session.receive() }
    try await set("users/b/isOrganizer", true)
    while table.rows != [["Ada", "Bo"], []] { try await session.receive() }
    #expect(controller.title(ofSection: 0) == "organizers")
    #expect(controller.title(ofSection: 1) == "participants")
  }

  @Test func sectionsOfSeveralStreamsFollowEachOfThem() async throws {
    try await set(
      "users",
      [
        "a": ["name": "Ada", "isOrganizer": true], "b": ["name": "Bo", "isOrganizer": false],
      ])
    let (session, table) = (StreamSession(database), TextTable())
    let controller = try LimitedRosterController(session, table)
    while table.rows != [["Ada"], ["Bo"]] { try await session.receive() }
    try await set("users/c", ["name": "Cy", "isOrganizer": false])
    while table.rows != [["Ada"], ["Bo", "Cy"]] { try await session.receive() }
    #expect(controller.adapter.sections.map(\.labels.header) == ["organizers", "participants"])
  }

  @Test func placeholdersGiveWayToFetchedRows() async throws {
    let messages = (0..<150).map { number in
      JSONMember("m\(100 + number)", ["text": .string("\(number)")])
    }
    try await set("messages", .object(messages))
    let (session, table) = (StreamSession(database), TextTable())
    let controller = try ChatController(session, table)
    #expect(table.rows == [["loading"]])
    while table.rows[0].count != 101 { try await session.receive() }
    #expect(table.rows[0].first == "fetch more" && table.rows[0].last == "149")
    controller.fetchMoreTapped()
    #expect(table.rows[0].first == "loading")
    while table.rows[0].count != 151 { try await session.receive() }
    #expect(table.rows[0].prefix(2) == ["the beginning", "0"])
    #expect(table.reloadCount == 2)
  }

  @Test func aListByHandShowsAddedRows() async throws {
    let values = try database.reference(withPath: "values")
    try await values.setValue(["a": ["text": "one"]])
    let task = Task { try await show(values) { $0 == ["one", "two"] } }
    try await values.child("b").setValue(["text": "two"])
    try await task.value
  }

  @Test func aSynchronizedArrayTellsEachChange() async throws {
    let values = try database.reference(withPath: "values")
    try await values.setValue(["a": ["text": "one"], "b": ["text": "two"]])
    let session = StreamSession(database)
    var log: [String] = []
    let some = SomeClass(session, values) { log.append($0) }
    some.array.startSync()
    while some.array.count < 2 { try await session.receive() }
    try await values.updateChildValues([
      "a": ["text": "uno"] as JSONValue, "b": JSONValue.null, "c": ["text": "three"] as JSONValue,
    ])
    while log.count < 3 { try await session.receive() }
    #expect(log == ["removed 1", "changed 0", "added 1"])
  }

  @Test func aDataSourceFollowsWhileItsViewIsShown() async throws {
    let values = try database.reference(withPath: "values")
    try await values.setValue(["a": ["text": "one"], "b": ["text": "two"]])
    let (session, table) = (StreamSession(database), TextTable())
    let controller = DataSourceController(session, values, table)
    controller.viewDidAppear()
    while table.rows != [["one", "two"]] { try await session.receive() }
    #expect(controller.numberOfRows(inSection: 0) == 2)
    #expect(controller.text(at: ListIndexPath(section: 0, row: 1)) == "two")
    controller.delete(at: ListIndexPath(section: 0, row: 0))
    while table.rows != [["two"]] { try await session.receive() }
    controller.viewDidDisappear()
    try await values.child("c").setValue(["text": "three"])
    #expect(table.rows == [["two"]])
    controller.viewDidAppear()
    while table.rows != [["two", "three"]] { try await session.receive() }
  }

  @Test func aDataSourceEndsWithItsView() async throws {
    let session = StreamSession(database)
    let source = session.dataSource(of: try database.reference(withPath: "values"))
    do {
      let view = ShortLivedView(source)
      #expect(source.isSynced)
      withExtendedLifetime(view) {}
    }
    #expect(!source.isSynced)
  }
}
