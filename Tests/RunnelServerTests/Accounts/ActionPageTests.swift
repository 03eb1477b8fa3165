import RunnelBase
@testable import RunnelServer
import TestSupport
import Testing

/// The page on which mailed links lead.
@Suite struct ActionPageTests {
  private func reset(_ server: TestServer) async throws -> String {
    _ = try server.signUp()
    _ = try server.accounts(
      "sendOobCode", #"{"requestType":"PASSWORD_RESET","email":"ada@x.org"}"#)
    return server.code(in: try await server.mails(count: 1)[0])
  }

  @Test func aPasswordIsChosenOnThePage() async throws {
    try await withAccounts { server in
      let code = try await reset(server)
      let path = "/.accounts/action?mode=resetPassword&oobCode=\(code)"
      let page = try server.request("GET", path)
      #expect(page.status == 200)
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["referrer-policy"] == "no-referrer")
      #expect(page.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
      #expect(page.body.contains("name=newPassword"))
      #expect(page.body.contains("Address: <b>ada@x.org</b>"))
      let guess = try server.request("GET", "/.accounts/action?mode=resetPassword&oobCode=guess")
      #expect(guess.status == 400 && !guess.body.contains("newPassword"))
      #expect(guess.body.contains("is not valid: ask for a new one"))
      let other = try server.request("GET", "/.accounts/action?mode=verifyEmail&oobCode=\(code)")
      #expect(other.status == 400, "the code is for something else")
      // Reading uses no code.
      #expect(try server.signIn().status == 200)
      func post(_ password: String) throws -> RawClient.Answer {
        try server.request(
          "POST", path, "mode=resetPassword&oobCode=\(code)&newPassword=\(password)",
          headers: ["Content-Type": "application/x-www-form-urlencoded"])
      }
      let weak = try post("short")
      #expect(weak.status == 400)
      #expect(weak.body.contains("Password should be at least 8 characters."))
      #expect(weak.body.contains("name=newPassword") && weak.body.contains("<b>ada@x.org</b>"))
      #expect(try post("").status == 400)
      let done = try post("new+secret%2B1")
      #expect(done.status == 200)
      #expect(done.body.contains("Your password was changed."))
      #expect(try server.signIn("ada@x.org", "new secret+1").status == 200)
      #expect(try post("another-one").body.contains("This link was used before"))
    }
  }

  /// Programs that check mails ask for the head of a page.
  @Test func theHeadOfThePageIsThatOfItsAnswerAndUsesNoCode() async throws {
    try await withAccounts { server in
      let code = try await reset(server)
      let path = "/.accounts/action?mode=resetPassword&oobCode=\(code)"
      let client = try server.client()
      let head = try client.request("HEAD", path)
      // A body would be read as the head of this answer.
      let page = try client.request("GET", path)
      #expect(head.status == 200 && page.status == 200)
      for name in ["content-length", "content-type", "referrer-policy", "cache-control"] {
        #expect(head.headers[name] != nil && head.headers[name] == page.headers[name])
      }
      let guess = "/.accounts/action?mode=resetPassword&oobCode=guess"
      #expect(try client.request("HEAD", guess).status == 400)
      let done = try server.request(
        "POST", path, "mode=resetPassword&oobCode=\(code)&newPassword=another-secret",
        headers: ["Content-Type": "application/x-www-form-urlencoded"])
      #expect(done.status == 200, "the code was not used")
    }
  }

  @Test(arguments: ["PUT", "DELETE", "PATCH"])
  func otherMethodsAreToldWhichOnesThereAre(method: String) async throws {
    try await withAccounts { server in
      let answer = try server.request(method, "/.accounts/action?mode=resetPassword&oobCode=x")
      #expect(answer.status == 405)
      #expect(answer.headers["allow"] == "GET, HEAD, POST")
    }
  }

