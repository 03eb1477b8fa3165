import PostgresCluster
import RunnelBase
import RunnelStorage
import RunnelTree
import Testing

@testable import RunnelPostgres

/// How often a server waits for its store.
///
/// Source: several servers, section 3, "Reading".
@Suite(needsPostgreSQL) struct StoreRoundTripTests {
  private static let rowCount = 3000

  private let place: String
  private let store: PostgresStore
  private let trips = RoundTrips()
  private let session: PostgresSession
  private let list: Path

  init() throws {
    list = try Path("/list")
    place = try PostgresCluster.shared().makeDatabase()
    store = try PostgresStore(PostgresPlace(place))
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    let lease = StoreLease(address: "")
    try lease.begin(store.connection)
    session = try PostgresSession(namespace: "chat", lease: lease) { [place, trips] in
      let link = try NetworkLink(PostgresPlace(place), patience: PostgresConnection.Patience())
      return PostgresConnection(CountedLink(link, trips))
    }
    try fill("k")
    try session.declareIndexes([IndexDefinition("/list", by: "n")])
  }

  /// Replaces the list by another server.
  private func fill(_ prefix: String) throws {
    let namespace = try #require(try store.namespace(named: "chat"))
    let padding = String(repeating: "x", count: 40)
    let members = (0..<StoreRoundTripTests.rowCount).map {
      "\"\(prefix)\(100_000 + $0)\":{\"n\":\($0 * 7919 % StoreRoundTripTests.rowCount),\"t\":\"\(padding)\"}"
    }
    let document = Array("{\(members.joined(separator: ","))}".utf8)
    try document.withUnsafeBufferPointer { bytes in
      try store.write(to: namespace) { try $0.importJSON(bytes, at: list, now: 1) }
    }
  }

  private func windows() throws -> [Query] {
    let last = try Query(list).limited(to: 100, from: .last)
    return [
      try last.ordered(by: .key), try last.ordered(byChild: "n"), last,
      try Query(list).ordered(by: .key).limited(to: 20, from: .first),
    ]
  }

  /// The number of statements of a transaction that reads, with those of its beginning.
  private func statementCount(
    _ body: (PostgresTransaction) throws -> Void
  ) throws -> Int {
    trips.forget()
    try session.perform(isWriting: false, body)
    return trips.statements.joined().count
  }

  @Test func manyRowsTakeFewStatements() throws {
    let most = 10 + StoreRoundTripTests.rowCount / 500
    let all = try Query(list).ordered(by: .key)
    let slices = [
      RowSlice(try all.limited(to: 1000, from: .last)),
      RowSlice(try Query(list).ordered(byChild: "n").limited(to: 1000, from: .last)),
      RowSlice(try Query(list).ordered(byChild: "t").limited(to: 1000, from: .first)),
      RowSlice(all),
    ]
    for slice in slices {
      for detail in [TreeRow.Detail.full, .shallow, .stored] {
        let count = try statementCount { _ = try $0.rows(of: list, in: slice, detail: detail) }
        #expect(count <= most, "\(slice) \(detail)")
      }
    }
    let whole = try statementCount { _ = try $0.node(at: list) }
    let hashed = try statementCount { _ = try $0.contentHash(of: Query(list)) }
    #expect(whole <= most)
    #expect(hashed <= most)
  }

