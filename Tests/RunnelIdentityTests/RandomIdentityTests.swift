import RunnelBase
import RunnelIdentity
import Testing

/// Random requests of several users, beside a naive model of who has which password and token.
@Suite struct RandomIdentityTests {
  /// What is known of a user.
  private struct User {
    var id: String
    var email: String?
    var password: String?
    var isDisabled = false
    /// The ID tokens that were issued, with the second of their issue, and the ends before them.
    var tokens: [(text: String, second: Int64, ends: Int)] = []
    var refreshTokens: [String] = []
    /// The tokens before this second do not count.
    var validSince: Int64 = 0 {
      didSet { ends += 1 }
    }
    /// The number of times that all tokens ended.
    var ends = 0
    var lastLogin: Int64 = 0

    func isOld(_ token: (text: String, second: Int64, ends: Int)) -> Bool {
      token.second < validSince || token.ends < ends
    }
  }

  private struct World {
    let identity = TestIdentity()
    var users: [User] = []
    var random: SeededRandom
    var nextName = 0

    var second: Int64 { identity.now / 1000 }

    mutating func pick() -> Int? {
      users.isEmpty ? nil : Int(random.next(upperBound: UInt64(users.count)))
    }

    mutating func note(_ answer: JSONValue, _ index: Int) {
      users[index].tokens.append((answer.text("idToken"), second, users[index].ends))
      users[index].refreshTokens.append(answer.text("refreshToken"))
    }
  }

  @Test(arguments: 1...15)
  func everyAnswerIsThatOfTheModel(seed: UInt64) throws {
    var world = World(random: SeededRandom(seed: seed))
    for step in 0..<150 {
      // Whole seconds, so that times compare alike here and there; often the same one.
      let isLater = world.random.next(upperBound: UInt64(3)) != 0
      if isLater { world.identity.now += 1000 * Int64(world.random.next(upperBound: UInt64(200))) }
      try act(&world)
      try check(world, "seed \(seed), step \(step)")
    }
  }

  private func act(_ world: inout World) throws {
    switch world.random.next(upperBound: UInt64(9)) {
    case 0: try signUp(&world)
    case 1: try signIn(&world)
    case 2: try changePassword(&world)
    case 3: try upgrade(&world)
    case 4: try setDisabled(&world)
    case 5: try endSessions(&world)
    case 6: try delete(&world)
    case 7: try reset(&world)
    default: try refresh(&world)
    }
  }

  private func signUp(_ world: inout World) throws {
    world.nextName += 1
    let isAnonymous = world.random.next(upperBound: UInt64(3)) == 0
    let email = "user\(world.nextName)@x.org"
    let answer =
      try isAnonymous
      ? world.identity.ask(.signUp) : world.identity.signUp(email, "password \(world.nextName)")
    var user = User(id: answer.text("localId"))
    if !isAnonymous {
      (user.email, user.password) = (email, "password \(world.nextName)")
      user.validSince = world.second
    }
    user.lastLogin = world.second
    world.users.append(user)
    world.note(answer, world.users.count - 1)
  }

  private func signIn(_ world: inout World) throws {
    guard let index = world.pick(), let email = world.users[index].email else { return }
    let user = world.users[index]
    let isRight = world.random.next(upperBound: UInt64(2)) == 0
    let password = isRight ? user.password ?? "none at all" : "wrong password"
    let refusal = world.identity.refusal(
      .signInWithPassword, ["email": .string(email), "password": .string(password)])
    let expected =
      !isRight || user.password == nil
      ? "INVALID_LOGIN_CREDENTIALS" : user.isDisabled ? "USER_DISABLED" : nil
    #expect(refusal == expected)
    guard refusal == nil else { return }
    let answer = try world.identity.signIn(email, password)
    world.users[index].lastLogin = world.second
    world.note(answer, index)
  }

  private func changePassword(_ world: inout World) throws {
    guard let index = world.pick(), let token = world.users[index].tokens.last else { return }
    let user = world.users[index]
    world.nextName += 1
    let password = "changed \(world.nextName)"
    let body: JSONValue = ["idToken": .string(token.text), "password": .string(password)]
    guard user.email != nil else { return }
    let isOld = user.isOld(token)
    let isExpired = world.second - token.second >= IdentityPolicy.tokenSeconds
    do throws(IdentityError) {
      let answer = try world.identity.ask(.update, body)
      #expect(!isOld && !isExpired && !user.isDisabled)
      world.users[index].password = password
      world.users[index].validSince = world.second
      world.users[index].refreshTokens = []
      world.note(answer, index)
    } catch {
      let isLate = error.code == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"
      #expect(isOld || isExpired || user.isDisabled || isLate)
    }
  }

  private func upgrade(_ world: inout World) throws {
    guard let index = world.pick(), world.users[index].email == nil,
      let token = world.users[index].tokens.last
    else { return }
    world.nextName += 1
    let email = "user\(world.nextName)@x.org"
    let password = "password \(world.nextName)"
    do throws(IdentityError) {
      let answer = try world.identity.ask(
        .signUp,
        [
          "idToken": .string(token.text), "email": .string(email), "password": .string(password),
        ])
      #expect(answer.text("localId") == world.users[index].id)
      (world.users[index].email, world.users[index].password) = (email, password)
      world.users[index].validSince = world.second
      world.users[index].refreshTokens = []
      world.note(answer, index)
    } catch {
      #expect(["TOKEN_EXPIRED", "USER_DISABLED"].contains(error.code))
    }
  }

