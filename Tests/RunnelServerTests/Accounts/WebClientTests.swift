import RunnelBase
import TestSupport
import Testing

/// What a web client sends for each of its functions, in the order in which it sends it, and what it reads
/// of the answers.
///
/// In a transcript, `of` is the function of the client, and `call` the operation of `accounts:` or a path;
/// without a `body` it is a GET. The answer has the members of `has` and none of `lacks`, and what `keeps`
/// names stands for `$NAME` in later calls.
///
/// Source: authentication, section 8.
@Suite struct WebClientTests {
  /// A user with a password, from the first to the last request.
  private static let password = #"""
    [
    {"of": "createUserWithEmailAndPassword", "call": "signUp",
     "body": {"returnSecureToken": true, "email": "Ada@X.org", "password": "secret1",
       "clientType": "CLIENT_TYPE_WEB"},
     "has": {"kind": "identitytoolkit#SignupNewUserResponse", "email": "ada@x.org",
       "expiresIn": "3600"},
     "keeps": {"idToken": "idToken", "refreshToken": "refreshToken", "localId": "user"}},
    {"of": "createUserWithEmailAndPassword", "call": "lookup", "body": {"idToken": "$idToken"},
     "has": {"kind": "identitytoolkit#GetAccountInfoResponse", "users/0/localId": "$user",
       "users/0/email": "ada@x.org", "users/0/emailVerified": false,
       "users/0/providerUserInfo/0/providerId": "password",
       "users/0/providerUserInfo/0/rawId": "ada@x.org"}},
    {"of": "updateProfile", "call": "update",
     "body": {"idToken": "$idToken", "displayName": "Ada L.", "photoUrl": "http://p",
       "returnSecureToken": true},
     "has": {"localId": "$user", "displayName": "Ada L.", "photoUrl": "http://p"},
     "lacks": ["idToken", "refreshToken"]},
    {"of": "getIdToken", "call": "/securetoken.googleapis.com/v1/token?key=k",
     "form": "grant_type=refresh_token&refresh_token=$refreshToken",
     "has": {"token_type": "Bearer", "expires_in": "3600", "user_id": "$user"},
     "keeps": {"id_token": "idToken", "refresh_token": "refreshToken"}},
    {"of": "updatePassword", "call": "update",
     "body": {"idToken": "$idToken", "password": "better2", "returnSecureToken": true},
     "has": {"kind": "identitytoolkit#SetAccountInfoResponse", "localId": "$user",
       "expiresIn": "3600"},
     "keeps": {"idToken": "idToken", "refreshToken": "refreshToken"}},
    {"of": "updateEmail", "call": "update",
     "body": {"idToken": "$idToken", "email": "new@x.org", "returnSecureToken": true},
     "has": {"email": "new@x.org", "emailVerified": false},
     "keeps": {"idToken": "idToken", "refreshToken": "refreshToken"}},
    {"of": "fetchSignInMethodsForEmail", "call": "createAuthUri",
     "body": {"identifier": "new@x.org", "continueUri": "http://localhost"},
     "has": {"registered": true, "signinMethods/0": "password"}},
    {"of": "sendPasswordResetEmail", "call": "sendOobCode",
     "body": {"requestType": "PASSWORD_RESET", "email": "new@x.org",
       "clientType": "CLIENT_TYPE_WEB"},
     "has": {"kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": "new@x.org"},
     "lacks": ["oobCode", "oobLink"]},
    {"of": "the mail that the user reads", "call": "/emulator/v1/projects/demo/oobCodes",
     "has": {"oobCodes/1/requestType": "PASSWORD_RESET", "oobCodes/1/email": "new@x.org"},
     "keeps": {"oobCodes/1/oobCode": "code"}},
    {"of": "verifyPasswordResetCode", "call": "resetPassword", "body": {"oobCode": "$code"},
     "has": {"requestType": "PASSWORD_RESET", "email": "new@x.org"}, "lacks": ["idToken"]},
    {"of": "confirmPasswordReset", "call": "resetPassword",
     "body": {"oobCode": "$code", "newPassword": "again3"},
     "has": {"requestType": "PASSWORD_RESET", "email": "new@x.org"}, "lacks": ["idToken"]},
    {"of": "confirmPasswordReset, again", "call": "resetPassword",
     "body": {"oobCode": "$code", "newPassword": "again4"}, "status": 400,
     "has": {"error/message": "INVALID_OOB_CODE"}},
    {"of": "signInWithEmailAndPassword", "call": "signInWithPassword",
     "body": {"returnSecureToken": true, "email": "new@x.org", "password": "better2"},
     "status": 400, "has": {"error/message": "INVALID_PASSWORD", "error/code": 400}},
    {"of": "signInWithEmailAndPassword", "call": "signInWithPassword",
     "body": {"returnSecureToken": true, "email": "new@x.org", "password": "again3"},
     "has": {"registered": true, "localId": "$user", "email": "new@x.org"},
     "keeps": {"idToken": "idToken", "refreshToken": "refreshToken"}},
    {"of": "reload", "call": "lookup", "body": {"idToken": "$idToken"},
     "has": {"users/0/emailVerified": true, "users/0/displayName": "Ada L."}},
    {"of": "delete", "call": "delete", "body": {"idToken": "$idToken"},
     "has": {"kind": "identitytoolkit#DeleteAccountResponse"}},
    {"of": "reload of what is gone", "call": "lookup", "body": {"idToken": "$idToken"},
     "status": 400, "has": {"error/message": "USER_NOT_FOUND"}}
    ]
    """#

  /// An anonymous user who gets a password, and a user of a custom token.
  private static let others = #"""
    [
    {"of": "signInAnonymously", "call": "signUp", "body": {"returnSecureToken": true},
     "lacks": ["email"],
     "keeps": {"idToken": "idToken", "refreshToken": "refreshToken", "localId": "user"}},
    {"of": "signInAnonymously", "call": "lookup", "body": {"idToken": "$idToken"},
     "has": {"users/0/localId": "$user"},
     "lacks": ["users/0/email", "users/0/providerUserInfo/0"]},
    {"of": "linkWithCredential", "call": "signUp",
     "body": {"idToken": "$idToken", "email": "cy@x.org", "password": "secret1",
       "returnSecureToken": true},
     "has": {"localId": "$user", "email": "cy@x.org"}},
    {"of": "createUserWithEmailAndPassword", "call": "signUp",
     "body": {"returnSecureToken": true, "email": "cy@x.org", "password": "secret1"},
     "status": 400, "has": {"error/message": "EMAIL_EXISTS", "error/errors/0/reason": "invalid"}},
    {"of": "createUserWithEmailAndPassword", "call": "signUp",
     "body": {"returnSecureToken": true, "email": "dee@x.org", "password": "12345"},
     "status": 400,
     "has": {"error/message": "WEAK_PASSWORD : Password should be at least 6 characters"}},
    {"of": "signInWithCustomToken", "call": "signInWithCustomToken",
     "body": {"token": "{\"uid\":\"eve\",\"claims\":{\"role\":\"admin\"}}",
       "returnSecureToken": true},
     "has": {"isNewUser": true, "expiresIn": "3600"}, "lacks": ["localId"],
     "keeps": {"idToken": "idToken", "refreshToken": "refreshToken"}},
    {"of": "signInWithCustomToken", "call": "lookup", "body": {"idToken": "$idToken"},
     "has": {"users/0/localId": "eve", "users/0/customAuth": true}},
    {"of": "sendEmailVerification", "call": "sendOobCode",
     "body": {"requestType": "VERIFY_EMAIL", "idToken": "$idToken"}, "status": 400,
     "has": {"error/message": "MISSING_EMAIL"}}
    ]
    """#

  /// The member at a path such as `users/0/email`; nil if there is none.
  private func member(_ json: JSONValue, _ path: String) -> JSONValue? {
    var value = json
    for name in path.split(separator: "/") {
      let next: JSONValue?
      if let index = Int(name) { next = value[index] } else { next = value[String(name)] }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  private func play(_ transcript: String, at server: TestServer) throws {
    var kept: [(name: String, text: String)] = []
    func filled(_ text: String) -> String {
      var text = text
      // What was kept last stands for its name.
      for (name, value) in kept.reversed() { text = text.replacing("$" + name, with: value) }
      return text
    }
    for call in try json(transcript).array ?? [] {
      let operation = call["call"]?.string ?? ""
      let title = "\(call["of"]?.string ?? ""): \(operation)"
      let target =
        operation.hasPrefix("/")
        ? operation : "/identitytoolkit.googleapis.com/v1/accounts:\(operation)?key=k"
      let form = call["form"]?.string
      let body = form ?? call["body"]?.jsonText()
      let answer = try server.request(
        body == nil ? "GET" : "POST", target, body.map { filled($0) },
        headers: [
          "Content-Type": form == nil ? "application/json" : "application/x-www-form-urlencoded",
          "X-Client-Version": "Web/JsCore/11.0.0/FirebaseCore-web",
        ])
      #expect(answer.status == call["status"]?.int ?? 200, "\(title): \(answer.body)")
      let told = try json(answer.body)
      for part in call["has"]?.object ?? [] {
        let wanted = part.value.string.map { JSONValue.string(filled($0)) } ?? part.value
        #expect(member(told, part.name) == wanted, "\(title): \(part.name)")
      }
      for path in call["lacks"]?.array ?? [] {
        if let found = member(told, path.string ?? "") {
          Issue.record("\(title): \(path) is \(found)")
        }
      }
      for part in call["keeps"]?.object ?? [] {
        let text = try #require(member(told, part.name)?.string, "\(title): \(part.name)")
        kept.append((part.value.string ?? "", text))
      }
    }
    #expect(!kept.isEmpty)
  }

  @Test func everyFunctionForAUserWithAPassword() async throws {
    try await withAccounts(isEmulator: true) { try play(Self.password, at: $0) }
  }

  @Test func anonymousUsersAndCustomTokens() async throws {
    try await withAccounts(isEmulator: true) { try play(Self.others, at: $0) }
  }
}
