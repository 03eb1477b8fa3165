import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// A listen, a read or a stream that is too large for the tree's thread, answered on another one from
/// the state in which the tree was when it began.
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
  }

  let wish: Wish
  private let snapshot: Mutex<ServingSnapshot?>
  private let outcome = Mutex<Outcome?>(nil)

  /// Begins to read the present state of a file.
  ///
  /// - Throws: `DatabaseError` if it cannot be opened.
  init(_ wish: Wish, file: String) throws {
    self.wish = wish
    snapshot = Mutex(try ServingSnapshot(file: file, environment: .system))
  }

  /// Reads; called once, on the thread of large reads.
  func run(_ allowance: TreeAllowance) {
    let outcome = snapshot.withLock { (snapshot) -> Outcome in
      defer {
        // A connection that only read can be closed without loss, even if closing fails.
        try? snapshot?.close()
        snapshot = nil
      }
      do {
        guard let snapshot else { return SlowRead.failed }
        let read = try snapshot.read { transaction in
          Result { () throws(TreeError) in
            try answer(ServedTree(rules: nil, allowance), transaction)
          }
        }
        return try read.get()
      } catch let error as TreeError where error.code != .storage {
        return Outcome(answer: .refused(error))
      } catch {
        return SlowRead.failed
      }
    }
    self.outcome.withLock { $0 = outcome }
  }

  private static let failed = Outcome(
    answer: .refused(TreeError(.unavailable, "The database cannot be read now: try again later.")))

  /// Takes the outcome; nil while it is not there, and after it was taken.
  func takeOutcome() -> Outcome? { outcome.withLock { $0.take() } }

  private func answer(
    _ tree: ServedTree, _ transaction: ServingTransaction
  ) throws(TreeError) -> Outcome {
    try tree.checkSize(wish.sent ?? wish.query, wish.caller, transaction)
    guard let (_, known) = wish.listen else {
      var export = TreeExport(wish.query, form: wish.stream ?? .export)
      var text: [UInt8] = []
      while let piece = try export.next(from: transaction) { text += piece }
      return Outcome(answer: .text(text))
    }
    var hash = wish.hash
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