  @Test func theHeadsOfManySplitNodesAreReadTogether() throws {
    let rooms = try Path("/rooms")
    let text = String(repeating: "x", count: 3000)
    let members = (0..<300).map {
      "\"r\(1000 + $0)\":{\"a\":\"\(text)\",\"b\":\"\(text)\",\"c\":\($0)}"
    }
    let document = Array("{\(members.joined(separator: ","))}".utf8)
    let namespace = try #require(try store.namespace(named: "chat"))
    try document.withUnsafeBufferPointer { bytes in
      try store.write(to: namespace) { try $0.importJSON(bytes, at: rooms, now: 1) }
    }
    let slice = RowSlice(try Query(rooms).ordered(by: .key))
    var found: [TreeRow] = []
    let count = try statementCount {
      found = try $0.rows(of: rooms, in: slice, detail: .shallow)
    }
    #expect(found.count == 300)
    #expect(found.allSatisfy { $0.summary.kind == .children(count: 3) })
    #expect(count <= 16)
    // What the transaction writes is counted.
    let child = try rooms.child(Key("r1007"))
    try session.perform(isWriting: true) { transaction in
      _ = try transaction.rows(of: rooms, in: slice, detail: .shallow)
      let added = try child.child(Key("d"))
      let node = Node(.number(JSONNumber(Int64(1))))
      try transaction.carryOut([Assignment(path: added, target: .node(node))], now: 1)
      let summary = try transaction.summary(at: child)
      #expect(summary.kind == .children(count: 4))
      let shown = try transaction.rows(of: rooms, in: slice, detail: .shallow)
      #expect(shown[7].summary.kind == .children(count: 4))
    }
    let summary = try session.perform(isWriting: false) { try $0.summary(at: child) }
    #expect(summary.kind == .children(count: 4))
  }

  private func rows(_ query: Query, isExpected: Bool = true) throws -> [TreeRow] {
    try session.perform(isWriting: false, expecting: isExpected ? [query] : []) {
      try $0.rows(of: query.path, in: RowSlice(query), detail: .full)
    }
  }

  @Test func aWindowIsReadInOneRoundTrip() throws {
    for query in try windows() {
      // The place is met, and the statements are prepared.
      let unexpected = try rows(query, isExpected: false)
      #expect(unexpected.count == query.limit?.count)
      trips.forget()
      #expect(try rows(query) == unexpected)
      #expect(trips.statements.count == 1, "\(trips.statements)")
      #expect(trips.posted == [["COMMIT"]])
    }
  }

