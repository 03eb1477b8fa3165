import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Pages of servers that do not do as they are asked, pages from the other end, and what events tell of
/// records that were read on an earlier connection.
@Suite struct ServicePageTests {
  private let world: ServiceWorld
  private let notes: Path

  init() throws {
    world = try ServiceWorld()
    notes = try Path("/notes")
    world.server.pageMax = 10
  }

  private func fill(_ count: Int) {
    for number in 0..<count {
      _ = world.server.handle(
        .create(data: ["text": .string("t\(number)"), "old": true]))
    }
    world.server.log = []
  }

  private func finds() -> Int { world.server.log.count { $0.hasPrefix("find") } }

  private func texts(_ query: Query) throws -> [String] { try world.rows(query, "text") }

  /// The fields of a record but its id.
  private func fields(of key: String, in shown: Node) throws -> JSONValue {
    .object((try shown[Key(key)].json.object ?? []).filter { $0.name != "id" })
  }

  /// Another client makes a call, and its event arrives.
  private func others(_ request: ServiceRequest) throws {
    let (_, event) = world.server.handle(request)
    if let event { world.events.append(("notes", event.0, event.1)) }
    try world.tellEvents()
  }

  // MARK: Servers that ignore what they are asked

  private static let untruths: [(told: [JSONMember], words: String)] = [
    ([], "10 of 100 can be read"),
    ([JSONMember("limit", 0)], "10 of 100 can be read"),
    ([JSONMember("limit", -1)], "10 of 100 can be read"),
    ([JSONMember("limit", .null)], "10 of 100 can be read"),
    ([JSONMember("total", 0)], "no more than 10 can be read"),
    ([JSONMember("total", -1)], "no more than 10 can be read"),
    ([JSONMember("total", .null)], "no more than 10 can be read"),
  ]

  @Test(arguments: ServicePageTests.untruths.indices, [nil, 5] as [Int?])
  func serverThatIgnoresSkipIsNotAskedForEverAndWhatCameIsShown(
    index: Int, page: Int?
  ) throws {
    let (told, words) = ServicePageTests.untruths[index]
    fill(100)
    (world.server.ignoresSkip, world.server.told) = (true, told)
    try world.connect()
    let query = try Query(notes).ordered(by: .key)
    try world.listen(query, page: page)
    try world.settle()
    if page != nil {
      try world.extend(by: 20)
      try world.settle()
    }
    #expect(finds() <= 8, "\(world.server.log)")
    #expect(try texts(query) == (0..<10).map { "t\($0)" })
    #expect(world.limits.last == "the service ignores $skip: \(words)")
    #expect(world.origin.isSettled)
  }

  @Test func completeAnswerIsWholeThoughTheQueryIsIgnored() throws {
    fill(10)
    world.server.ignoresSkip = true
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    #expect(finds() <= 5, "\(world.server.log)")
    #expect(try world.shown().children.count == 10)
    #expect(world.limits.isEmpty)
  }

  @Test func serverThatTellsNoLimitIsReadToTheTotal() throws {
    fill(100)
    world.server.told = [JSONMember("limit", .null)]
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    #expect(try world.shown().children.count == 100)
    #expect(world.limits.isEmpty)
  }

  @Test func recordWithoutAnIDDoesNotHideTheOthers() throws {
    fill(3)
    world.server.records.insert(["text": "nameless"], at: 0)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    #expect(try world.shown().children.map(\.key.text) == ["1", "2", "3"])
  }

  // MARK: The other end

  @Test func lastPageIsReadFromTheEndAndNothingBetween() throws {
    fill(900)
    world.server.pageMax = 50
    try world.connect()
    let query = try Query(notes).ordered(by: .key)
    try world.listen(query, page: 20)
    try world.settle()
    try world.listen(query.limited(to: 20, from: .last))
    try world.settle()
    let before = finds()
    #expect(before <= 4, "\(world.server.log)")
    // The records from there on are known, in whatever way they are asked for.
    let end = try query.starting(at: .leaf(.string("881")))
    try world.listen(end)
    try world.listen(end.limited(to: 21, from: .first))
    try world.settle()
    #expect(finds() == before, "\(world.server.log)")
    #expect(try texts(end).count == 20)
    #expect(try world.shown().children.count < 120)
    // What others add there is told.
    try others(.create(data: ["text": "new"]))
    #expect(try texts(end).last == "new")
  }

  // MARK: Earlier connections

  @Test func eventsOfRecordsThatWereReadEarlierAreNotLost() throws {
    fill(40)
    world.server.pageMax = 50
    try world.connect()
    let query = try Query(notes).ordered(by: .key)
    try world.listen(query, page: 30)
    try world.settle()
    try world.restart()
    try world.listen(query, page: 3)
    try world.connect()
    try world.settle()
    #expect(try world.shown()[Key("30")][Key("text")].leaf?.json == "t29")
    let finds = finds()
    try others(.patch(id: 28, data: ["text": "patched"]))
    try others(.update(id: 29, data: ["text": "updated"]))
    try others(.remove(id: 30))
    try others(.patch(id: 40, data: ["text": "never read"]))
    let shown = try world.shown()
    #expect(try fields(of: "28", in: shown) == ["old": true, "text": "patched"])
    #expect(try fields(of: "29", in: shown) == ["text": "updated"])
    #expect(try shown[Key("30")].isEmpty && shown[Key("40")].isEmpty)
    #expect(self.finds() == finds)
  }

  /// A patch with `$select` tells the selected fields only.
  @Test func eventWithAPartOfARecordKeepsTheRestOfIt() throws {
    fill(40)
    world.server.pageMax = 50
    try world.connect()
    let query = try Query(notes).ordered(by: .key)
    try world.listen(query, page: 30)
    try world.settle()
    try world.restart()
    try world.listen(query, page: 3)
    try world.connect()
    try world.settle()
    world.events = [("notes", .patched, ["id": 28, "text": "part"])]
    try world.tellEvents()
    #expect(try fields(of: "28", in: world.shown()) == ["old": true, "text": "part"])
  }
}
