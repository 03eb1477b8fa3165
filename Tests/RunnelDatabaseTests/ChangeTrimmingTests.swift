import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Which rows of the feed stay, for its own sake and for the history's.
@Suite struct ChangeTrimmingTests {
  /// A row, as far as it matters here.
  private struct Change: Equatable {
    var sequence: Int64
    var isEntry: Bool
  }

  private let folder: TemporaryFolder
  private let store: SQLiteStore

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(file: folder.file(), isReadOnly: false, busyTimeout: .seconds(5))
  }

  /// What stays, by looking at each row.
  private func kept(_ changes: [Change], limit: Int, newest: Int64) -> [Change] {
    let shown = Set(changes.filter(\.isEntry).map(\.sequence).sorted().suffix(limit))
    return changes.compactMap { change in
      let isShown = shown.contains(change.sequence)
      guard isShown || change.sequence > newest - Int64(Schema.feedCountMin) else { return nil }
      return Change(sequence: change.sequence, isEntry: isShown)
    }
  }

  private func stored(_ transaction: StoreTransaction) throws -> [Change] {
    var changes: [Change] = []
    let statement = try transaction.statement(
      "SELECT sequence, parts IS NOT NULL FROM change ORDER BY sequence")
    try statement.forEach([]) { row in
      let isEntry = try row.integer(1, "entry") == 1
      changes.append(Change(sequence: try row.integer(0, "sequence") ?? 0, isEntry: isEntry))
      return true
    }
    return changes
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func aRowStaysAsLongAsTheFeedOrTheHistoryWantsIt(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var changes: [Change] = []
    for _ in 0..<Int.random(in: 1...60, using: &random) {
      let step = Int64.random(in: 1...80, using: &random)
      changes.append(
        Change(sequence: (changes.last?.sequence ?? 0) + step, isEntry: .random(using: &random)))
    }
    let limit = [0, 1, 5, 20, 1000, .max].randomElement(using: &random) ?? 0
    let newest = changes.last?.sequence ?? 0
    try store.write { transaction in
      for change in changes {
        let history = change.isEntry ? #"1, 'a', NULL, '[{"path":"/"}]'"# : "NULL, NULL, NULL, NULL"
        try transaction.db.execute(
          sql: """
            INSERT INTO change (sequence, paths, at, author, undoes, parts)
            VALUES (\(change.sequence), '["/"]', \(history))
            """)
      }
      try transaction.setHistoryLimit(limit)
      let wanted = kept(changes, limit: limit, newest: newest)
      #expect(try stored(transaction) == wanted, "seed \(seed), limit \(limit)")
      let shown = try transaction.history(of: .root, before: nil, count: .max).map(\.id)
      #expect(shown == wanted.filter(\.isEntry).map(\.sequence).reversed(), "seed \(seed)")
    }
    #expect(try DatabaseCare.check(file: folder.file()).faults == [], "seed \(seed)")
  }

  @Test func repairingTheFeedLeavesTheHistory() throws {
    let session = try folder.session()
    for number in 1...3 { try session.set("/a", "\(number)") }
    try FileEditor.execute("UPDATE change SET paths = 'x' WHERE sequence = 2", in: folder.file())
    let repair = try DatabaseCare.repair(file: folder.file())
    #expect(repair.after?.faults == [])
    #expect(try session.history().map(\.id) == [3, 2, 1])
    _ = try session.undo(3)
    #expect(try session.history().map(\.id) == [6, 3, 2, 1])
    #expect(try DatabaseCare.check(file: folder.file()).isSound)
  }
}
