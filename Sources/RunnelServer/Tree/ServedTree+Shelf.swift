import RunnelDatabase
import RunnelSync
import RunnelTree

// What was computed before, and reads that are too large for the tree's thread.

extension ServedTree {
  /// The bytes of JSON from which on a read is too large for the tree's thread.
  static let largeBytes = 131_072
  /// The most places that are known to be large.
  private static let largePlacesMax = 1000

  /// The hash of a query's result; that of a large place is computed once until something is written
  /// there.
  mutating func hash(
    of query: Query, _ transaction: some ServedTransaction
  ) throws(TreeError) -> String {
    if query.loadsAllData, let hash = shelf.hash(of: query.path) { return hash }
    let hash = try transaction.contentHash(of: query)
    // A small place is hashed as fast as its hash is found.
    if query.loadsAllData, try transaction.smallNode(at: query.path) == nil {
      shelf.keep(hash: hash, of: query.path)
    }
    return hash
  }

  /// The answer to a listen as far as it was computed before; nil if the tree must be read.
  func keptAnswer(_ query: Query, _ known: KnownHash, _ sent: Query?) -> ListenAnswer? {
    guard sent == nil, query.loadsAllData else { return nil }
    if let hash = shelf.hash(of: query.path) {
      if hash == known.whole { return .unchanged }
      if known.ranges != nil { return nil }
    } else if !ListenAnswer.needsAll(known) {
      return nil
    }
    return shelf.push(of: query.path).map(ListenAnswer.encoded)
  }

  /// True if a job reads so much that it must not be done on the tree's thread.
  mutating func isLarge(
    _ job: TreeJob, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    guard let request = job.readRequest else { return false }
    return try isLarge(request, transaction)
  }

  /// True if a request reads so much that it must not be answered on the tree's thread.
  ///
  /// Complexity: O(1) in most cases, else O(`largeBytes`).
  private mutating func isLarge(
    _ request: ServedRequest, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    if transaction.storedBytes <= ServedTree.largeBytes { return false }
    let query: Query
    switch request.operation {
    case .listen(_, let asked, let known):
      let sent = isIndexed(asked, transaction) ? nil : Query(asked.path)
      if keptAnswer(asked, known, sent) != nil { return false }
      query = sent ?? asked
    case .get(let asked): query = asked
    case .unlisten, .write, .compareAndSet, .keepForDisconnect, .review, .leave: return false
    }
    // A window is read for its audience anyway.
    guard query.loadsAllData else { return false }
    if largePlaces.contains(query.path) { return true }
    if try transaction.smallNode(at: query.path) != nil { return false }
    var export = TreeExport(Query(query.path), form: .export)
    var count = 0
    while let piece = try export.next(from: transaction) {
      count += piece.count
      if count <= ServedTree.largeBytes { continue }
      if largePlaces.count >= ServedTree.largePlacesMax { largePlaces = [] }
      largePlaces.insert(query.path)
      return true
    }
    return false
  }

  /// Begins a large read: asks the rules, and joins the audience of a listen.
  ///
  /// - Returns: the read; nil if the request was answered or refused, with a message.
  /// - Throws: errors that make the batch fail.
  mutating func beginRead(
    _ request: ServedRequest, of connection: Int64, now: Int64,
    _ transaction: some ServedTransaction,
    _ told: inout TreeTold
  ) throws -> SlowRead.Wish? {
    do throws(Refused) {
      if try failing({ try !isLarge(request, transaction) }) {
        told += try failing { try perform(request, of: connection, now: now, transaction) }
        return nil
      }
      return try refusing { () throws(TreeError) in
        try wish(request, connection, now, transaction)
      }
    } catch {
      told.append((connection, .told(.answer(request.id, .refused(try error.refusal())))))
      return nil
    }
  }

  private mutating func wish(
    _ request: ServedRequest, _ connection: Int64, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws(TreeError) -> SlowRead.Wish? {
    var wish: SlowRead.Wish
    switch request.operation {
    case .listen(let listen, let query, let known):
      try checkRead(query, request.caller, now: now, transaction)
      wish = SlowRead.Wish(
        connection: connection, id: request.id, caller: request.caller, query: query)
      wish.sent = isIndexed(query, transaction) ? nil : Query(query.path)
      let member = Audiences.Member(connection: connection, listen: listen)
      try join(member, query, sent: wish.sent, transaction)
      wish.listen = (member, known)
      if wish.sent == nil, query.loadsAllData {
        wish.hash = shelf.hash(of: query.path)
        wish.ticket = shelf.begin(query.path)
      }
    case .get(let query):
      try checkRead(query, request.caller, now: now, transaction)
      try checkIndex(query, transaction)
      wish = SlowRead.Wish(
        connection: connection, id: request.id, caller: request.caller, query: query)
    case .unlisten, .write, .compareAndSet, .keepForDisconnect, .review, .leave:
      preconditionFailure("Only listens and reads are large.")
    }
    return wish
  }

  /// Ends a large read: keeps what was computed; a listen that was refused leaves its audience.
  mutating func end(_ wish: SlowRead.Wish, _ outcome: SlowRead.Outcome) {
    if let ticket = wish.ticket {
      shelf.keep(hash: outcome.hash, push: outcome.push, of: wish.query.path, ticket: ticket)
    }
    if let push = outcome.push, push.byteCount < ServedTree.largeBytes {
      largePlaces.remove(wish.query.path)
    }
    if case .refused = outcome.answer, let (member, _) = wish.listen { leave(member) }
  }
}
