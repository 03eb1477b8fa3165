import CFaults
import Foundation
import RunnelServer
import TestSupport
import Testing

/// Accounts whose file cannot be written for a while.
@Suite struct AccountOutageTests {
  /// Asks whether the server is ready until it is.
  private func waitUntilReady(_ server: TestServer) throws {
    let client = try server.administrator()
    var status = 0
    for _ in 0..<1_000_000 where status != 200 {
      status = try client.request("GET", "/readyz").status
    }
    #expect(status == 200)
  }

  private func expectOutage(_ server: TestServer) throws {
    #expect(try server.signIn().status == 503)
    let answer = try server.administrator().request("GET", "/readyz")
    #expect(answer.status == 503)
    #expect(answer.body == "accounts cannot be used: see the log.\n")
  }

  @Test func serverIsNotReadyWhileTheAccountsFileIsAway() async throws {
    try await withAccounts { server in
      #expect(try server.signUp().status == 200)
      #expect(try server.administrator().request("GET", "/readyz").status == 200)
      let file = server.accountsFile
      try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
      try expectOutage(server)
      try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
      try waitUntilReady(server)
      #expect(try server.signIn().status == 200)
    }
  }

  @Test func serverIsNotReadyWhileTheDiskTakesNoAccounts() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/runnel-disk-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(faults_install() == 0)
    let disk = faults_watch(folder + "/accounts.db")
    try #require(disk >= 0)
    defer { faults_unwatch(disk) }
    let server = try await TestServer(in: folder) { $0.addAccounts() }
    #expect(try server.signUp().status == 200)
    faults_arm(disk, 1, FAULTS_FULL, 1)
    try expectOutage(server)
    faults_disarm(disk)
    try waitUntilReady(server)
    #expect(try server.signIn().status == 200)
    await server.stop()
  }
}