  @Test func thePageSaysThatTheAddressBelongsToANewAccount() async throws {
    try await withAccounts { server in
      let token = try server.signUp().text("idToken")
      _ = try server.accounts(
        "sendOobCode", #"{"requestType":"VERIFY_EMAIL","idToken":"\#(token)"}"#)
      let proof = server.code(in: try await server.mails(count: 1)[0])
      _ = try server.accounts("update", #"{"oobCode":"\#(proof)"}"#)
      _ = try server.accounts("update", #"{"idToken":"\#(token)","email":"new@x.org"}"#)
      _ = try server.accounts(
        "sendOobCode", #"{"requestType":"PASSWORD_RESET","email":"new@x.org"}"#)
      let mails = try await server.mails(count: 3)
      let mail = try #require(mails.first { $0.contains("Subject: Reset your password") })
      let done = try server.request(
        "POST", "/.accounts/action",
        "mode=resetPassword&oobCode=\(server.code(in: mail))&newPassword=another-secret",
        headers: ["Content-Type": "application/x-www-form-urlencoded"])
      #expect(done.status == 200 && done.body.contains("belongs to a new account now"))
      #expect(!done.body.contains("Your password was changed"))
    }
  }

  /// Once, the page said to choose a new password, and offered no way.
  @Test(arguments: ["", "another-secret"]) func aChangeOfAddressIsTakenBackWithANewPassword(
    password: String
  ) async throws {
    try await withAccounts { server in
      let token = try server.signUp().text("idToken")
      _ = try server.accounts(
        "sendOobCode", #"{"requestType":"VERIFY_EMAIL","idToken":"\#(token)"}"#)
      let proof = server.code(in: try await server.mails(count: 1)[0])
      _ = try server.accounts("update", #"{"oobCode":"\#(proof)"}"#)
      _ = try server.accounts("update", #"{"idToken":"\#(token)","email":"evil@x.org"}"#)
      let mails = try await server.mails(count: 2)
      let mail = try #require(mails.first { $0.contains("Subject: Your address was changed") })
      let fields = "mode=recoverEmail&oobCode=\(server.code(in: mail))"
      let page = try server.request("GET", "/.accounts/action?\(fields)")
      #expect(page.status == 200 && page.body.contains("name=newPassword"))
      #expect(!page.body.contains("required"))
      func post(_ password: String) throws -> RawClient.Answer {
        try server.request(
          "POST", "/.accounts/action", "\(fields)&newPassword=\(password)",
          headers: ["Content-Type": "application/x-www-form-urlencoded"])
      }
      let weak = try post("short")
      #expect(weak.status == 400 && weak.body.contains("name=newPassword"))
      let done = try post(password)
      #expect(done.status == 200 && done.body.contains("Your old address is back"))
      #expect(done.body.contains("does not count any more") == password.isEmpty)
      #expect(try server.signIn().status == 400)
      if !password.isEmpty { #expect(try server.signIn("ada@x.org", password).status == 200) }
    }
  }

  @Test func anAddressIsVerifiedByAClick() async throws {
    try await withAccounts { server in
      let token = try server.signUp().text("idToken")
      _ = try server.accounts(
        "sendOobCode",
        #"{"requestType":"VERIFY_EMAIL","idToken":"\#(token)","continueUrl":"https://id.example/a?b=1&c=2"}"#
      )
      let mail = try await server.mails(count: 1)[0]
      let code = server.code(in: mail)
      let page = try server.request(
        "GET",
        "/.accounts/action?mode=verifyEmail&oobCode=\(code)&continueUrl=https%3A%2F%2Fid.example%2Fa%3Fb%3D1%26c%3D2"
      )
      #expect(page.body.contains("value=\"https://id.example/a?b=1&amp;c=2\""))
      let done = try server.request(
        "POST", "/.accounts/action",
        "mode=verifyEmail&oobCode=\(code)&continueUrl=https%3A%2F%2Fid.example%2Fa%3Fb%3D1%26c%3D2")
      #expect(done.body.contains("<a href=\"https://id.example/a?b=1&amp;c=2\">"))
      let found = try server.accounts("lookup", #"{"idToken":"\#(token)"}"#)
      #expect(found.body["users"]?[0]?["emailVerified"] == true)
    }
  }

  @Test(arguments: [
    "mode=verifyEmail&oobCode=%22%3E%3Cscript%3E",
    "mode=verifyEmail&oobCode=x&continueUrl=javascript:alert(1)",
    "mode=verifyEmail&oobCode=x&continueUrl=https%3A%2F%2Fevil.example%2F",
  ])
  func aPageRepeatsNothingUnescaped(query: String) async throws {
    try await withAccounts { server in
      let page = try server.request("GET", "/.accounts/action?" + query)
      #expect(!page.body.contains("<script"))
      #expect(!page.body.contains("<a href"))
      let used = try server.request("POST", "/.accounts/action", query)
      #expect(used.status == 400)
      #expect(!used.body.contains("<a href"))
    }
  }

  @Test(arguments: ["", "?mode=other&oobCode=x", "?mode=verifyEmail"])
  func anIncompleteLinkIsExplained(query: String) async throws {
    try await withAccounts { server in
      let page = try server.request("GET", "/.accounts/action" + query)
      #expect(page.status == 400)
      #expect(page.body.contains("This link is not complete."))
      #expect(try server.request("PUT", "/.accounts/action", "x").status == 405)
    }
  }
}
