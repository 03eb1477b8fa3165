import Crypto
import CryptoExtras
import Glibc
import RunnelDatabase
import RunnelIdentity
import Synchronization

/// The functions that hash passwords.
enum PasswordFunctions {
  private static let saltBytes = 16
  private static let keyBytes = 32

  /// Makes the hash of a new password.
  static func make(_ password: String, _ cost: ScryptCost) throws -> PasswordHash {
    var random = SystemRandomNumberGenerator()
    let salt = (0..<saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let hash = PasswordHash(.scrypt(cost), salt: salt, key: [])
    return PasswordHash(
      .scrypt(cost), salt: salt, key: try key(of: password, hash, count: keyBytes))
  }

  /// True if a password fits a hash; the comparison takes the same time whatever differs.
  static func verify(_ password: String, _ hash: PasswordHash) throws -> Bool {
    let found = try key(of: password, hash, count: hash.key.count)
    guard found.count == hash.key.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(found, hash.key) { difference |= a ^ b }
    return difference == 0
  }

  /// Does the work by which the check of a cheaper hash is less than that of a new one, so that the
  /// time does not tell that there is an account whose password was hashed elsewhere.
  ///
  /// A dearer hash takes longer all the same.
  static func level(_ password: String, _ hash: PasswordHash, to cost: ScryptCost) throws {
    for part in hash.function.parts(upTo: cost) { try pretend(password, part) }
  }

  /// Takes as long as the check of a password.
  static func pretend(_ password: String, _ cost: ScryptCost) throws {
    _ = try key(
      of: password,
      PasswordHash(.scrypt(cost), salt: Array(repeating: 0, count: saltBytes), key: []),
      count: keyBytes)
  }

  private static func key(
    of password: String, _ hash: PasswordHash, count: Int
  ) throws -> [UInt8] {
    let text = Array(password.utf8)
    switch hash.function {
    case .scrypt(let cost): return try scrypt(text, hash.salt, cost, count: count)
    case .firebase(let signerKey, let separator, let rounds, let logMemory):
      // Source: Firebase, "scrypt", README.
      let cost = ScryptCost(logRounds: logMemory, blockSize: rounds, parallelism: 1)
      let derived = try scrypt(text, hash.salt + separator, cost, count: 64)
      let nonce = try AES._CTR.Nonce(nonceBytes: [UInt8](repeating: 0, count: 16))
      return Array(
        try AES._CTR.encrypt(
          signerKey, using: SymmetricKey(data: Array(derived.prefix(32))), nonce: nonce))
    case .pbkdf2(let rounds):
      let key = try KDF.Insecure.PBKDF2.deriveKey(
        from: text, salt: hash.salt, using: .sha256, outputByteCount: count,
        unsafeUncheckedRounds: rounds)
      return key.withUnsafeBytes { Array($0) }
    case .hmac(let secret, let isSaltFirst):
      return Array(
        HMAC<SHA256>.authenticationCode(
          for: isSaltFirst ? hash.salt + text : text + hash.salt,
          using: SymmetricKey(data: secret)))
    }
  }

  private static func scrypt(
    _ text: [UInt8], _ salt: [UInt8], _ cost: ScryptCost, count: Int
  ) throws -> [UInt8] {
    let key = try KDF.Scrypt.deriveKey(
      from: text, salt: salt, outputByteCount: count, rounds: 1 << cost.logRounds,
      blockSize: cost.blockSize, parallelism: cost.parallelism)
    return key.withUnsafeBytes { Array($0) }
  }
}

/// The threads that work with passwords: two, and a bounded number of requests that wait for them.
///
/// Clients take turns, and of one client those who make passwords and those who check them. So a flood
/// of sign-ups lets others wait for a few of them only. The threads have a low priority: databases come
/// first.
///
/// Any thread may use it.
final class PasswordPool: Sendable {
  private static let threadCount = 2
  /// The most requests that wait.
  static let waitingMax = 64
  /// How much the threads give way to others; see `setpriority`.
  private static let niceness: Int32 = 10

  /// The error that the work had to give way to that of others.
  struct GaveWay: Error {}

  typealias Results = [PasswordWork: PasswordResult]

  private struct Job: Sendable {
    var work: [PasswordWork]
    var done: @Sendable (Result<Results, any Error>) -> Void
  }

  private struct State {
    var idle: [Int] = Array(0..<PasswordPool.threadCount)
    var waiting = FairQueue<Job>(countMax: PasswordPool.waitingMax)
  }

  private let threads: [TreeExecutor]
  private let cost: ScryptCost
  private let state = Mutex(State())

  /// Starts the threads.
  ///
  /// - Throws: `DatabaseError` if the system has no thread left.
  init(cost: ScryptCost) throws(DatabaseError) {
    self.cost = cost
    var threads: [TreeExecutor] = []
    for _ in 0..<PasswordPool.threadCount {
      let thread = try TreeExecutor(label: "runnel.password")
      // On Linux this concerns the calling thread only. If it fails, the work is done all the same.
      thread.submit {
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, PasswordPool.niceness)
      }
      threads.append(thread)
    }
    self.threads = threads
  }

  /// Does work with passwords for a client, and calls `done` on another thread; false if too many
  /// wait.
  ///
  /// `done` gets the error `GaveWay` if the work waited and had to give way to that of others.
  func submit(
    _ work: [PasswordWork], for client: String,
    _ done: @escaping @Sendable (Result<Results, any Error>) -> Void
  ) -> Bool {
    let job = Job(work: work, done: done)
    let makes = work.contains { if case .make = $0 { true } else { false } }
    let place: (thread: Int?, added: FairQueue<Job>.Added) = state.withLock { state in
      if let thread = state.idle.popLast() { return (thread, .taken) }
      return (nil, state.waiting.add(job, of: "\(makes) \(client)"))
    }
    if let thread = place.thread { start(job, on: thread) }
    switch place.added {
    case .taken: return true
    case .refused: return false
    case .replaced(let other):
      other.done(.failure(GaveWay()))
      return true
    }
  }

  private func start(_ job: Job, on thread: Int) {
    threads[thread].submit { [weak self] in
      guard let self else { return }
      let result = Result { try PasswordPool.results(of: job.work, cost: self.cost) }
      // The next work begins before the last one is answered.
      let next: Job? = state.withLock { state in
        let next = state.waiting.next()
        if next == nil { state.idle.append(thread) }
        return next
      }
      if let next { start(next, on: thread) }
      job.done(result)
    }
  }

  /// Does work on the calling thread.
  static func results(of work: [PasswordWork], cost: ScryptCost) throws -> Results {
    var results: Results = [:]
    for item in work where results[item] == nil {
      switch item {
      case .make(let password):
        results[item] = .made(try PasswordFunctions.make(password, cost))
      case .verify(let password, let hash?):
        let isRight = try PasswordFunctions.verify(password, hash)
        if !isRight { try PasswordFunctions.level(password, hash, to: cost) }
        results[item] = .verified(isRight)
      case .verify(let password, nil):
        try PasswordFunctions.pretend(password, cost)
        results[item] = .verified(false)
      }
    }
    return results
  }
}
