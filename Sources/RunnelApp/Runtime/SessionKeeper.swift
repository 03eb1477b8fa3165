import RunnelBase
import RunnelTerminal
import RunnelWorkspace

/// Keeps the session of a workspace while it runs: it is written a second after a change, and
/// at the end.
struct SessionKeeper {
  /// The time in milliseconds between a key and the write of the session, so that many keys cause
  /// one write.
  static let delayMilliseconds: Int64 = 1000
  /// The least and the greatest time in milliseconds between a write that failed and the next try.
  static let retryMilliseconds: ClosedRange<Int64> = 2000...5000

  private let file: SessionFile
  private var claim: SessionClaim
  /// The texts that were taken over from workspaces that are gone.
  private var taken: [KeptTexts] = []
  private var written: SessionState?
  /// The session that is being written, or nil.
  private var writing: SessionState?
  /// The time when the session is to be written, in milliseconds since 1970; nil if nothing has
  /// happened since the last write.
  private(set) var due: Int64?
  /// The time until the next try after a failure, in milliseconds; nil if the last write succeeded.
  private var retryDelay: Int64?

  /// Makes the keeper of a file; what this program typed before, and left for a while, is its own.
  init(_ file: SessionFile, _ claims: SessionClaims? = nil) {
    self.file = file
    // What prevents it is told when the session is written.
    try? file.makeFolder()
    claim = claims?.take(file.lockPath) ?? SessionClaim(file: file.lockPath)
  }

  /// Returns the session of the last time, with what was typed in workspaces that are gone, and a message
  /// if it could not be read.
  mutating func read() -> (session: SessionState?, problem: String?) {
    let (found, problem) = file.alone { isSure in
      let found = file.read()
      guard let stored = found.session else { return (found, nil as String?) }
      let (session, texts) = stored.takingOver(claim.isGone)
      (written, taken) = (session, texts)
      if texts.isEmpty { return ((session, found.problem), nil) }
      // Another workspace that starts now must not take over the same.
      let own = numbered(session).merged(with: stored, since: session, taken: texts)
      return ((session, found.problem), file.replace(with: own, isAlone: isSure))
    }
    if problem != nil { (due, retryDelay) = (0, SessionKeeper.retryMilliseconds.lowerBound) }
    return found
  }

  /// Notes that the session may have changed.
  mutating func touch(now: Int64) {
    due = due ?? now + SessionKeeper.delayMilliseconds
  }

  /// Notes that text which the session keeps was stored, or was refused: the session is written at
  /// once, so that a program that is killed then does not offer stored text as a draft.
  mutating func hasten(now: Int64) { due = min(due ?? now, now) }

  /// The time when the owner is to call `begin`; nil while nothing has happened, and while a write is
  /// under way, whose end is reported.
  var deadline: Int64? { writing == nil ? due : nil }

  /// Returns the task that writes the session if it is time, or nil; its report must be given to
  /// `end`.
  ///
  /// Only one write runs at a time: while a slow disk writes, the next write waits.
  mutating func begin(_ session: @autoclosure () -> SessionState, now: Int64) -> FileTask? {
    guard writing == nil, let due, due <= now else { return nil }
    self.due = nil
    let session = session()
    guard session != written || retryDelay != nil else { return nil }
    writing = session
    claim.retry(file: file.lockPath)
    return .keep(SessionWrite(numbered(session), since: written, taken: taken, file))
  }

  /// Ends a write of the session; one that failed is tried again after a while, without a key.
  mutating func end(_ problem: String?, now: Int64) {
    if problem == nil {
      (written, retryDelay) = (writing, nil)
    } else {
      let range = SessionKeeper.retryMilliseconds
      let delay = retryDelay.map { min($0 * 2, range.upperBound) } ?? range.lowerBound
      (due, retryDelay) = (now + delay, delay)
    }
    writing = nil
  }

  /// Writes the session at the end of the program, if it differs from the last one written; returns a
  /// message if it cannot be written.
  mutating func writeLast(_ session: SessionState) -> String? {
    if session == written, retryDelay == nil { return nil }
    let problem = file.write(numbered(session), since: written, taken: taken)
    if problem == nil { (written, retryDelay) = (session, nil) }
    return problem
  }

  /// Writes the session for the last time, and leaves what was typed to the next workspace that starts; with
  /// `claims`, to this program alone while it runs.
  mutating func finish(_ session: SessionState, keeping claims: SessionClaims? = nil) {
    // Nobody is there to be told any more.
    _ = writeLast(session)
    if let claims { claims.keep(claim, of: file.lockPath) } else { leave() }
  }

  /// Leaves what is in the file to the next workspace that starts.
  func leave() { claim.release() }

  /// Returns the session as that of this workspace.
  private func numbered(_ session: SessionState) -> SessionState {
    var own = session
    own.writer = claim.number
    return own
  }
}

/// A session that is to be written on another thread.
struct SessionWrite: Sendable {
  private let session: SessionState
  private let base: SessionState?
  private let taken: [KeptTexts]
  private let file: SessionFile

  init(_ session: SessionState, since base: SessionState?, taken: [KeptTexts], _ file: SessionFile)
  {
    (self.session, self.base, self.taken, self.file) = (session, base, taken, file)
  }

  /// Writes it; returns a message if it cannot be written.
  func write() -> String? { file.write(session, since: base, taken: taken) }
}

/// The number of a workspace among those that keep one session, which shows that it still runs: the byte
/// with its number is locked until it ends, in whatever way that ends.
struct SessionClaim {
  /// The byte that is locked by who writes the session.
  static let writingByte: Int64 = 0
  /// Numbers that JSON keeps exactly.
  private static let numbers: Range<Int64> = 1..<(1 << 53)

  let number: Int64
  /// The locks; nil if their file cannot be made.
  private var lock: ByteLock?

  init(file: String) {
    var random = SystemRandomNumberGenerator()
    number = Int64.random(in: SessionClaim.numbers, using: &random)
    retry(file: file)
  }

  /// Makes the lock if it could not be made before.
  mutating func retry(file: String) {
    if lock != nil { return }
    lock = ByteLock(file: file)
    // Without a lock, others take over what is typed here, and it is kept twice.
    _ = lock?.take(number)
  }

  /// Whether the workspace with a number has ended; true if that cannot be found out, and of this one, which begins
  /// again.
  func isGone(_ number: Int64?) -> Bool {
    guard let number, number != self.number, SessionClaim.numbers.contains(number) else {
      return true
    }
    return lock?.isTakenElsewhere(number) != true
  }

  func release() { lock?.release() }
}

/// The claims of a program on sessions that it has left for another account, and may come back to.
///
/// When a device is revoked, all its windows leave the account at once, and come back one by one: without the claims,
/// the first one would take over what was typed in the others.
final class SessionClaims {
  /// The most claims that are kept, each of which has a file open; the oldest are released first.
  private static let countMax = 16

  private var kept: [(file: String, claim: SessionClaim)] = []

  /// Keeps a claim, by the file with its locks.
  func keep(_ claim: SessionClaim, of file: String) {
    kept.append((file, claim))
    while kept.count > SessionClaims.countMax { kept.removeFirst().claim.release() }
  }

  /// Returns and removes the claim on a session; nil if none is kept.
  func take(_ file: String) -> SessionClaim? {
    guard let index = kept.firstIndex(where: { $0.file == file }) else { return nil }
    return kept.remove(at: index).claim
  }

  /// Leaves what is in the files to other programs.
  func release() {
    for (_, claim) in kept { claim.release() }
    kept = []
  }
}
