import RunnelDatabase
import RunnelTree

/// A database file, as a server uses it.
final class FileStorage: ServedStorage {
  private let session: ServingSession

  init(_ session: ServingSession) { self.session = session }

  func perform<Result>(
    isWriting: Bool, expecting expected: [Query], _ body: (any ServedTransaction) throws -> Result
  ) throws -> Result {
    try session.perform(isWriting: isWriting) { try body($0) }
  }

  func declareIndexes(_ definitions: [IndexDefinition]) throws {
    try session.declareIndexes(definitions)
  }

  func hasNews(checksFiles: Bool) throws -> Bool { try session.hasNews(checksFiles: checksFiles) }

  func announce() { session.announce() }

  var head: Int64? { nil }

  func isWorthRetrying(_ error: any Error) -> Bool { false }

  func isWritten(_ error: any Error) -> Bool { (error as? DatabaseError)?.isWritten ?? false }

  func leavesDoubt(_ error: any Error) -> Bool { (error as? DatabaseError)?.mayBeWritten ?? false }

  func isFrozen(_ error: any Error) -> Bool { false }

  func isMoved(_ error: any Error) -> Bool { false }

  func diskTrouble(_ error: any Error) -> DiskTrouble? {
    switch (error as? DatabaseError)?.code {
    case .diskFull, .readOnly, .cannotOpen: session.loss == nil ? .passing : .lasting
    case .storage: .lasting
    default: nil
    }
  }

  func hasNoSpace(_ error: any Error) -> Bool { (error as? DatabaseError)?.code == .diskFull }

  func takeAlarms() -> [String] { [] }

  func takeDoubtCount() -> Int { 0 }

  var loss: DatabaseError? { session.loss }

  var mayReturn: Bool { session.mayReturn }

  func regain() -> Bool { session.regain() }

  func close() throws { try session.close() }
}

/// A snapshot of a database file.
final class FileSnapshot: ServedSnapshot {
  private let snapshot: ServingSnapshot

  init(_ snapshot: ServingSnapshot) { self.snapshot = snapshot }

  var head: Int64? { nil }

  func read<Result>(_ body: (any ServedTransaction) throws -> Result) throws -> Result {
    try snapshot.read { try body($0) }
  }

  func close() throws { try snapshot.close() }
}

extension ServingTransaction: ServedTransaction {
  private static let disconnectPrefix = "disconnect."

  var hasForeignSettings: Bool { false }

  var earliestTime: Int64 { .min }

  func prefetch(_ paths: [Path]) throws {}

  func keptValue(_ name: String) throws -> String? {
    try keptValues(name).first { $0.name == name }?.value
  }

  var leaseName: String { "" }

  func keepsDisconnect(of connection: Int64) throws -> Bool { true }

  func keepDisconnect(_ text: String?, of connection: Int64) throws {
    try keep(text, ServingTransaction.disconnectPrefix + String(connection))
  }

  func takeLeftDisconnects() throws -> [String] {
    let left = try keptValues(ServingTransaction.disconnectPrefix)
    for (name, _) in left { try keep(nil, name) }
    return left.map(\.value)
  }

  func rulesText() throws -> String? { nil }

  func writeRules(_ text: String, now: Int64) throws {
    throw DatabaseError(.refused, "The rules of a file stand beside it.")
  }
}
