import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

// Operations of sessions. Source: wire protocol, sections A4 to A6 and A9.

extension ServedTree {
  /// Carries out a request of a session.
  ///
  /// - Returns: the messages to connections, in order.
  /// - Throws: errors that make the batch fail.
  mutating func perform(
    _ request: ServedRequest, of connection: Int64, now: Int64,
    _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    let answer: ServedAnswer?
    do throws(Refused) {
      answer = try self.answer(request, connection, now, transaction, &told)
    } catch {
      answer = .refused(try error.refusal())
    }
    if let answer { told.append((connection, .told(.answer(request.id, answer)))) }
    return told
  }

  private mutating func answer(
    _ request: ServedRequest, _ connection: Int64, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws(Refused) -> ServedAnswer? {
    let caller = request.caller
    switch request.operation {
    case .listen(let listen, let query, let known):
      let member = Audiences.Member(connection: connection, listen: listen)
      return try refusing { () throws(TreeError) in
        try self.listen(member, query, known, caller, now, transaction)
      }
    case .unlisten(let listen):
      leave(Audiences.Member(connection: connection, listen: listen))
      return nil
    case .get(let query):
      return try refusing { () throws(TreeError) in
        try checkRead(query, caller, now: now, transaction)
        try checkIndex(query, transaction)
        try checkSize(query, caller, transaction)
        return .value(try transaction.window(of: query))
      }
    case .write(let write, let name):
      _ = try performOnce(write, name, caller, now, transaction, &told, of: connection)
      return .done
    case .writeIf(let write, let hashes, let name):
      if try !isDone(name, caller, transaction) {
        let changed = try failing { try nodesChanged(hashes, caller, now, transaction) }
        if !changed.isEmpty { return .changed(changed) }
      }
      _ = try performOnce(write, name, caller, now, transaction, &told, of: connection)
      return .done
    case .compareAndSet(let path, let json, let hash, let name):
      return try compareAndSet((path, json), hash, name, caller, now, transaction, &told)
    case .keepForDisconnect(let added, let all):
      for write in added { _ = try checked(write, caller, now, transaction) }
      try refusing { () throws(TreeError) in try checkLease(of: connection, transaction) }
      try failing {
        try passing.take(all, of: connection) { try transaction.summary(at: $0).kind == .empty }
        let places = passing.places(of: connection)
        let kept = KeptDisconnect(caller: caller, writes: all, passing: places)
        try keep(all.isEmpty ? nil : kept, for: connection, transaction)
      }
      return .done
    case .review:
      return .reviewed(revoked: try review(connection, caller, now, transaction))
    case .doDisconnects(let writes):
      let kept = KeptDisconnect(caller: caller, writes: writes)
      try carryOutLast(kept, of: connection, now, transaction, &told)
      return nil
    case .leave(let writes):
      leaveAll(connection)
      let kept = KeptDisconnect(caller: caller, writes: writes)
      try carryOutLast(kept, of: connection, now, transaction, &told)
      return nil
    }
  }

  /// Does all disconnect requests of a connection, unless another server has done them.
  private mutating func carryOutLast(
    _ kept: KeptDisconnect, of connection: Int64, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws(Refused) {
    let isOwn = try failing { try ownsDisconnect(of: connection, transaction) }
    try failing { try keep(nil, for: connection, transaction) }
    if isOwn { try carryOut(kept, now, transaction, &told, of: connection) }
    passing.end(connection)
  }

  private mutating func listen(
    _ member: Audiences.Member, _ query: Query, _ known: KnownHash, _ caller: Caller, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws(TreeError) -> ServedAnswer {
    let sent = try checkListen(query, caller, now: now, transaction)
    try checkSize(sent ?? query, caller, transaction)
    let answer =
      if let kept = keptAnswer(query, known, sent) {
        kept
      } else {
        try ListenAnswer(query, known: known, sentQuery: sent, reader: transaction) {
          (query) throws(TreeError) in try hash(of: query, transaction)
        }
      }
    try join(member, query, sent: sent, transaction)
    return .listening(answer, isIndexed: sent == nil)
  }

  /// Ends the listens that the rules do not allow a caller any more.
  private mutating func review(
    _ connection: Int64, _ caller: Caller, _ now: Int64, _ transaction: some ServedTransaction
  ) throws(Refused) -> [ListenNumber] {
    var revoked: [ListenNumber] = []
    for (member, asked) in asked[connection] ?? [:] {
      let isAllowed = try failing { () throws(TreeError) in
        // Without an index, everything at the place is sent.
        if let sent = asked.sent, try !canRead(sent, caller, now: now, transaction) {
          return false
        }
        return try canRead(asked.query, caller, now: now, transaction)
      }
      if isAllowed { continue }
      leave(member)
      revoked.append(member.listen)
    }
    return revoked.sorted()
  }

  /// The places whose nodes have other hashes.
  ///
  /// Whether a hash is right tells what is there, so a place that the caller may not read is not compared.
  private mutating func nodesChanged(
    _ hashes: [PlaceHash], _ caller: Caller, _ now: Int64, _ transaction: some ServedTransaction
  ) throws -> [PlacedNode] {
    var changed: [PlacedNode] = []
    for expected in hashes {
      guard try canRead(Query(expected.path), caller, now: now, transaction) else { continue }
      let node = try transaction.node(at: expected.path)
      if node.contentHash != expected.hash { changed.append(PlacedNode(expected.path, node)) }
    }
    return changed
  }

  private mutating func compareAndSet(
    _ write: (path: Path, json: JSONValue), _ hash: String, _ name: WriteID?, _ caller: Caller,
    _ now: Int64, _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws(Refused) -> ServedAnswer {
    if try !isDone(name, caller, transaction) {
      let current: Node? = try refusing { () throws(TreeError) in
        // Whether a condition holds tells what is there, so that only those who may read it may ask.
        try checkRead(Query(write.path), caller, now: now, transaction)
        let current = try transaction.node(at: write.path)
        return current.contentHash == hash ? nil : current
      }
      if let current { return .stale(current) }
    }
    _ = try performOnce(
      .set(write.path, write.json), name, caller, now, transaction, &told)
    return .done
  }
}