  @Test func aWindowReadsHardlyMoreRowsThanItShows() throws {
    for query in try windows() {
      _ = try rows(query)
      trips.forget()
      let wanted = try rows(query).count
      let limits = trips.statements.joined()
        .filter { $0.contains("ORDER BY key") || $0.contains("ORDER BY e.value") }
        .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
      #expect(limits.count == 1)
      for limit in limits { #expect(limit >= wanted && limit <= wanted * 9 / 8 + 8) }
    }
  }

  @Test func theSizesOfFirstPagesAreFew() {
    var sizes: Set<Int> = []
    for wanted in 1...3000 {
      var size = PageSize(wanted)
      let first = size.next()
      #expect(first >= min(wanted, 2048) && first <= wanted * 9 / 8 + 8)
      sizes.insert(first)
      #expect(size.next() >= first)
    }
    #expect(sizes.count <= 50)
  }

  /// The look that took the news has forgotten the rows.
  @Test func afterNewsTheWayIsReadInTheSameRoundTrip() throws {
    let query = try windows()[0]
    _ = try rows(query)
    let child = try list.child(Key("zz"))
    let namespace = try #require(try store.namespace(named: "chat"))
    try store.write(to: namespace) { transaction in
      let node = Node(.number(JSONNumber(Int64(1))))
      try transaction.carryOut([Assignment(path: child, target: .node(node))], now: 1)
    }
    try session.perform(isWriting: false) { #expect($0.foreignPaths == [child]) }
    trips.forget()
    #expect(try rows(query).last?.key.text == "zz")
    #expect(trips.statements.count == 1)
  }

  @Test func aWrongGuessIsNoWrongResult() throws {
    for (index, query) in try windows().enumerated() {
      _ = try rows(query)
      // The news of this comes with the beginning of the reading.
      try fill("\(index)z")
      let guessed = try rows(query)
      #expect(guessed.allSatisfy { $0.key.text.hasPrefix("\(index)z") })
      #expect(try rows(query, isExpected: false) == guessed)
    }
  }

  /// What a transaction wrote itself is not what was read at its beginning.
  @Test func whatWasReadBeforeAWriteIsNotUsedAfterIt() throws {
    let query = try windows()[0]
    let child = try list.child(Key("zz"))
    _ = try rows(query)
    try session.perform(isWriting: true, expecting: [query, Query(child)]) { transaction in
      let node = Node(.number(JSONNumber(Int64(1))))
      try transaction.carryOut([Assignment(path: child, target: .node(node))], now: 1)
      let shown = try transaction.rows(of: list, in: RowSlice(query), detail: .full)
      #expect(shown.last?.key.text == "zz")
    }
    #expect(try rows(query).last?.key.text == "zz")
  }

  @Test func aTransactionThatOnlyReadIsEnded() throws {
    _ = try rows(try windows()[0])
    _ = try rows(try windows()[0])
    let open = PostgresStatement(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'
      """)
    let end = ContinuousClock.now + .seconds(20)
    while try store.connection.perform([open])[0].integer(0, 0) != 0 {
      try #require(ContinuousClock.now < end)
    }
  }

  // MARK: Posted statements

  private func connection() throws -> PostgresConnection {
    try PostgresConnection(PostgresPlace(place))
  }

  @Test func theAnswersToPostedStatementsAreThoseOfNobody() throws {
    let connection = try connection()
    defer { connection.close() }
    let select = { PostgresStatement("SELECT $1", .integer($0)) }
    try connection.perform([select(0)])
    for number in Int64(1)...20 {
      connection.post([select(-number), select(-number)])
      connection.post([select(-number)])
      let results = try connection.perform([select(number), select(number + 1)])
      #expect(try results.map { try $0.integer(0, 0) } == [number, number + 1])
    }
  }

  @Test func aRefusedPostedStatementIsNotTold() throws {
    let connection = try connection()
    defer { connection.close() }
    let divide = { PostgresStatement("SELECT 1 / $1", .integer($0)) }
    try connection.perform([divide(1)])
    connection.post([divide(0), divide(1)])
    #expect(try connection.perform([divide(1)])[0].integer(0, 0) == 1)
    #expect(connection.isOpen)
    #expect(connection.lastFailure == nil)
  }

  @Test func aStatementThatIsPostedFirstIsDoneToo() throws {
    let connection = try connection()
    defer { connection.close() }
    connection.post([PostgresStatement("CREATE TABLE posted (a int)")])
    #expect(try connection.perform([PostgresStatement("SELECT a FROM posted")])[0].count == 0)
  }
}

/// What was sent through a link.
private final class RoundTrips {
  /// The texts of the statements that were waited for, by round trip.
  private(set) var statements: [[String]] = []
  /// Those that were not waited for.
  private(set) var posted: [[String]] = []

  func note(_ sent: [PostgresStatement]) { statements.append(sent.map(\.text)) }

  func notePosted(_ sent: [PostgresStatement]) { posted.append(sent.map(\.text)) }

  func forget() { (statements, posted) = ([], []) }
}

/// A link whose round trips are counted.
private final class CountedLink: PostgresLink {
  private let link: NetworkLink
  private let trips: RoundTrips

  init(_ link: NetworkLink, _ trips: RoundTrips) { (self.link, self.trips) = (link, trips) }

  var isOpen: Bool { link.isOpen }
  var serverVersion: Int { link.serverVersion }
  var name: String { link.name }
  var warningState: String? { link.warningState }
  var socket: Int32? { link.socket }

  func perform(
    _ statements: [PostgresStatement], within patience: Duration?
  ) throws(PostgresError) -> [PostgresResult] {
    trips.note(statements)
    return try link.perform(statements, within: patience)
  }

  func post(_ statements: [PostgresStatement]) throws(PostgresError) {
    trips.notePosted(statements)
    try link.post(statements)
  }

  func takeNotifications() throws(PostgresError) -> [String] { try link.takeNotifications() }

  func close() { link.close() }
}
