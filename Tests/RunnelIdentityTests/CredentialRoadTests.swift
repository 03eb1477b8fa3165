import RunnelBase
import Testing

@testable import RunnelIdentity

/// Each road on which the address or the password of an account changes, or its sessions end, with what is owed on
/// it.
@Suite struct CredentialRoadTests {
  /// Whether something follows from a request.
  private enum Follows {
    case always, never, ifUnproved

    func holds(_ isProved: Bool) -> Bool {
      switch self {
      case .always: true
      case .never: false
      case .ifUnproved: !isProved
      }
    }
  }

  /// A request on a road.
  private struct Step {
    var operation: IdentityOperation
    var body: JSONValue
    var isPrivileged = false
    /// Whether the codes end that could change the address or the password.
    var endsCodes = Follows.always
    /// Whether the account loses the address that it has.
    var losesAddress = false
  }

  /// An account at ada@x.org, whose user is signed in.
  private struct Scene {
    let identity = TestIdentity()
    let id: String
    var token: JSONValue

    init(isProved: Bool) throws {
      let user = try identity.signUp()
      (id, token) = (user.text("localId"), .string(user.text("idToken")))
      if isProved { try identity.prove(token) }
      identity.now += 1000
    }

    /// The code of a mail that is asked for.
    func code(_ type: String, _ more: JSONValue) throws -> JSONValue {
      try identity.ask(
        .sendOobCode,
        .object([JSONMember("requestType", .string(type))] + (more.object ?? [])))
      return .string(identity.mailedCode)
    }
  }

  /// The requests on a road, with the codes that they need.
  private func steps(_ road: CredentialRoad, _ scene: inout Scene, isProved: Bool) throws -> [Step]
  {
    let (token, id) = (scene.token, JSONValue.string(scene.id))
    let ada: JSONValue = ["email": "ada@x.org"]
    switch road {
    case .tokenUpdate:
      return [
        Step(
          operation: .update, body: ["idToken": token, "email": "new@x.org"], losesAddress: true),
        Step(operation: .update, body: ["idToken": token, "password": "better-2-3"]),
        Step(
          operation: .update, body: ["idToken": token, "deleteAttribute": ["EMAIL"]],
          losesAddress: true),
        Step(operation: .update, body: ["idToken": token, "deleteAttribute": ["PASSWORD"]]),
        Step(operation: .update, body: ["idToken": token, "deleteProvider": ["password"]]),
      ]
    case .tokenSignUp:
      let body: JSONValue = ["idToken": token, "email": "new@x.org", "password": "better-2-3"]
      return [Step(operation: .signUp, body: body, losesAddress: true)]
    case .tokenLink:
      let code = try scene.code("EMAIL_SIGNIN", ["email": "new@x.org"])
      let body: JSONValue = ["idToken": token, "email": "new@x.org", "oobCode": code]
      return [Step(operation: .signInWithEmailLink, body: body, losesAddress: true)]
    case .changeRequest:
      let body: JSONValue = [
        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "new@x.org",
      ]
      return [Step(operation: .sendOobCode, body: body, endsCodes: .never)]
    case .tokenDeletion: return [Step(operation: .delete, body: ["idToken": token])]
    case .changeCode:
      let code = try scene.code(
        "VERIFY_AND_CHANGE_EMAIL", ["idToken": token, "newEmail": "new@x.org"])
      return [Step(operation: .update, body: ["oobCode": code], losesAddress: true)]
    case .takeBackCode:
      // There is no such code of an address that was not proved.
      guard isProved else { return [] }
      let answer = try scene.identity.ask(.update, ["idToken": token, "email": "new@x.org"])
      let code = JSONValue.string(scene.identity.mailedCode)
      scene.token = .string(answer.text("idToken"))
      scene.identity.now += 1000
      return [Step(operation: .update, body: ["oobCode": code], losesAddress: true)]
    case .verificationCode:
      let code = try scene.code("VERIFY_EMAIL", ["idToken": token])
      return [Step(operation: .update, body: ["oobCode": code], endsCodes: .ifUnproved)]
    case .resetCode:
      let code = try scene.code("PASSWORD_RESET", ada)
      let body: JSONValue = ["oobCode": code, "newPassword": "better-2-3"]
      return [Step(operation: .resetPassword, body: body)]
    case .mailedLink:
      let code = try scene.code("EMAIL_SIGNIN", ada)
      let body: JSONValue = ["email": "ada@x.org", "oobCode": code]
      return [Step(operation: .signInWithEmailLink, body: body, endsCodes: .ifUnproved)]
    case .administrator:
      return [
        Step(
          operation: .update, body: ["localId": id, "email": "new@x.org"], isPrivileged: true,
          losesAddress: true),
        Step(
          operation: .update, body: ["localId": id, "password": "better-2-3"], isPrivileged: true),
        Step(
          operation: .update, body: ["localId": id, "validSince": "1750000001"], isPrivileged: true),
        Step(operation: .update, body: ["localId": id, "disableUser": true], isPrivileged: true),
        Step(
          operation: .update, body: ["localId": id, "emailVerified": true], isPrivileged: true,
          endsCodes: .ifUnproved),
      ]
    case .replacement:
      let users: JSONValue = ["users": [["localId": id, "email": "new@x.org"]]]
      return [
        Step(operation: .batchCreate, body: users, isPrivileged: true),
        Step(operation: .delete, body: ["localId": id], isPrivileged: true),
      ]
    case .none:
      let body: JSONValue = ["email": "ada@x.org", "password": "secret123"]
      return [
        Step(operation: .signInWithPassword, body: body, endsCodes: .never),
        Step(operation: .lookup, body: ["idToken": token], endsCodes: .never),
      ]
    }
  }

