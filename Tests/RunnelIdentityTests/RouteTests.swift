import RunnelBase
import RunnelIdentity
import Testing

// Source: authentication, sections 1, 6 and 7.

@Suite struct RouteTests {
  private func call(
    _ method: String, _ target: String, _ body: String = "", isEmulator: Bool = true,
    contentType: String? = "application/json", authorization: String? = nil
  ) throws(IdentityError) -> IdentityCall {
    try IdentityCall(
      IdentityRequestHead(
        method, target, authorization: authorization, contentType: contentType),
      body: Array(body.utf8), isEmulator: isEmulator)
  }

  @Test(arguments: [
    ("POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", IdentityOperation.signUp),
    ("POST", "/v1/accounts:signInWithPassword", .signInWithPassword),
    (
      "POST", "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword",
      .signInWithPassword
    ),
    ("POST", "/identitytoolkit/v3/relyingparty/signupNewUser", .signUp),
    ("POST", "/identitytoolkit/v3/relyingparty/getAccountInfo", .lookup),
    ("POST", "/identitytoolkit/v3/relyingparty/setAccountInfo", .update),
    ("POST", "/identitytoolkit/v3/relyingparty/deleteAccount", .delete),
    ("POST", "/identitytoolkit/v3/relyingparty/getOobConfirmationCode", .sendOobCode),
    ("POST", "/securetoken.googleapis.com/v1/token", .refresh),
    ("POST", "/v1/token", .refresh),
    ("POST", "/identitytoolkit.googleapis.com/v1/projects/demo/accounts", .create),
    ("POST", "/identitytoolkit.googleapis.com/v1/projects/demo/accounts:lookup", .lookup),
    ("GET", "/v1/projects/demo/accounts:batchGet?maxResults=3", .batchGet),
    ("POST", "/v1/projects/demo/accounts:batchDelete", .batchDelete),
    ("POST", "/v1/projects/demo:createSessionCookie", .createSessionCookie),
    ("GET", "/identitytoolkit.googleapis.com/v2/projects/demo/config", .getConfig),
    ("GET", "/", .ready),
    ("DELETE", "/emulator/v1/projects/demo/accounts", .wipe),
    ("PATCH", "/emulator/v1/projects/demo/config", .updateEmulatorConfig),
    ("GET", "/emulator/v1/projects/demo/oobCodes", .mailedCodes),
    ("GET", "/emulator/action?mode=verifyEmail", .action),
    ("GET", "/.well-known/jwks.json", .publicKeys),
  ])
  func everyPathLeadsToItsOperation(
    method: String, target: String, operation: IdentityOperation
  ) throws {
    #expect(try call(method, target).operation == operation)
    if target != "/" { #expect(IdentityRoute.owns(target.prefix { $0 != "?" })) }
  }

  @Test(arguments: [
    ("GET", "/v1/accounts:signUp", 404), ("POST", "/v1/accounts:nothing", 404),
    ("POST", "/v1/accounts:signInWithIdp", 501), ("GET", "/v2/passwordPolicy", 501),
    ("POST", "/v1/projects/demo/tenants", 501), ("POST", "/emulator/v1/other", 404),
    ("POST", "/identitytoolkit.googleapis.com/v3/x", 404),
  ])
  func otherPathsAreRefused(method: String, target: String, status: Int) {
    do throws(IdentityError) {
      _ = try call(method, target)
      Issue.record("\(target) was accepted")
    } catch {
      #expect(error.status == status)
    }
  }

  @Test func oldTransfersNameTheirProject() throws {
    let path = "/identitytoolkit/v3/relyingparty/downloadAccount"
    #expect(throws: IdentityError("INSUFFICIENT_PERMISSION")) { try call("POST", path, "{}") }
    let answered = try call("POST", path, #"{"targetProjectId":"demo","maxResults":5}"#)
    #expect(answered.operation == .batchGet)
    #expect(answered.isAdministrative)
  }

  @Test func placesOfDatabasesAreNotOwned() {
    for path in ["/users.json", "/v1/accounts.json", "/.json", "/emulator.json", "/.ws"] {
      #expect(!IdentityRoute.owns(path), "\(path)")
    }
  }

  @Test func onlyAnEmulatorHasItsPaths() {
    for (method, path) in [("GET", "/"), ("DELETE", "/emulator/v1/projects/d/accounts")] {
      #expect(throws: IdentityError.unknownURL) { try call(method, path, isEmulator: false) }
    }
  }

  @Test func fieldsHaveTwoSpellingsAndLooseKinds() throws {
    let call = try call(
      "POST", "/v1/accounts:signUp",
      #"{"return_secure_token":"true","email":null,"displayName":5,"unknown":{},"list":["a",1]}"#)
    let fields = call.fields
    #expect(try fields.flag("returnSecureToken") == true)
    #expect(try fields.text("email") == nil)
    #expect(try fields.text("displayName") == "5")
    #expect(try fields.texts("list") == ["a", "1"])
    #expect(try fields.texts("displayNames") == [])
    #expect(throws: IdentityStop.self) { try fields.text("unknown") }
  }

  @Test func theTokenEndpointTakesForms() throws {
    let call = try call(
      "POST", "/v1/token?key=k", "grant_type=refresh_token&refresh_token=a%2Bb+c",
      contentType: "application/x-www-form-urlencoded")
    #expect(try call.fields.text("grantType") == "refresh_token")
    #expect(try call.fields.text("refreshToken") == "a+b c")
    #expect(call.hasKey)
  }

  @Test(arguments: ["{", "[]", "3", #"{"a":}"#])
  func malformedBodiesAreRefused(body: String) {
    do throws(IdentityError) {
      _ = try call("POST", "/v1/accounts:signUp", body)
      Issue.record("It was accepted.")
    } catch {
      #expect(error.message.hasPrefix("Invalid JSON payload received."))
      #expect(error.reason == "parseError")
      #expect(error.json["error"]?["status"] == "INVALID_ARGUMENT")
    }
  }

  @Test(arguments: [
    ("Bearer owner", CallCredential.bearer("owner")), ("bearer x", .bearer("x")),
    ("Basic x", .bearer("")),
  ])
  func credentialsAreRead(text: String, credential: CallCredential) throws {
    #expect(try call("POST", "/v1/token", authorization: text).credential == credential)
  }

  @Test func errorsHaveTheFormOfTheAPI() {
    #expect(
      IdentityError("EMAIL_EXISTS").json
        == [
          "error": [
            "code": 400, "message": "EMAIL_EXISTS",
            "errors": [
              ["message": "EMAIL_EXISTS", "reason": "invalid", "domain": "global"]
            ],
          ]
        ])
    #expect(IdentityError("WEAK_PASSWORD : At least 6").code == "WEAK_PASSWORD")
  }
}
