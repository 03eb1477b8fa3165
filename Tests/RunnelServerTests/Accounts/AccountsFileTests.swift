import Foundation
@testable import RunnelServer
import TestSupport
import Testing

/// Which files take accounts.
@Suite struct AccountsFileTests {
  @Test func emptyDatabaseThatIsServedTakesNoAccounts() async throws {
    try await withServer { server in
      let error = #expect(throws: ServerError.self) {
        try AccountAdministration(file: server.file)
      }
      #expect(error?.message.contains("is served") == true)
      let file = server.file
      await #expect(throws: ServerError.self) {
        try await withServer({
          $0.addAccounts()
          $0.accounts?.file = file
        }) { _ in }
      }
      let answer = try server.request("GET", "/.json?ns=test")
      #expect(answer.body == "null")
    }
  }

  @Test func emptyDatabaseTakesAccountsWhenItsServerHasEnded() async throws {
    let server = try await TestServer()
    await server.stop()
    let accounts = try AccountAdministration(file: server.file)
    _ = try accounts.add(
      email: "ada@x.org", password: nil, id: nil, displayName: nil, isVerified: false, claims: nil)
    try accounts.close()
    await #expect(throws: ServerError.self) {
      let again = try await TestServer(in: server.folder)
      await again.stop()
    }
    withExtendedLifetime(server) {}
  }

  @Test func wipedAccountsFileStaysUsable() async throws {
    let first = try await TestServer {
      $0.isEmulator = true
      $0.addAccounts()
    }
    #expect(try first.signUp().status == 200)
    #expect(try first.api("DELETE", "/emulator/v1/projects/demo/accounts").status == 200)
    #expect(try first.signIn().status == 400)
    #expect(try first.signUp().status == 200)
    #expect(try first.api("DELETE", "/emulator/v1/projects/demo/accounts").status == 200)
    await first.stop()
    let second = try await TestServer(in: first.folder) {
      $0.isEmulator = true
      $0.addAccounts()
    }
    #expect(try second.signUp().status == 200)
    #expect(try second.signIn().status == 200)
    await second.stop()
    withExtendedLifetime(first) {}
  }
}
