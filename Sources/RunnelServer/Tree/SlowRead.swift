import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// A listen, a read or a stream that is too large for the tree's thread, answered on another one from one state
/// of the tree: that of a file when it began, or a newer one of a store, which names its newest change.
final class SlowRead: Sendable {
  /// The read to carry out; the rules were asked before.
  struct Wish: Sendable {
    /// The connection, and the number of its request.
    var connection: Int64
    var id: Int64
    var caller: Caller
    var query: Query
    /// The query whose result is sent, if another one because an index is missing.
    var sent: Query?
    /// The listen, which has joined its audience, and the hashes that its client knows; nil for a read.
    var listen: (member: Audiences.Member, known: KnownHash)?
    /// The form of a stream's first event; nil for what is no stream.
    var stream: TreeExport.Form?
    /// The ticket of the place on the shelf; nil if nothing is kept.
    var ticket: Int?
    /// The hash of the result, if it is known.
    var hash: String?
    /// The room for the answer; nil for a stream.
    var room: ReadRoom?
    /// The rules by which the read was allowed; those of a store are asked again in the state that is read.
    var rules: (engine: RulesEngine?, version: Int, now: Int64)

    /// True if a message to the connection is about what is read.
    func isTold(by news: TreeNews) -> Bool {
      if stream != nil { return true }
      guard let member = listen?.member, case .told(.push(member.listen, _)) = news else {
        return false
      }
      return true
    }

    /// The message with the answer.
    func news(_ answer: ServedAnswer) -> TreeNews {
      if stream == nil { return .told(.answer(id, answer)) }
      switch answer {
      case .text(let text): return .answered(.answer(.streamingText(text)))
      case .refused(let error): return .answered(.answer(.refused(error)))
      default: preconditionFailure("A stream is answered by a text, or refused.")
      }
    }
  }

  /// The result of a read.
  struct Outcome: Sendable {
    var answer: ServedAnswer
    /// The hash of all that is at the place; nil if it was not computed.
    var hash: String?
    /// The answer to one who has nothing; nil if this was another one.
    var push: EncodedPush?
    /// The number of the newest change in the state that was read; nil if changes have no numbers.
    var head: Int64?
    /// True if the database could not be read.
    var hasFailed = false
  }

  let wish: Wish
  private let place: ServedPlace
  /// The number of the newest change when the read began; nil if changes have no numbers.
  private let head: Int64?
  private let snapshot: Mutex<(any ServedSnapshot)?>
  private let outcome = Mutex<Outcome?>(nil)

  /// Begins a read after the change with a number; that of a file is of its present state.
  ///
  /// A store is not opened yet, because that takes round trips.
  ///
  /// - Throws: `DatabaseError` if a file cannot be opened.
  init(_ wish: Wish, of place: ServedPlace, after head: Int64?) throws {
    (self.wish, self.place, self.head) = (wish, place, head)
    snapshot = Mutex(place.file == nil ? nil : try place.snapshot())
  }

  /// Reads; called once, on the thread of large reads.
  ///
  /// `notice` is told before a store is opened, and again before anything is read.
  func run(_ allowance: TreeAllowance, _ notice: (@Sendable (_ isOpen: Bool) -> Void)? = nil) {
    let outcome = snapshot.withLock { (snapshot) -> Outcome in
      defer {
        // A connection that only read can be closed without loss, even if closing fails.
        try? snapshot?.close()
        snapshot = nil
      }
      do {
        if snapshot == nil {
          notice?(false)
          snapshot = try place.snapshot()
        }
        notice?(true)
        guard let snapshot else { return SlowRead.failed }
        let isSame = snapshot.head == head
        let rules = place.file == nil ? wish.rules.engine : nil
        let read = try snapshot.read { transaction in
          Result { () throws(TreeError) in
            try answer(ServedTree(rules: rules, allowance), isSame: isSame, transaction)
          }
        }
        var outcome = try read.get()
        outcome.head = snapshot.head
        return outcome
      } catch let error as TreeError where error.code != .storage {
        return Outcome(answer: .refused(error))
      } catch {
        return SlowRead.failed
      }
    }
    self.outcome.withLock { $0 = outcome }
  }

  private static let failed = Outcome(
    answer: .refused(TreeError(.unavailable, "The database cannot be read now: try again later.")),
    hasFailed: true)

  /// Takes the outcome; nil while it is not there, and after it was taken.
  func takeOutcome() -> Outcome? { outcome.withLock { $0.take() } }

  private func answer(
    _ tree: ServedTree, isSame: Bool, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Outcome {
    try tree.checkRead(wish.query, wish.caller, now: wish.rules.now, transaction)
    if let sent = wish.sent {
      try tree.checkSent(sent, of: wish.query, wish.caller, now: wish.rules.now, transaction)
    }
    try tree.checkSize(wish.sent ?? wish.query, wish.caller, transaction)
    guard let (_, known) = wish.listen else {
      var export = TreeExport(wish.query, form: wish.stream ?? .export)
      var text: [UInt8] = []
      while let piece = try export.next(from: transaction) { text += piece }
      return Outcome(answer: .text(text))
    }
    var hash = isSame ? wish.hash : nil
    let answer = try ListenAnswer(
      wish.query, known: known, sentQuery: wish.sent, reader: transaction
    ) { (query) throws(TreeError) in
      if let hash { return hash }
      let found = try transaction.contentHash(of: query)
      hash = found
      return found
    }
    let encoded = answer.encoded(of: wish.query)
    var push: EncodedPush?
    if case .all = answer, case .encoded(let all) = encoded { push = all }
    return Outcome(
      answer: .listening(encoded, isIndexed: wish.sent == nil), hash: hash, push: push)
  }
}
