import RunnelDatabase
import RunnelSync
import RunnelTree

// What was computed before, and reads that are too large for the tree's thread.

extension ServedTree {
  /// The bytes of JSON from which on a read is too large for the tree's thread.
  static let largeBytes = 131_072
  /// The most children of a limited window of a large place that is read on the tree's thread.
  private static let windowRowsMax = 1000
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
    if let stream = job.streamed { return try isLarge(stream.query, transaction) }
    guard let request = job.readRequest else { return false }
    return try isLarge(request, transaction)
  }

  /// True if a request reads so much that it must not be answered on the tree's thread.
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
    case .get(let asked):
      if try isLargeWindow(asked, transaction) { return true }
      query = asked
    case .unlisten, .write, .writeIf, .compareAndSet, .keepForDisconnect, .review, .doDisconnects,
      .leave:
      return false
    }
    return try isLarge(query, transaction)
  }

  /// True if a query shows all of a large place; a window is read for its audience anyway.
  private mutating func isLarge(
    _ query: Query, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    guard query.loadsAllData else { return false }
    return try isLarge(query.path, transaction)
  }

  /// True if a query may show very many children of a large place, which nobody follows.
  mutating func isLargeWindow(
    _ query: Query, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    if query.loadsAllData || query.limit?.count ?? .max <= ServedTree.windowRowsMax { return false }
    return try isLarge(query.path, transaction)
  }

  /// True if a place has so much that it must not be read on the tree's thread.
  ///
  /// Complexity: O(1) in most cases, else O(`largeBytes`).
  private mutating func isLarge(
    _ path: Path, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    if transaction.storedBytes <= ServedTree.largeBytes { return false }
    if largePlaces.contains(path) { return true }
    if try transaction.smallNode(at: path) != nil { return false }
    var export = TreeExport(Query(path), form: .export)
    var count = 0
    while let piece = try export.next(from: transaction) {
      count += piece.count
      if count <= ServedTree.largeBytes { continue }
      if largePlaces.count >= ServedTree.largePlacesMax { largePlaces = [] }
      largePlaces.insert(path)
      return true
    }
    return false
  }

  /// Begins a large read: asks the rules, and joins the audience of a listen or a stream.
  ///
  /// - Returns: the read; nil if the request was answered or refused, with a message.
  /// - Throws: errors that make the batch fail.
  mutating func beginRead(
    _ job: TreeJob, now: Int64, _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws -> SlowRead.Wish? {
    let connection = job.connection
    do throws(Refused) {
      let isSlow = try failing { try isLarge(job, transaction) }
      if let request = job.readRequest {
        if isSlow {
          return try refusing { () throws(TreeError) in
            try wish(request, connection, now, transaction)
          }
        }
        told += try failing { try perform(request, of: connection, now: now, transaction) }
      } else if let (query, form, caller) = job.streamed {
        if isSlow {
          return try refusing { () throws(TreeError) in
            try checkRead(query, caller, now: now, transaction)
            try checkIndex(query, transaction)
            try joinStream(query, caller, connection, transaction)
            var wish = SlowRead.Wish(
              connection: connection, id: 0, caller: caller, query: query,
              rules: (rules, rulesVersion, now))
            wish.stream = form
            return wish
          }
        }
        told += try failing {
          try perform(
            .stream(query, form: form), for: caller, of: connection, now: now, transaction)
        }
      }
    } catch {
      told.append((connection, job.refused(try error.refusal())))
    }
    return nil
  }

  private mutating func wish(
    _ request: ServedRequest, _ connection: Int64, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws(TreeError) -> SlowRead.Wish? {
    var wish: SlowRead.Wish
    switch request.operation {
    case .listen(let listen, let query, let known):
      let sent = try checkListen(query, request.caller, now: now, transaction)
      wish = SlowRead.Wish(
        connection: connection, id: request.id, caller: request.caller, query: query,
        rules: (rules, rulesVersion, now))
      wish.sent = sent
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
        connection: connection, id: request.id, caller: request.caller, query: query,
        rules: (rules, rulesVersion, now))
    case .unlisten, .write, .writeIf, .compareAndSet, .keepForDisconnect, .review, .doDisconnects,
      .leave:
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
    if case .refused = outcome.answer { leave(wish) }
  }

  /// Ends what a large read joined.
  mutating func leave(_ wish: SlowRead.Wish) {
    if let (member, _) = wish.listen { leave(member) }
    if wish.stream != nil { leaveAll(wish.connection) }
  }
}
