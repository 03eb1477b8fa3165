import RunnelBase
import RunnelIdentity
import Testing

/// Who tries too often has to wait.
@Suite struct GuardTests {
  private let pair = AttemptGuard.Name(.pair, hash: "p")
  private let account = AttemptGuard.Name(.account, hash: "a")
  private let address = AttemptGuard.Name(.address, hash: "b")
  private var all: [AttemptGuard.Name] { [pair, account, address] }

  @Test func waitsDoubleUpToALimit() {
    var attempts = AttemptGuard()
    var now: Int64 = 1_000_000
    for _ in 0..<5 { #expect(attempts.begin([pair], now: now) == 0) }
    var waits: [Int64] = []
    for _ in 0..<13 {
      let wait = attempts.begin([pair], now: now)
      waits.append(wait)
      now += wait
      #expect(attempts.begin([pair], now: now) == 0)
    }
    #expect(waits.prefix(4) == [1000, 2000, 4000, 8000])
    #expect(waits.last == 900_000)
  }

  @Test func aRefusedAttemptDoesNotCount() {
    var attempts = AttemptGuard()
    for _ in 0..<5 { #expect(attempts.begin([pair], now: 0) == 0) }
    for _ in 0..<100 { #expect(attempts.begin([pair], now: 1) == 999) }
    #expect(attempts.begin([pair], now: 1000) == 0)
  }

  @Test func aSuccessForgetsTheFailures() {
    var attempts = AttemptGuard()
    for _ in 0..<4 { #expect(attempts.begin(all, now: 0) == 0) }
    attempts.succeeded(all)
    #expect(attempts.counters[pair] == nil)
    #expect(attempts.counters[address]?.count == 3)
    for _ in 0..<5 { #expect(attempts.begin(all, now: 0) == 0) }
    #expect(attempts.begin(all, now: 0) == 1000)
  }

  /// A right password that could not be noted, because the disk is full, is no wrong one.
  @Test func anAttemptOfUnknownOutcomeDoesNotCount() {
    var attempts = AttemptGuard()
    for _ in 0..<60 {
      #expect(attempts.begin(all, now: 0) == 0)
      attempts.undecided(all)
    }
    #expect(attempts.counters.isEmpty)
    for _ in 0..<5 { #expect(attempts.begin(all, now: 0) == 0) }
    #expect(attempts.begin(all, now: 1000) == 0)
    attempts.undecided(all)
    #expect(attempts.begin(all, now: 1000) == 0)
    #expect(attempts.begin(all, now: 1000) == 2000)
  }

  @Test func attemptsAreForgottenAfterAnHour() {
    var attempts = AttemptGuard()
    for _ in 0..<5 { #expect(attempts.begin([pair], now: 0) == 0) }
    #expect(attempts.begin([pair], now: AttemptGuard.memory + 1) == 0)
    #expect(attempts.counters[pair]?.count == 1)
  }

  @Test func aClockThatGoesBackNeitherEndsAWaitNorMakesItLonger() {
    var attempts = AttemptGuard()
    let late: Int64 = 400 * 86_400_000
    for _ in 0..<5 { #expect(attempts.begin([pair], now: late) == 0) }
    #expect(attempts.begin([pair], now: late + 200) == 800)
    var other = AttemptGuard()
    other.restore(attempts.counters, now: 5000)
    for var restored in [attempts, other] {
      #expect(restored.begin([pair], now: 5000) == 1000)
      #expect(restored.begin([pair], now: 5999) == 1)
      #expect(restored.begin([pair], now: 6000) == 0)
      #expect(restored.begin([pair], now: 6000) == 2000)
    }
  }

  @Test func lockOutsAreStoredAndRestored() throws {
    var attempts = AttemptGuard()
    for _ in 0..<4 { _ = attempts.begin([pair], now: 0) }
    #expect(attempts.takeChanges().isEmpty)
    _ = attempts.begin([pair], now: 0)
    let changes = attempts.takeChanges()
    let counter = try #require(changes[pair] ?? nil)
    var other = AttemptGuard()
    other.restore([pair: counter], now: 10)
    #expect(other.begin([pair], now: 10) == 990)
    other.succeeded([pair])
    let removed = other.takeChanges()
    #expect(removed.count == 1)
    #expect(removed[pair] == .some(nil))
  }

  @Test func memoryIsBounded() {
    var attempts = AttemptGuard()
    for number in 0..<(AttemptGuard.counterMax + 1000) {
      _ = attempts.begin([AttemptGuard.Name(.pair, hash: String(number))], now: Int64(number))
    }
    #expect(attempts.counters.count <= AttemptGuard.counterMax)
    let newest = String(AttemptGuard.counterMax + 999)
    #expect(attempts.counters[AttemptGuard.Name(.pair, hash: newest)] != nil)
  }

  @Test func knownAndUnknownAccountsAreCountedAlike() {
    func names(_ email: String) -> [AttemptGuard.Name] {
      AttemptNames.of(
        IdentityCall(.signInWithPassword, CallFields(["email": .string(email)])), from: "1.2.3.4",
        user: nil)
    }
    #expect(names("A@x.org") == names("a@x.org"))
    #expect(names("b@x.org").map(\.subject) == [.pair, .account, .address])
    #expect(names("a@x.org").last == names("b@x.org").last)
    #expect(AttemptNames.of(IdentityCall(.lookup), from: "1", user: "u").isEmpty)
  }

  @Test func mailsAreCountedByWhoeverGetsThemAndAsksForThem() {
    func names(_ body: JSONValue, _ user: String?) -> [AttemptGuard.Name] {
      AttemptNames.of(IdentityCall(.sendOobCode, CallFields(body)), from: "1.2.3.4", user: user)
    }
    let reset = names(["requestType": "PASSWORD_RESET", "email": "Ada@x.org"], nil)
    #expect(reset.map(\.subject) == [.question, .mail])
    let change = names(
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "ada@x.org"], "bo")
    #expect(change.map(\.subject) == [.question, .mail, .mail])
    #expect(change[1] == reset[1])
    let verify = names(["requestType": "VERIFY_EMAIL"], "bo")
    #expect(verify.last == change.last)
    let update = IdentityCall(.update, CallFields(["email": "x@x.org"]))
    #expect(AttemptNames.of(update, from: "1.2.3.4", user: "bo").first == reset[0])
    #expect(AttemptNames.of(IdentityCall(.update), from: "1.2.3.4", user: "bo").isEmpty)
  }

  @Test func questionsAboutAddressesAreCountedFromAnywhere() {
    for operation in [IdentityOperation.update, .signUp] {
      func names(_ email: String, _ address: String, _ user: String?) -> [AttemptGuard.Name] {
        AttemptNames.of(
          IdentityCall(operation, CallFields(["email": .string(email)])), from: address, user: user)
      }
      var attempts = AttemptGuard()
      // One token, from a new place for each address that is asked about.
      var waits = (0..<150).map { number in
        attempts.begin(names("u\(number)@x.org", "10.0.0.\(number)", "bo"), now: 0)
      }
      #expect(waits.prefix(60).allSatisfy { $0 == 0 } && waits.dropFirst(60).allSatisfy { $0 > 0 })
      // One address is asked about, from everywhere.
      attempts = AttemptGuard()
      waits = (0..<150).map { number in
        attempts.begin(names("Ana@x.org", "10.0.0.\(number)", nil), now: 0)
      }
      #expect(waits.prefix(60).allSatisfy { $0 == 0 } && waits.dropFirst(60).allSatisfy { $0 > 0 })
    }
    let anonymous = AttemptNames.of(IdentityCall(.signUp), from: "1.2.3.4", user: nil)
    #expect(anonymous.count == 1)
  }

  // MARK: Keys

  @Test func keysAreMadePublishedUsedAndDropped() {
    let day: Int64 = 86_400_000
    var keys: [KeyRing.Entry] = []
    var (now, signers) = (Int64(0), [String]())
    for number in 0..<400 {
      now = Int64(number) * day
      if KeyRing(keys).needsKey(now: now) {
        keys.append(KeyRing.Entry(id: "k\(keys.count)/\(number)", time: now))
      }
      let ring = KeyRing(keys)
      let expired = ring.expired(now: now)
      keys.removeAll { expired.contains($0.id) }
      let signer = ring.signer(now: now) ?? ""
      #expect(keys.contains { $0.id == signer })
      if signers.last != signer {
        // A key that takes over was published a day before.
        if let entry = keys.first(where: { $0.id == signer }), !signers.isEmpty {
          #expect(entry.time == now - KeyRing.lead)
        }
        signers.append(signer)
      }
      // Whatever was signed in the last 14 days can be verified.
      if signers.count > 1, let entry = keys.first(where: { $0.id == signer }),
        now - entry.time < 14 * day + KeyRing.lead
      {
        #expect(keys.contains { $0.id == signers[signers.count - 2] })
      }
      #expect(keys.count <= 3)
    }
    #expect(signers.count == 14)
  }

  @Test func theFirstKeySignsAtOnce() {
    #expect(KeyRing([]).signer(now: 0) == nil)
    #expect(KeyRing([KeyRing.Entry(id: "a", time: 5)]).signer(now: 5) == "a")
    // A clock that went back changes nothing.
    #expect(KeyRing([KeyRing.Entry(id: "a", time: 5)]).signer(now: 0) == "a")
  }

  // MARK: Hashes

  @Test func hashesHaveATextForm() {
    let functions: [PasswordHash.Function] = [
      .scrypt(.standard), .pbkdf2(rounds: 100_000),
      .firebase(signerKey: [1, 2], separator: [3], rounds: 8, logMemory: 14),
      .firebase(signerKey: [1, 2], separator: [], rounds: 8, logMemory: 14),
      .hmac(secret: [9], isSaltFirst: true), .hmac(secret: [9], isSaltFirst: false),
    ]
    for function in functions {
      for salt in [[], [1, 2, 3]] as [[UInt8]] {
        let hash = PasswordHash(function, salt: salt, key: Array(1...32))
        #expect(PasswordHash(hash.text) == hash, "\(hash.text)")
      }
    }
    let standard = PasswordHash(.scrypt(.standard), salt: [0], key: Array(repeating: 0, count: 8))
    #expect(standard.text == "$scrypt$ln=15,r=8,p=3$AA$AAAAAAAAAAA")
    for text in [
      "", "$", "$scrypt$ln=15,r=8,p=3$AA$AA", "$scrypt$ln=40,r=8,p=3$AA$AAAAAAAAAAA",
      "$scrypt$ln=20,r=32,p=16$AA$AAAAAAAAAAA", "$other$ln=15$AA$AAAAAAAAAAA",
      "$pbkdf2-sha256$i=100000000$AA$AAAAAAAAAAA",
    ] {
      #expect(PasswordHash(text) == nil, "\(text)")
    }
  }

  @Test(
    arguments: [
      (1, "in 1 second"), (119, "in 119 seconds"), (120, "in 2 minutes"), (121, "in 3 minutes"),
      (900, "in 15 minutes"),
    ] as [(Int64, String)])
  func aWaitIsToldInSecondsOrMinutes(seconds: Int64, text: String) {
    #expect(
      IdentityError.tooManyAttempts(waiting: seconds).message
        == "TOO_MANY_ATTEMPTS_TRY_LATER : Too many attempts: try again \(text)")
  }
}