  private func setDisabled(_ world: inout World) throws {
    guard let index = world.pick() else { return }
    world.users[index].isDisabled.toggle()
    if !world.users[index].isDisabled {
      world.users[index].validSince = world.second
      world.users[index].refreshTokens = []
    }
    try world.identity.ask(
      .update,
      [
        "localId": .string(world.users[index].id),
        "disableUser": .bool(world.users[index].isDisabled),
      ], isPrivileged: true)
  }

  private func endSessions(_ world: inout World) throws {
    guard let index = world.pick() else { return }
    try world.identity.ask(
      .update,
      [
        "localId": .string(world.users[index].id),
        "validSince": .string(String(world.second)),
      ], isPrivileged: true)
    world.users[index].validSince = world.second
    world.users[index].refreshTokens = []
  }

  private func delete(_ world: inout World) throws {
    guard world.users.count > 4, let index = world.pick() else { return }
    let user = world.users.remove(at: index)
    try world.identity.ask(.delete, ["localId": .string(user.id)], isPrivileged: true)
    for token in user.tokens {
      let refusal = world.identity.refusal(.lookup, ["idToken": .string(token.text)])
      #expect(refusal == "USER_NOT_FOUND")
    }
    for token in user.refreshTokens {
      #expect(refreshRefusal(world, token) == "INVALID_REFRESH_TOKEN")
    }
  }

  private func reset(_ world: inout World) throws {
    guard let index = world.pick(), let email = world.users[index].email else { return }
    let count = world.identity.mails.count
    _ = try world.identity.ask(
      .sendOobCode, ["requestType": "PASSWORD_RESET", "email": .string(email)])
    if world.users[index].isDisabled { return #expect(world.identity.mails.count == count) }
    world.nextName += 1
    let password = "was reset \(world.nextName)"
    let body: JSONValue = [
      "oobCode": .string(world.identity.mailedCode), "newPassword": .string(password),
    ]
    try world.identity.ask(.resetPassword, body)
    #expect(world.identity.refusal(.resetPassword, body) == "INVALID_OOB_CODE")
    world.users[index].password = password
    world.users[index].validSince = world.second
    world.users[index].refreshTokens = []
  }

  private func refresh(_ world: inout World) throws {
    guard let index = world.pick(), let token = world.users[index].refreshTokens.last else {
      return
    }
    let refusal = refreshRefusal(world, token)
    #expect(refusal == (world.users[index].isDisabled ? "USER_DISABLED" : nil))
  }

  private func refreshRefusal(_ world: World, _ token: String) -> String? {
    world.identity.refusal(
      .refresh, ["grantType": "refresh_token", "refreshToken": .string(token)])
  }

  /// Compares everything that can be asked with the model.
  private func check(_ world: World, _ context: String) throws {
    let accounts = world.identity.store.accounts
    #expect(Set(accounts.keys) == Set(world.users.map(\.id)), "\(context)")
    let emails = accounts.values.compactMap(\.email)
    #expect(Set(emails).count == emails.count, "\(context)")
    for user in world.users {
      for token in user.tokens.suffix(5) {
        let refusal = world.identity.refusal(.lookup, ["idToken": .string(token.text)])
        let isOver =
          user.isOld(token) || world.second - token.second >= IdentityPolicy.tokenSeconds
        let expected = isOver ? "TOKEN_EXPIRED" : user.isDisabled ? "USER_DISABLED" : nil
        #expect(refusal == expected, "\(context)")
        // The database refuses what the accounts refuse, by the ends of tokens alone.
        let isEnded = world.identity.isEnded(token.text, of: user.id)
        #expect(isEnded == (user.isOld(token) || user.isDisabled), "\(context)")
      }
    }
  }

  @Test func anAccountThatIsDisabledWhileItsPasswordIsCheckedDoesNotSignIn() throws {
    let identity = TestIdentity()
    let id = try identity.signUp().text("localId")
    let record = try #require(identity.store.accounts[id])
    let call = IdentityCall(
      .signInWithPassword, CallFields(["email": "ada@x.org", "password": "secret123"]))
    func decide(_ done: [PasswordWork: PasswordResult]) throws(IdentityStop) {
      let context = IdentityContext(
        policy: identity.policy, now: identity.now, claims: TestIdentity.claims,
        customClaims: { _ in .failure(.invalid("")) }, done: done)
      var decider = IdentityDecider(
        call, context, identity.store, random: SeededRandom(seed: 1))
      _ = try decider.decide()
    }
    let done: [PasswordWork: PasswordResult] = [
      .verify("secret123", record.password): .verified(true)
    ]
    try decide(done)
    identity.store.accounts[id]?.isDisabled = true
    do throws(IdentityStop) {
      try decide(done)
      Issue.record("It signed in.")
    } catch {
      guard case .error(let error) = error else { throw error }
      #expect(error.message == "USER_DISABLED")
    }
    // The check of a password that was changed meanwhile counts for nothing.
    identity.store.accounts[id]?.isDisabled = false
    identity.store.accounts[id]?.password = identity.hash(of: "another")
    do throws(IdentityStop) {
      try decide(done)
      Issue.record("It signed in.")
    } catch {
      guard case .work(let work) = error else { throw error }
      #expect(work == [.verify("secret123", identity.hash(of: "another"))])
    }
  }
}
