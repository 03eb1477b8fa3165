import Foundation
import RunnelBase
import Synchronization
import TestSupport
import Testing

@testable import RunnelServer

/// A server that ends answers the requests to its accounts.
@Suite struct OwedRepliesTests {
  private static let path = "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k"

  private func send(signUp index: Int, _ client: RawClient) throws {
    try client.sendRequest(
      "POST", OwedRepliesTests.path, #"{"email":"u\#(index)@x.org","password":"secret123"}"#)
  }

  private func count(of accounts: AccountAdministration) throws -> Int {
    var count = 0
    try accounts.forEach(hasHashes: false) { _ in count += 1 }
    return count
  }

  /// Once, the connections were closed without an answer, and some of the accounts were made.
  @Test func whatWasTakenIsAnsweredBeforeTheConnectionsEnd() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder) {
      $0.addAccounts()
      $0.stopDuration = .seconds(60)
    }
    let clients = try (0..<8).map { _ in try server.client() }
    disk.hold()
    for (index, client) in clients.enumerated() { try send(signUp: index, client) }
    while disk.syncCount == 0 { await Task.yield() }
    let administrator = try server.administrator()
    let running = server.server
    async let stopped: Void = running.stop()
    var ready = ""
    for _ in 0..<1_000_000 where !ready.contains("ends") {
      ready = try administrator.request("GET", "/readyz").body
      await Task.yield()
    }
    disk.release()
    for client in clients { #expect(try client.readAnswer(to: "POST").status == 200) }
    await stopped
    let accounts = try AccountAdministration(file: server.accountsFile)
    #expect(try count(of: accounts) == 8)
    try accounts.close()
  }

  @Test func whatCannotBeDoneInTimeIsToldSo() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder) {
      $0.addAccounts()
      $0.stopDuration = .seconds(1)
    }
    let clients = try (0..<4).map { _ in try server.client() }
    disk.hold()
    for (index, client) in clients.enumerated() { try send(signUp: index, client) }
    while disk.syncCount == 0 { await Task.yield() }
    let running = server.server
    async let stopped: Void = running.stop()
    for client in clients {
      let answer = try client.readAnswer(to: "POST")
      #expect(answer.status == 503)
      #expect(answer.headers["retry-after"] == "1")
    }
    disk.release()
    await stopped
    let accounts = try AccountAdministration(file: server.accountsFile)
    // Only the one that was being written may be there.
    #expect(try count(of: accounts) <= 1)
    try accounts.close()
  }

  @Test func eachRequestIsAnsweredOnce() throws {
    let replies = OwedReplies(countMax: 2)
    let told = Mutex<[String]>([])
    let note = { @Sendable (text: String) in told.withLock { $0.append(text) } }
    guard case .taken(let first) = replies.begin(giveUp: { note("given up 1") }),
      case .taken(let second) = replies.begin(giveUp: { note("given up 2") })
    else {
      Issue.record("There was room.")
      return
    }
    #expect(replies.begin(giveUp: { note("given up 3") }) == .isFull)
    replies.answer(first) { note("answered 1") }
    replies.answer(first) { note("answered 1 again") }
    #expect(replies.count == 1)
    #expect(replies.isOwed(second))
    replies.end()
    replies.answer(second) { note("answered 2") }
    #expect(!replies.isOwed(second))
    #expect(replies.count == 0)
    #expect(replies.begin(giveUp: { note("given up 4") }) == .hasEnded)
    #expect(told.withLock(\.self) == ["answered 1", "given up 2"])
  }

  /// The count says that all is handed on.
  @Test func anAnswerCountsUntilItIsHandedOn() throws {
    let replies = OwedReplies(countMax: 1)
    guard case .taken(let number) = replies.begin(giveUp: {}) else {
      Issue.record("There was room.")
      return
    }
    var count = 0
    replies.answer(number) { count = replies.count }
    #expect(count == 1)
    #expect(replies.count == 0)
  }
}
