import AccountSimulation
import Foundation
import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelStore
import Synchronization
import Testing

@testable import RunnelAccounts

/// The bytes of the questions, and hostile answers.
@Suite struct AccountWireTests {
  @Test func theQuestionsAreThoseOfTheInterface() {
    let token = Secret("T")
    let cases: [(AccountCall, String?, String)] = [
      (
        .signUp(email: "a@x", password: Secret("p")), "signUp",
        #"{"email":"a@x","password":"p","returnSecureToken":true}"#
      ),
      (.signUpAnonymously, "signUp", #"{"returnSecureToken":true}"#),
      (
        .signIn(email: "a@x", password: Secret("p\"")), "signInWithPassword",
        #"{"email":"a@x","password":"p\"","returnSecureToken":true}"#
      ),
      (
        .signInWithToken(Secret("c")), "signInWithCustomToken",
        #"{"token":"c","returnSecureToken":true}"#
      ),
      (
        .link(idToken: token, email: "a@x", password: Secret("p")), "signUp",
        #"{"idToken":"T","email":"a@x","password":"p","returnSecureToken":true}"#
      ),
      (
        .refresh(refreshToken: Secret("r/+=&")), nil,
        "grant_type=refresh_token&refresh_token=r%2F%2B%3D%26"
      ),
      (.lookUp(idToken: token), "lookup", #"{"idToken":"T"}"#),
      (
        .setPassword(idToken: token, Secret("p")), "update",
        #"{"idToken":"T","password":"p","returnSecureToken":true}"#
      ),
      (
        .setEmail(idToken: token, "b@x"), "update",
        #"{"idToken":"T","email":"b@x","returnSecureToken":true}"#
      ),
      (
        .setProfile(idToken: token, AccountProfile(displayName: "A", photoURL: "")), "update",
        #"{"idToken":"T","displayName":"A","deleteAttribute":["PHOTO_URL"]}"#
      ),
      (
        .sendVerification(idToken: token), "sendOobCode",
        #"{"requestType":"VERIFY_EMAIL","idToken":"T"}"#
      ),
      (
        .sendEmailChange(idToken: token, "b@x"), "sendOobCode",
        #"{"requestType":"VERIFY_AND_CHANGE_EMAIL","idToken":"T","newEmail":"b@x"}"#
      ),
      (
        .sendPasswordReset(email: "a@x"), "sendOobCode",
        #"{"requestType":"PASSWORD_RESET","email":"a@x"}"#
      ),
      (.checkCode(Secret("c")), "resetPassword", #"{"oobCode":"c"}"#),
      (
        .resetPassword(code: Secret("c"), Secret("p")), "resetPassword",
        #"{"oobCode":"c","newPassword":"p"}"#
      ),
      (.applyCode(Secret("c")), "update", #"{"oobCode":"c"}"#),
      (
        .applyCode(Secret("c"), idToken: token), "update",
        #"{"oobCode":"c","idToken":"T","returnSecureToken":true}"#
      ),
      (.applyCode(Secret(" c&apiKey=fake-api-key\n")), "update", #"{"oobCode":"c"}"#),
      (
        .checkCode(Secret("https://x.example/a?mode=m&lang=en&oobCode=c_1-d&apiKey=k")),
        "resetPassword", #"{"oobCode":"c_1-d"}"#
      ),
      (.delete(idToken: token), "delete", #"{"idToken":"T"}"#),
    ]
    for (call, operation, body) in cases {
      let question = AccountWire.question(call)
      #expect(question.operation == operation)
      #expect(String(decoding: question.body.reveal(), as: UTF8.self) == body)
    }
  }

  private func failure(
    _ status: Int, _ body: String, _ call: AccountCall = .signUpAnonymously
  ) -> AccountFailure? {
    switch AccountWire.reply(to: call, status: status, body: Array(body.utf8), service: "it") {
    case .success: nil
    case .failure(let failure): failure
    }
  }

  @Test func errorsOfAServerSayNothingAboutACredential() {
    let body = #"{"error":{"code":500,"message":"USER_DISABLED"}}"#
    for status in [500, 502, 503, 504, 429, 302, 204] {
      let failure = failure(status, body, .refresh(refreshToken: Secret("r")))
      #expect(failure?.serviceCode == nil && failure?.isTemporary == true, "\(status)")
      #expect(failure?.endsRefresh == false)
    }
    #expect(failure(400, body, .refresh(refreshToken: Secret("r")))?.endsRefresh == true)
  }

  @Test func theWordsOfTheServiceBecomeTheCodesOfItsClients() {
    let cases = [
      ("EMAIL_EXISTS", "email-already-in-use"), ("INVALID_PASSWORD", "wrong-password"),
      ("EMAIL_NOT_FOUND", "user-not-found"), ("INVALID_LOGIN_CREDENTIALS", "invalid-credential"),
      ("WEAK_PASSWORD : Password should be at least 6 characters", "weak-password"),
      ("TOO_MANY_ATTEMPTS_TRY_LATER : Wait.", "too-many-requests"),
      ("RESET_PASSWORD_EXCEED_LIMIT", "too-many-requests"),
      ("TOKEN_EXPIRED", "user-token-expired"), ("USER_NOT_FOUND", "user-token-expired"),
      ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "requires-recent-login"),
      ("PASSWORD_LOGIN_DISABLED", "operation-not-allowed"),
      ("OPERATION_NOT_ALLOWED", "operation-not-allowed"),
      ("ADMIN_ONLY_OPERATION", "admin-restricted-operation"),
      ("INVALID_OOB_CODE", "invalid-action-code"), ("EXPIRED_OOB_CODE", "expired-action-code"),
      ("SOMETHING_NEW", "something-new"), ("MISSING_RECAPTCHA_TOKEN", "missing-recaptcha-token"),
    ]
    for (word, code) in cases {
      let body = "{\"error\":{\"code\":400,\"message\":\"\(word)\"}}"
      #expect(failure(400, body)?.code.rawValue == code, "\(word)")
    }
    for word in ["PASSWORD_LOGIN_DISABLED", "OPERATION_NOT_ALLOWED", "ADMIN_ONLY_OPERATION"] {
      let body = "{\"error\":{\"code\":400,\"message\":\"\(word)\"}}"
      // What is off is said.
      #expect(failure(400, body)?.message.contains(" off") == true, "\(word)")
    }
    let explained = failure(
      400, #"{"error":{"code":400,"message":"OPERATION_NOT_ALLOWED : Verify it first."}}"#)
    #expect(explained?.message == "The service does not allow this. Verify it first.")
    let denied = failure(
      403,
      #"{"error":{"code":403,"message":"The request is missing a key.","status":"PERMISSION_DENIED"}}"#
    )
    #expect(denied?.code.rawValue == "permission-denied" && denied?.serviceCode == nil)
    #expect(failure(404, "<html>")?.message == "it has no accounts.")
  }

  @Test func whoHasToWaitIsToldHowLong() {
    func message(_ text: String) -> String? {
      failure(400, "{\"error\":{\"code\":400,\"message\":\"\(text)\"}}")?.message
    }
    #expect(
      message("TOO_MANY_ATTEMPTS_TRY_LATER : Too many attempts: try again in 32 seconds")
        == "Too many attempts: try again in 32 seconds.")
    #expect(
      message("TOO_MANY_ATTEMPTS_TRY_LATER : Too many attempts: try again later")
        == "Too many attempts: try again later.")
    #expect(
      message("TOO_MANY_ATTEMPTS_TRY_LATER") == "Too many attempts: try again later.")
    // Another service has words of its own.
    #expect(
      message("TOO_MANY_ATTEMPTS_TRY_LATER : Reset the password.")
        == "Too many attempts: try again later. Reset the password.")
  }

  @Test(arguments: [
    "", "null", "[]", "3", "{", "{\"idToken\":5}", "{\"idToken\":\"a\",\"refreshToken\":null}",
    "{\"users\":[]}", "{\"users\":{}}", "{\"users\":[{\"localId\":\"\"}]}",
  ])
  func hostileAnswersAreFailuresAndChangeNothing(text: String) async {
    let transport: IdentityToolkit.Transport = {
      (_: WebRequest) async throws(NetworkError) in (200, Array(text.utf8))
    }
    let test = await TestSession { _ in IdentityToolkit.server("https://x.test", transport) }
    await #expect(throws: LogInError.self) { try await test.signIn() }
    #expect(await test.session.state == .signedOut)
  }

  @Test func passwordsAreNotSentWithoutTLS() async {
    let service = FakeAccounts { 0 }
    let far = IdentityToolkit.server("http://chat.example.com", service.transport)
    let error = await #expect(throws: AccountFailure.self) {
      try await far.perform(.signUpAnonymously)
    }
    #expect(error?.code == .insecure)
    #expect(service.takeAsked().isEmpty)
    #expect(IdentityToolkit.named("nonsense", service.transport)?.name == nil)
    for provider in [
      IdentityToolkit.server("http://localhost:9000/", service.transport),
      IdentityToolkit.emulator("http://emulator:9099", service.transport),
      IdentityToolkit.production(key: "AIza", service.transport),
    ] {
      for named in [provider, IdentityToolkit.named(provider.name, service.transport)] {
        #expect(named?.name == provider.name)
        _ = try? await named?.perform(.signUpAnonymously)
        #expect(service.takeAsked() == ["signUp"])
      }
    }
  }

  /// The states in which operations are tried.
  enum Beginning: String, CaseIterable {
    case signedOut, signedIn, anonymous, tokenExpired, ended, disabled, offline
  }

  private func provider(_ name: String, _ service: FakeAccounts) -> IdentityToolkit {
    let transport: IdentityToolkit.Transport = {
      (request: WebRequest) async throws(NetworkError) in
      // The official service has a host for each interface, and no prefix in the path.
      if name == "production" {
        let host =
          request.address.target.hasPrefix("/v1/token")
          ? "securetoken.googleapis.com" : "identitytoolkit.googleapis.com"
        #expect(request.address.isSecure && request.address.host == host)
      }
      return try await service.transport(request)
    }
    return switch name {
    case "server": .server("https://chat.test", transport)
    case "emulator": .emulator("http://emulator:9099", transport)
    default: .production(key: "AIzaKey", transport)
    }
  }

  private static let operations: [(name: String, operation: AccountOperation)] = [
    ("signUp", .signUp(email: "new@x.org", password: Secret("secret-new"))),
    ("signIn", .signIn(email: "bo@x.org", password: Secret("secret-bo"))),
    ("anonymous", .signInAnonymously), ("token", .signInWithToken(Secret("{\"uid\":\"dee\"}"))),
    ("upgrade", .upgrade(email: "up@x.org", password: Secret("secret-up"))),
    ("reauthenticate", .reauthenticate(password: Secret("secret-ana"))),
    ("changePassword", .changePassword(Secret("other-1"), current: nil)),
    ("changeEmail", .changeEmail("ana9@x.org", current: nil)),
    ("verifyAndChangeEmail", .verifyAndChangeEmail("ana9@x.org", current: nil)),
    ("changeProfile", .changeProfile(AccountProfile(displayName: "A"))),
    ("sendEmailVerification", .sendEmailVerification),
    ("sendPasswordReset", .sendPasswordReset(email: "bo@x.org")),
    ("checkCode", .checkCode(Secret("none"))),
    ("resetPassword", .resetPassword(code: Secret("none"), Secret("other-1"))),
    ("applyCode", .applyCode(Secret("none"))), ("reload", .reload),
    ("delete", .delete(current: nil)),
  ]

  /// What is expected of an operation in a state: the code of the failure, or nil for success.
  private static func expected(_ name: String, _ beginning: Beginning) -> String? {
    if beginning == .offline { return "network-request-failed" }
    switch name {
    case "signUp", "signIn", "anonymous", "token", "sendPasswordReset": return nil
    case "checkCode", "resetPassword", "applyCode": return "invalid-action-code"
    default: break
    }
    switch beginning {
    case .signedOut, .ended: return "no-current-user"
    case .disabled: return "user-disabled"
    case .anonymous:
      switch name {
      case "reauthenticate", "sendEmailVerification", "verifyAndChangeEmail":
        return "missing-email"
      default: return nil
      }
    case .signedIn, .tokenExpired, .offline: return nil
    }
  }

  @Test(arguments: ["server", "emulator", "production"], Beginning.allCases)
  func everyOperationInEveryState(name: String, beginning: Beginning) async throws {
    for (title, operation) in Self.operations {
      let test = await TestSession { provider(name, $0) }
      switch beginning {
      case .signedOut: break
      case .anonymous: try await test.session.signInAnonymously()
      case .signedIn, .tokenExpired, .ended, .disabled, .offline: try await test.signIn()
      }
      switch beginning {
      case .tokenExpired:
        // The service refuses the token, and takes the refresh token.
        let seconds = test.clock.now / 1000 + 1
        test.service.change { $0.records["ana"]?.validSince = seconds }
        test.clock.advance(2000)
      case .ended:
        test.service.revoke("ana")
        test.clock.advance(2000)
        _ = try? await test.session.reload()
        guard case .ended = await test.session.state else { throw NotReached() }
      case .disabled: test.service.change { $0.records["ana"]?.isDisabled = true }
      case .offline: test.service.set(.offline)
      case .signedOut, .signedIn, .anonymous: break
      }
      var code: String?
      do throws(AccountFailure) {
        try await test.session.perform(operation)
      } catch {
        code = error.code.rawValue
      }
      #expect(code == Self.expected(title, beginning), "\(title)")
      let isSignedIn = await test.session.user != nil
      switch beginning {
      case .signedIn, .anonymous, .tokenExpired: #expect(isSignedIn == (title != "delete"))
      case .offline: #expect(isSignedIn)
      case .signedOut, .ended, .disabled: break
      }
      await test.session.close()
    }
  }
}

/// The session over real sockets.
@Suite(.timeLimit(.minutes(1))) struct AccountNetworkTests {
  @Test func aSessionOverHTTPExchangesItsTokenAndTellsThatItIsOffline() async throws {
    let service = FakeAccounts { AccountClock.system.now() }
    service.add("ana", "ana@x.org", "secret-ana")
    let web = AccountWeb(service)
    let server = try NetworkServer(
      [NetworkAddress(host: "127.0.0.1", port: 0)], tls: nil, limits: NetworkLimits(),
      service: web)
    let port = try await server.start().bound.first?.port ?? 0
    let provider = IdentityToolkit.server(
      "http://127.0.0.1:\(port)", IdentityToolkit.transport(WebClient(userAgent: "test")))
    let session = await AccountSession(provider, storage: AccountMemory())
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let old = try await session.idToken()
    #expect(try await session.idToken(refused: old) != old)
    #expect(try await session.reload().email == "ana@x.org")
    await #expect(throws: LogInError.self) {
      try await session.signIn(email: "ana@x.org", password: Secret("nonsense"))
    }
    await server.end()
    let error = await #expect(throws: AccountChangeError.self) { try await session.reload() }
    #expect(error?.failure.code == .offline)
    #expect(await session.user?.id == "ana")
    await session.close()
  }
}
