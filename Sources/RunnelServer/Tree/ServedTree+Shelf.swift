import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

// What was computed before, and reads that are too large for the tree's thread.

extension ServedTree {
  /// The bytes of JSON from which on a read is too large for the tree's thread.
  static let largeBytes = 131_072
  /// The most children of a window of a large place that is read on the tree's thread.
  private static let windowRowsMax = 1000
  /// The children of a window whose bytes are counted.
  private static let sampleRows = 8
  /// The most places that are known to be large.
  private static let largePlacesMax = 1000

  /// The hash of a query's result; that of a large place is computed once until something is written
  /// there.
  mutating func hash(
    of query: Query, _ transaction: some ServedTransaction
  ) throws(TreeError) -> String {
    if let hash = shelf.hash(of: query) { return hash }
    let hash = try transaction.contentHash(of: query)
    // A small place is hashed as fast as its hash is found.
    if query.loadsAllData, try transaction.smallNode(at: query.path) == nil {
      shelf.keep(hash: hash, of: query)
    }
    return hash
  }

  /// The answer to a listen as far as it was computed before; nil if the tree must be read.
  func keptAnswer(_ query: Query, _ known: KnownHash, _ sent: Query?) -> ListenAnswer? {
    // The first listener to a window reads it for its audience anyway.
    guard sent == nil, query.loadsAllData || audiences.hasMembers(query) else { return nil }
    if let hash = shelf.hash(of: query) {
      if hash == known.whole { return .unchanged }
      if known.ranges != nil { return nil }
    } else if !ListenAnswer.needsAll(known) {
      return nil
    }
    return shelf.push(of: query).map(ListenAnswer.encoded)
  }
}

// MARK: What is large

extension ServedTree {
  /// True if a job reads so much that it must not be done on the tree's thread.
  mutating func isLarge(
    _ job: TreeJob, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    if let stream = job.streamed { return try isLarge(stream.query, transaction) }
    switch job.readRequest?.operation {
    case .listen(_, let query, let known)?:
      let sent = isIndexed(query, transaction) ? nil : Query(query.path)
      if keptAnswer(query, known, sent) != nil { return false }
      return try isLarge(sent ?? query, transaction)
    case .get(let query)?: return try isLarge(query, transaction)
    default: return false
    }
  }

  /// True if a query reads so much that it must not be answered on the tree's thread.
  mutating func isLarge(
    _ query: Query, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    if transaction.storedBytes <= ServedTree.largeBytes { return false }
    if query.loadsAllData { return try isLarge(query.path, transaction) }
    let isInOrder =
      query.index == .key || query.index == .priority
      || transaction.hasIndex(query.index, at: query.path)
    // In another order, all children are read to find those of the window.
    if isInOrder, try isSmallWindow(query, transaction) { return false }
    return try isLarge(query.path, transaction)
  }

  /// True if a window in a stored order has few children, which are small as far as a sample tells.
  private func isSmallWindow(
    _ query: Query, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    var slice = RowSlice(query)
    let (side, most) = (query.limit?.side ?? .first, query.limit?.count ?? .max)
    slice.limit = Query.Limit(count: min(most, ServedTree.sampleRows), side: side)
    let sample = try transaction.rows(of: query.path, in: slice, detail: .stored)
    var bytes = 0
    for row in sample {
      // Children that are no single record are large.
      guard let node = row.node else { return false }
      var writer = JSONWriter()
      node.writeExport(to: &writer)
      bytes += writer.bytes.count
    }
    if sample.count < ServedTree.sampleRows { return bytes <= ServedTree.largeBytes }
    let rowsMax = min(
      ServedTree.windowRowsMax, ServedTree.largeBytes / max(1, bytes / sample.count))
    if most <= rowsMax { return true }
    if query.limit != nil { return false }
    slice.limit = Query.Limit(count: rowsMax + 1, side: side)
    return try transaction.rows(of: query.path, in: slice, detail: .shallow).count <= rowsMax
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
}

// MARK: Large reads

extension ServedTree {
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
            var wish = SlowRead.Wish(connection: connection, id: 0, caller: caller, query: query)
            wish.stream = form
            try join(&wish, ServedTree.streamMember(connection), transaction)
            streamCallers[connection] = caller
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
      try checkRead(query, request.caller, now: now, transaction)
      wish = SlowRead.Wish(
        connection: connection, id: request.id, caller: request.caller, query: query)
      wish.sent = isIndexed(query, transaction) ? nil : Query(query.path)
      let member = Audiences.Member(connection: connection, listen: listen)
      try join(&wish, member, transaction)
      wish.listen = (member, known)
      if wish.sent == nil {
        wish.hash = shelf.hash(of: query)
        wish.ticket = shelf.begin(query)
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

  /// Joins the audience of a large read; the first member of a window does so after it was read.
  private mutating func join(
    _ wish: inout SlowRead.Wish, _ member: Audiences.Member, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    let asked = Asked(query: wish.query, sent: wish.sent, caller: wish.caller)
    let shown = asked.sent ?? asked.query
    if shown.loadsAllData || audiences.hasMembers(shown) {
      return try join(member, asked, transaction)
    }
    wish.joinsLate = true
    meanwhile = WrittenMeanwhile(shown.path)
    note(member, asked)
  }

  /// Joins the audience of a window that was read elsewhere; returns what was written there since.
  mutating func joinLate(
    _ wish: SlowRead.Wish, _ window: inout EarlyWindow, _ transaction: some ServedTransaction
  ) throws(TreeError) -> TreeTold {
    let member = wish.listen?.member ?? ServedTree.streamMember(wish.connection)
    // New rules may not allow it any more.
    guard let meanwhile, asked[member.connection]?[member]?.isSilenced == false else { return [] }
    let change = try audiences.join(
      member, &window, touched: meanwhile.places, reader: transaction)
    return change.map { ServedTree.told([Audiences.Told(change: $0, members: [member])]) } ?? []
  }

  /// Ends a large read: keeps what was computed; a listen that was refused leaves its audience.
  mutating func end(_ wish: SlowRead.Wish, _ outcome: SlowRead.Outcome) {
    meanwhile = nil
    if let ticket = wish.ticket {
      shelf.keep(hash: outcome.hash, push: outcome.push, of: wish.query, ticket: ticket)
    }
    if let push = outcome.push, wish.query.loadsAllData, push.byteCount < ServedTree.largeBytes {
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
