import RunnelBase
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// Commands of a replica whose connection ends, and is made again, while it is used.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct RenewedConnectionTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let sent = SentCommands()
  private let increment: Write

  init() async throws {
    folder = try TemporaryFolder()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    increment = .set(try Path("count"), [".sv": ["increment": 1]])
    database = try await Database.open(file: folder.file())
    await database.sendCommands { [sent] in sent.add($0) }
    database.connectOrigin()
  }

  /// Waits until everything that was reported before is handled.
  private func settle() async throws { _ = try await database.pendingWrites() }

  @Test func aWriteMadeBeforeTheNewConnectionIsHandledIsSentOnce() async throws {
    try await database.reportEnd(isRenewed: true, thenPerform: increment)
    try await settle()
    #expect(sent.all == [.write(id: 0, increment)])
  }

  @Test func aWriteMadeBeforeTheEndIsHandledWaitsForTheNextConnection() async throws {
    try await database.reportEnd(isRenewed: false, thenPerform: increment)
    try await settle()
    #expect(sent.all == [])
    database.connectOrigin()
    try await settle()
    #expect(sent.all == [.write(id: 0, increment)])
  }

  @Test func severalEndsReportedAtOnceKeepNothingBackForEver() async throws {
    for _ in 0..<3 { try await database.reportEnd(isRenewed: true, thenPerform: increment) }
    try await settle()
    _ = try await database.perform(increment)
    #expect(sent.all.last == .write(id: 3, increment))
  }
}

extension Database {
  /// Reports the end of the connection, and maybe a new one, and writes before the tree's thread handles
  /// the reports.
  fileprivate func reportEnd(isRenewed: Bool, thenPerform write: Write) async throws {
    disconnectOrigin()
    if isRenewed { connectOrigin() }
    _ = try await perform(write)
  }
}