  /// Calls `body` with each request on each road, and an account of its own.
  private func walk(
    isProved: Bool, _ body: (CredentialRoad, Step, Scene) throws -> Void
  ) throws {
    for road in CredentialRoad.allCases {
      var index = 0
      while true {
        var scene = try Scene(isProved: isProved)
        let steps = try steps(road, &scene, isProved: isProved)
        if index >= steps.count { break }
        #expect(try self.road(steps[index], scene) == road)
        try body(road, steps[index], scene)
        index += 1
      }
    }
  }

  private func road(_ step: Step, _ scene: Scene) throws -> CredentialRoad {
    let context = IdentityContext(
      policy: scene.identity.policy, now: scene.identity.now, isPrivileged: step.isPrivileged,
      claims: TestIdentity.claims, customClaims: { _ in .failure(.invalid("")) })
    return try IdentityDecider(
      IdentityCall(step.operation, CallFields(step.body)), context, scene.identity.store,
      random: SeededRandom(seed: 1)
    ).road()
  }

  private func refusal(_ step: Step, _ scene: Scene) -> String? {
    scene.identity.refusal(step.operation, step.body, isPrivileged: step.isPrivileged)
  }

  @Test func whoShowsATokenHasSignedInAMomentAgo() throws {
    let shown: Set<CredentialRoad> = [
      .tokenUpdate, .tokenSignUp, .tokenLink, .changeRequest, .tokenDeletion,
    ]
    for isLate in [false, true] {
      try walk(isProved: true) { road, step, scene in
        // The walk began a second after the sign-in.
        scene.identity.now += isLate ? 300_000 : 0
        let expected = isLate && shown.contains(road) ? "CREDENTIAL_TOO_OLD_LOGIN_AGAIN" : nil
        #expect(refusal(step, scene) == expected, "\(road): \(step.body)")
      }
    }
  }

