import Crypto
import CryptoExtras
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelIdentity
import RunnelServer
import Synchronization

/// Sign-ins beside the bare function that hashes passwords, and checks of tokens.
struct AccountsBenchmark {
  private static let threadCount = 2
  /// The clients that sign in at once: enough to keep both threads of the server busy.
  private static let clientCount = 4
  private static let password = "correct horse battery staple"

  let folder: TemporaryFolder
  let isQuick: Bool

  private var seconds: Double { isQuick ? 3 : 10 }
  private var accountCount: Int { isQuick ? 6 : 20 }

  func run(into report: inout Report) throws {
    let bare = try bareRate()
    let server = try ServedChild(
      file: folder.file("accounts-bench.db"),
      ["--accounts", folder.file("accounts-bench-accounts.db")])
    for number in 0..<accountCount {
      let status = try Self.ask(
        LoopbackConnection(port: server.port), "signUp", Self.email(number), Self.password)
      guard status == 200 else { throw BenchmarkError("A sign-up got \(status).") }
    }
    let rate = try signInRate(server)
    report.add(
      "sign-ins a second, \(Self.clientCount) clients", Format.decimal(rate, digits: 1),
      baseline: Format.decimal(bare, digits: 1) + " bare scrypt", ratio: rate / bare,
      aim: .atLeast(0.9))
    try compareRefusals(server, into: &report)
    try server.end()
    try addTokenChecks(to: &report)
  }

  private static func email(_ number: Int) -> String { "user\(number)@x.org" }

  // MARK: Sign-ins

  /// Hashes a second of the bare function, on as many threads as the server has.
  private func bareRate() throws -> Double {
    let cost = ScryptCost.standard
    return try rate(threadCount: Self.threadCount) { _ in
      {
        _ = try KDF.Scrypt.deriveKey(
          from: Array(Self.password.utf8), salt: Array("0123456789abcdef".utf8),
          outputByteCount: 32, rounds: 1 << cost.logRounds, blockSize: cost.blockSize,
          parallelism: cost.parallelism)
      }
    }
  }

  private func signInRate(_ server: ServedChild) throws -> Double {
    let port = server.port
    return try rate(threadCount: Self.clientCount) { thread in
      let connection = try LoopbackConnection(port: port)
      return {
        let status = try Self.ask(
          connection, "signInWithPassword", Self.email(thread), Self.password)
        guard status == 200 else { throw BenchmarkError("A sign-in got \(status).") }
      }
    }
  }

  /// How often a second some threads do something; each prepares it for itself.
  private func rate(
    threadCount: Int, _ prepare: @escaping @Sendable (Int) throws -> (() throws -> Void)
  ) throws -> Double {
    let counts = Mutex(0)
    let failure = Mutex<(any Error)?>(nil)
    let start = Timing.now
    let threads = try (0..<threadCount).map { _ in try TreeExecutor(label: "bench") }
    for (number, thread) in threads.enumerated() {
      thread.submit {
        do {
          let body = try prepare(number)
          while Timing.seconds(since: start) < seconds {
            try body()
            counts.withLock { $0 += 1 }
          }
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    for thread in threads { thread.submitAndWait {} }
    if let error = failure.withLock({ $0 }) { throw error }
    return Double(counts.withLock { $0 }) / Timing.seconds(since: start)
  }

  /// Sends a request; returns the status.
  private static func ask(
    _ connection: LoopbackConnection, _ operation: String, _ email: String, _ password: String
  ) throws -> Int {
    let body = "{\"email\":\"\(email)\",\"password\":\"\(password)\"}"
    try connection.send(
      Array(
        """
        POST /v1/accounts:\(operation)?key=k HTTP/1.1\r
        Host: localhost\r
        Content-Type: application/json\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """.utf8))
    let head = String(decoding: try connection.read(through: "\r\n\r\n"), as: UTF8.self)
    let line = head.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    let name = "content-length: "
    let lower = head.lowercased()
    if let start = lower.firstRange(of: name)?.upperBound {
      let digits = lower[start...].prefix { $0.isNumber }
      try connection.read(Int(digits) ?? 0)
    }
    return line ?? 0
  }

  // MARK: Refusals

  /// Compares the times of refusals for known and unknown accounts.
  private func compareRefusals(_ server: ServedChild, into report: inout Report) throws {
    var (known, unknown) = (Samples(), Samples())
    // Few enough attempts for each account, and for the address, that nobody has to wait.
    for number in 0..<accountCount {
      let connection = try LoopbackConnection(port: server.port)
      for isKnown in number.isMultiple(of: 2) ? [true, false] : [false, true] {
        let email = isKnown ? Self.email(number) : "nobody\(number)@x.org"
        let start = Timing.now
        _ = try Self.ask(connection, "signInWithPassword", email, "wrong")
        let seconds = Timing.seconds(since: start)
        if isKnown { known.add(seconds) } else { unknown.add(seconds) }
      }
    }
    report.add(
      "refused sign-in, known account", known.summary, baseline: unknown.summary + " unknown",
      ratio: known.median / unknown.median, aim: .below(1.1, "1.1"))
  }

  // MARK: Tokens

  private func addTokenChecks(to report: inout Report) throws {
    let policy = IdentityPolicy(
      project: "bench", issuer: "https://id.example", isEmulator: false)
    let tokens = IssuedTokens(policy)
    let now: Int64 = 1_750_000_000_000
    tokens.take([
      IssuingKey(entry: KeyRing.Entry(id: "key", time: 0), key: P256.Signing.PrivateKey())
    ])
    // Fewer than the server remembers.
    let texts = (0..<(isQuick ? 1000 : 8000)).compactMap { number in
      tokens.sign(AccountsBenchmark.claims(number, policy), now: now)
    }
    let fresh = try AccountsBenchmark.rate(of: texts, tokens, now)
    report.add(
      "token checks a second on one core, by ES256", Format.decimal(fresh, digits: 0),
      value: fresh, aim: .atLeast(3000))
    let known = try AccountsBenchmark.rate(of: texts, tokens, now)
    report.add(
      "token checks a second on one core, known tokens", Format.decimal(known, digits: 0),
      value: known, aim: .atLeast(20_000))
  }

  private static func claims(_ number: Int, _ policy: IdentityPolicy) -> JSONValue {
    let id = JSONValue.string("Xk0abcdefghijklmnopqrst\(number)")
    return [
      "email": "person@example.com", "email_verified": true, "auth_time": 1_750_000_000,
      "user_id": id, "sub": id, "iat": 1_750_000_000, "exp": 1_750_003_600,
      "firebase": [
        "identities": ["email": ["person@example.com"]], "sign_in_provider": "password",
      ],
      "aud": .string(policy.project), "iss": .string(policy.issuer),
    ]
  }

  private static func rate(
    of texts: [String], _ tokens: IssuedTokens, _ now: Int64
  ) throws -> Double {
    let start = Timing.now
    for text in texts {
      guard try tokens.verify(text, now: now) != nil else {
        throw BenchmarkError("A token is not accepted.")
      }
    }
    return Double(texts.count) / Timing.seconds(since: start)
  }
}
