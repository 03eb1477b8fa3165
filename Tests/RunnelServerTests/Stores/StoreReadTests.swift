import PostgresCluster
import RunnelBase
@testable import RunnelPostgres
@testable import RunnelServer
@testable import RunnelSync
import RunnelTree
import Synchronization
import Testing

/// A read of a store asks for many records at once.
///
/// Source: several servers, section 3, "Reading".
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreReadTests {
  private static let rowCount = 5000
  /// The most statements of a read: its pages, and those of the transaction.
  private static let statementsMax = 24 + rowCount / 500

  @Test func aReadOfManyRecordsTakesFewStatements() async throws {
    try await TestServer.onStore {
      let place = PostgresPlace(try #require(TestServer.store))
      let list = try Path("/list")
      try fill(place)
      let lease = StoreLease(address: "")
      try lease.begin(try PostgresConnection(place))
      let tally = StatementTally()
      let storage = StoreStorage(
        try PostgresSession(namespace: "test", lease: lease) {
          let link = try NetworkLink(place, patience: PostgresConnection.Patience())
          return PostgresConnection(TalliedLink(link, tally))
        })
      defer { try? storage.close() }
      try storage.declareIndexes([IndexDefinition("/list", by: "n")])
      func count(_ body: (any ServedTransaction) throws -> Void) throws -> Int {
        tally.count = 0
        try storage.perform(isWriting: false, body)
        return tally.count
      }
      let ordered = try Query(list).ordered(byChild: "n")
      let queries = [
        Query(list), try ordered.limited(to: 2000, from: .last), ordered,
        try Query(list).ordered(by: .key).limited(to: 2000, from: .first),
      ]
      for query in queries {
        for form in [TreeExport.Form.plain, .export, .shallow] {
          var bytes = 0
          let statements = try count { transaction in
            var export = TreeExport(query, form: form)
            while let piece = try export.next(from: transaction) { bytes += piece.count }
          }
          #expect(statements <= StoreReadTests.statementsMax, "\(query) \(form)")
          #expect(bytes > 2000 * 8)
        }
        for hash in ["", String(repeating: "a", count: 28)] {
          let statements = try count { transaction in
            let known = KnownHash(whole: hash)
            guard case .all(let node) = try ListenAnswer(query, known: known, reader: transaction)
            else {
              Issue.record("All is told.")
              return
            }
            #expect(node.children.count >= 2000)
          }
          #expect(statements <= StoreReadTests.statementsMax, "\(query) \(hash)")
        }
      }
    }
  }

  private func fill(_ place: PostgresPlace) throws {
    let store = try PostgresStore(place)
    defer { store.close() }
    let namespace = try #require(try store.namespace(named: "test"))
    let text = String(repeating: "x", count: 80)
    let members = (0..<StoreReadTests.rowCount).map {
      "\"k\(100_000 + $0)\":{\"n\":\($0),\"t\":\"\(text)\"}"
    }
    let document = Array("{\"list\":{\(members.joined(separator: ","))}}".utf8)
    try document.withUnsafeBufferPointer { bytes in
      try store.write(to: namespace) { try $0.importJSON(bytes, at: .root, now: 1) }
    }
  }
}

/// How many statements were sent.
private final class StatementTally {
  var count = 0
}

/// A link whose statements are counted.
private final class TalliedLink: PostgresLink {
  private let link: NetworkLink
  private let tally: StatementTally

  init(_ link: NetworkLink, _ tally: StatementTally) { (self.link, self.tally) = (link, tally) }

  var isOpen: Bool { link.isOpen }
  var serverVersion: Int { link.serverVersion }
  var name: String { link.name }
  var warningState: String? { link.warningState }
  var socket: Int32? { link.socket }

  func perform(
    _ statements: [PostgresStatement], within patience: Duration?
  ) throws(PostgresError) -> [PostgresResult] {
    tally.count += statements.count
    return try link.perform(statements, within: patience)
  }

  func post(_ statements: [PostgresStatement]) throws(PostgresError) {
    try link.post(statements)
  }

  func takeNotifications() throws(PostgresError) -> [String] { try link.takeNotifications() }

  func close() { link.close() }
}