  @Test(arguments: [false, true]) func codesOfBeforeEndWithTheSessions(isProved: Bool) throws {
    try walk(isProved: isProved) { road, step, scene in
      let store = scene.identity.store
      let change = try scene.code(
        "VERIFY_AND_CHANGE_EMAIL", ["idToken": scene.token, "newEmail": "thief@x.org"])
      // Earlier versions gave codes for addresses that nobody had proved.
      let old = MailedCode(
        hash: SecretHash.of("old"), kind: .recoverEmail, account: scene.id, email: "eve@x.org",
        newEmail: "ada@x.org", time: scene.identity.now)
      store.codes[old.hash] = old
      #expect(refusal(step, scene) == nil)
      for hash in [SecretHash.of(change.string ?? ""), old.hash] {
        #expect(
          (store.codes[hash] == nil) == step.endsCodes.holds(isProved), "\(road): \(step.body)")
      }
    }
  }

  @Test(arguments: [false, true]) func theOwnerOfALostAddressIsTold(isProved: Bool) throws {
    let isTakenBack: Set<CredentialRoad> = [.tokenUpdate, .tokenSignUp, .tokenLink, .changeCode]
    try walk(isProved: isProved) { road, step, scene in
      let address = scene.identity.store.accounts[scene.id]?.email
      let count = scene.identity.mails.count
      #expect(refusal(step, scene) == nil)
      let news = scene.identity.mails.dropFirst(count).filter { $0.kind == .recoverEmail }
      #expect(
        news.map(\.recipient) == (step.losesAddress ? [address] : []), "\(road): \(step.body)")
      guard let mail = news.first else { return }
      #expect((mail.code != nil) == (isProved && isTakenBack.contains(road)), "\(road)")
      #expect((mail.notice == .takenBack) == (road == .takeBackCode), "\(road)")
      guard let code = mail.code else { return }
      let back = try scene.identity.ask(.update, ["oobCode": .string(code)])
      #expect(back["email"] == "ada@x.org" && back["localId"] == .string(scene.id), "\(road)")
    }
  }

  @Test func anEmulatorTellsTheFirstChangeOnlyAndLetsCodesBe() throws {
    let identity = TestIdentity(isEmulator: true)
    let user = try identity.signUp()
    var token = JSONValue.string(user.text("idToken"))
    identity.now += 400_000
    for email in ["b@x.org", "c@x.org"] {
      let answer = try identity.ask(.update, ["idToken": token, "email": .string(email)])
      token = .string(answer.text("idToken"))
    }
    #expect(identity.mails.map(\.recipient) == ["ada@x.org"])
    let back = try identity.ask(.update, ["oobCode": .string(identity.mailedCode)])
    #expect(back["email"] == "ada@x.org")
    #expect(identity.mails.count == 1)
  }

  // MARK: An account that another person has made

  /// Somebody makes an account and gives it another person's address, who comes later.
  private func squat(
    isProved: Bool
  ) throws -> (identity: TestIdentity, id: String, token: JSONValue, takeBack: JSONValue) {
    let identity = TestIdentity()
    let eve = try identity.signUp("eve@x.org")
    if isProved { try identity.prove(.string(eve.text("idToken"))) }
    identity.now += 1000
    let moved = try identity.ask(
      .update, ["idToken": .string(eve.text("idToken")), "email": "victim@x.org"])
    let takeBack = JSONValue.string(identity.mailedCode)
    #expect(takeBack.string?.isEmpty == !isProved)
    identity.now += 1000
    return (identity, eve.text("localId"), .string(moved.text("idToken")), takeBack)
  }

  /// Proves the address by a mail, without being signed in; returns the id of the account.
  private func come(_ identity: TestIdentity, _ type: String) throws -> String {
    try identity.ask(.sendOobCode, ["requestType": .string(type), "email": "victim@x.org"])
    let code = JSONValue.string(identity.mailedCode)
    if type == "EMAIL_SIGNIN" {
      return try identity.ask(
        .signInWithEmailLink, ["email": "victim@x.org", "oobCode": code]
      ).text("localId")
    }
    try identity.ask(.resetPassword, ["oobCode": code, "newPassword": "victims-own"])
    return try identity.signIn("victim@x.org", "victims-own").text("localId")
  }

  @Test(arguments: ["EMAIL_SIGNIN", "PASSWORD_RESET"])
  func whoeverProvesAnAddressHasTheAccountAlone(type: String) throws {
    let (identity, id, token, _) = try squat(isProved: false)
    try identity.ask(
      .sendOobCode,
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "eve2@x.org"])
    let change = JSONValue.string(identity.mailedCode)
    identity.now += 1000
    #expect(try come(identity, type) == id)
    #expect(identity.refusal(.update, ["oobCode": change]) == "INVALID_OOB_CODE")
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    #expect(identity.store.accounts[id]?.email == "victim@x.org")
  }

  /// The account is of the person who had proved its address before; whoever comes by a mail to the present one
  /// gets another account.
  @Test(arguments: ["EMAIL_SIGNIN", "PASSWORD_RESET"])
  func nobodySharesAnAccountThatCanBeTakenBack(type: String) throws {
    let (identity, id, token, takeBack) = try squat(isProved: true)
    let own = try come(identity, type)
    #expect(own != id)
    #expect(identity.store.accounts[own]?.isEmailVerified == true)
    #expect(identity.store.accounts[id]?.email == nil)
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    // The first account goes back to its owner, and the other one stays.
    identity.now += 1000
    let back = try identity.ask(.update, ["oobCode": takeBack])
    #expect(back["email"] == "eve@x.org" && back.text("localId") == id)
    #expect(identity.store.accounts[own]?.email == "victim@x.org")
  }

  @Test(arguments: [false, true])
  func theAnswerToAResetTellsOfANewAccount(isProved: Bool) throws {
    let (identity, id, _, _) = try squat(isProved: isProved)
    try identity.ask(.sendOobCode, ["requestType": "PASSWORD_RESET", "email": "victim@x.org"])
    let answer = try identity.ask(
      .resetPassword,
      ["oobCode": .string(identity.mailedCode), "newPassword": "victims-own"])
    #expect((answer["isNewUser"] == true) == isProved)
    #expect(answer["email"] == "victim@x.org" && answer["localId"]?.string != id)
  }

  @Test func anAddressThatIsConfirmedFromTheAccountKeepsIt() throws {
    let (identity, id, token, _) = try squat(isProved: true)
    try identity.prove(token)
    #expect(try come(identity, "EMAIL_SIGNIN") == id)
  }

  /// A thief who proves the address of theirs does not keep the account.
  @Test func aTakeBackOutlivesTheProofOfTheNewAddress() throws {
    let (identity, id, token, takeBack) = try squat(isProved: true)
    try identity.prove(token)
    identity.now += 1000
    _ = try come(identity, "PASSWORD_RESET")
    #expect(try identity.ask(.update, ["oobCode": takeBack]).text("localId") == id)
    let notice = try #require(identity.mails.last)
    #expect(notice.recipient == "victim@x.org" && notice.notice == .takenBack)
  }

  // MARK: Imports

  /// Nobody is told, and all that was valid before ends but what gives the account back.
  @Test func aReplacedAccountHasNoSessionAndCanStillBeTakenBack() throws {
    let (identity, id, token, takeBack) = try squat(isProved: true)
    try identity.ask(.sendOobCode, ["requestType": "PASSWORD_RESET", "email": "victim@x.org"])
    let reset = JSONValue.string(identity.mailedCode)
    let count = identity.mails.count
    let users: JSONValue = [
      ["localId": .string(id), "email": "other@x.org", "rawPassword": "another-1"]
    ]
    #expect(
      try identity.ask(.batchCreate, ["users": users], isPrivileged: true)["error"] == nil)
    #expect(identity.mails.count == count && identity.store.sessions(of: id).isEmpty)
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    let change: JSONValue = ["oobCode": reset, "newPassword": "thieves-own"]
    #expect(identity.refusal(.resetPassword, change) == "INVALID_OOB_CODE")
    #expect(try identity.signIn("other@x.org", "another-1").text("localId") == id)
    identity.now += 1000
    #expect(try identity.ask(.update, ["oobCode": takeBack])["email"] == "eve@x.org")
  }

  @Test func anAccountWithASecondFactorIsNotImportedWithoutIt() throws {
    let identity = TestIdentity()
    let factor: JSONValue = [["mfaEnrollmentId": "1", "phoneInfo": "+15550100"]]
    let users: JSONValue = [["localId": "a", "mfaInfo": factor], ["localId": "b", "mfaInfo": []]]
    let answer = try identity.ask(.batchCreate, ["users": users], isPrivileged: true)
    #expect(answer["error"]?.array?.count == 1)
    let message = answer["error"]?[0]?["message"]?.string
    #expect(message?.hasPrefix("UNSUPPORTED_SECOND_FACTOR : ") == true)
    #expect(Set(identity.store.accounts.keys) == ["b"])
  }
}
