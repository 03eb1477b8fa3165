import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// What the others are told of this workspace lasts no longer than the connection.
@Suite(.timeLimit(.minutes(2))) struct PresenceWorkTests {
  private let file: String
  private let database: Database
  private let work: PresenceWork

  init() async throws {
    let folder = NSTemporaryDirectory() + "runnel-presence-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    file = folder + "/replica.db"
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    database = try await Database.open(file: file)
    work = PresenceWork(database, at: try Path("here")) {}
  }

  private func pending() async throws -> Int {
    try await database.answer { $0.pendingWrites.count }
  }

  /// Shows where the user is over a connection that does not answer.
  private func showWithoutAnswer() async throws {
    work.show(Present(id: work.id, name: "ana", isTyping: true), isShared: false)
    database.connectOrigin()
    try await yieldUntil { try await pending() == 1 }
  }

  private func pendingInFile() throws -> Int {
    try DatabaseSession(file: file, isReadOnly: true, environment: .system).pendingWrites.count
  }

  @Test func anEntryThatWasNotConfirmedEndsWithTheProgram() async throws {
    try await showWithoutAnswer()
    work.end()
    database.close()
    #expect(try pendingInFile() == 0)
  }

  @Test func anEntryThatWasNotConfirmedEndsWithTheConnectionAndIsWrittenAgain() async throws {
    try await showWithoutAnswer()
    database.disconnectOrigin()
    try await yieldUntil { try await pending() == 0 }
    #expect(try pendingInFile() == 0)
    #expect(work.news().problem == nil)
    database.connectOrigin()
    work.show(Present(id: work.id, name: "ana"), isShared: false)
    try await yieldUntil { try await pending() == 1 }
    work.end()
    database.close()
  }
}
