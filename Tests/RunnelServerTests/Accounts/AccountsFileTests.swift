import Foundation
import RunnelBase
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

  @Test func importThatReplacesAnAccountEndsItsSessionsAtARunningServer() async throws {
    try await withAccounts(rules: #"{"rules":{".read":"auth != null"}}"#) { server in
      let user = try server.signUp()
      let place = "/x.json?auth=\(user.text("idToken"))"
      #expect(try server.request("GET", place).status == 200)
      let accounts = try AccountAdministration(file: server.accountsFile)
      let users: [JSONValue] = [
        [
          "localId": .string(user.text("localId")), "email": "ada@x.org",
          "rawPassword": "another-1",
        ]
      ]
      let failures = try accounts.importUsers(users, function: .object([]), replaces: true) { _ in
        true
      }
      #expect(failures.isEmpty)
      try accounts.close()
      // The server notices the write a moment later.
      var status = 200
      for _ in 0..<1_000_000 where status == 200 {
        status = try server.request("GET", place).status
      }
      #expect(status == 401)
      let refresh = #"{"grantType":"refresh_token","refreshToken":"\#(user.text("refreshToken"))"}"#
      let refused = try server.api("POST", "/securetoken.googleapis.com/v1/token?key=k", refresh)
      #expect(refused.error == "INVALID_REFRESH_TOKEN")
      #expect(try server.signIn().error == "INVALID_LOGIN_CREDENTIALS")
      #expect(try server.signIn("ada@x.org", "another-1").status == 200)
      #expect(try server.mails().isEmpty, "nobody is told")
    }
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
