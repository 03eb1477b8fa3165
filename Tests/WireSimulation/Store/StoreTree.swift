import RunnelBase
import RunnelPostgres
import RunnelSync
import RunnelTree

/// The tree of a server of a store: what its connections are told, from one transaction to the next.
///
/// It does what `MemoryServedTree` does. A listener of its own, the *observer*, follows the whole tree by
/// what it is told alone.
struct StoreTree {
  typealias Told = [(connection: Int64, told: ServedTold)]

  /// Nobody has this number as a connection.
  private static let observer = Audiences.Member(connection: 0, listen: ListenNumber(0))

  private let access: MemoryServedTree.Access
  private var audiences = Audiences()
  private var asked: [Audiences.Member: Query] = [:]
  /// The connections whose disconnect requests are stored, or may be after a failure, with the names of the
  /// leases under which they are.
  private var kept: [Int64: String] = [:]
  /// The connections for which something was stored or removed, with the names of the leases.
  private var touched: [Int64: String] = [:]
  private var observed = MemoryTree()

  /// Begins in the state of a transaction.
  init(access: MemoryServedTree.Access, _ transaction: PostgresTransaction) throws {
    self.access = access
    observed.root = try transaction.node(at: .root)
    try audiences.join(StoreTree.observer, Query(.root), reader: transaction)
  }

  /// - Throws: `SimulationError` if the observer was not told what is there.
  func checkObserver(_ transaction: PostgresTransaction) throws {
    let root = try transaction.node(at: .root)
    if observed.root != root {
      throw SimulationError(
        "W5: a server tells \(observed.root.exportJSON), and the store has \(root.exportJSON)")
    }
  }

  // MARK: Telling

  /// Tells what other servers wrote.
  mutating func takeForeignChanges(
    _ transaction: PostgresTransaction, _ told: inout Told
  ) throws {
    let paths = transaction.foreignPaths
    if !paths.isEmpty { tell(try audiences.apply(touched: paths, after: transaction), &told) }
  }

  private mutating func tell(_ pushes: [Audiences.Told], _ told: inout Told) {
    for push in pushes {
      let encoded = EncodedPush(push.change).shared()
      for member in push.members {
        if member == StoreTree.observer {
          observe(push.change)
        } else {
          told.append((member.connection, .push(member.listen, encoded)))
        }
      }
    }
  }

  private mutating func observe(_ change: AudienceChange) {
    switch change {
    case .put(let path, let target): observed.perform(Assignment(path: path, target: target))
    case .patch(let path, let parts):
      for part in parts {
        let place = Path(unchecked: path.keys + part.path.keys)
        observed.perform(Assignment(path: place, target: part.target))
      }
    }
  }

  // MARK: Requests

  /// Carries out a request of a connection.
  ///
  /// - Throws: an error if the storage failed; the transaction must not be committed then.
  mutating func perform(
    _ request: ServedRequest, of connection: Int64, now: Int64,
    _ transaction: PostgresTransaction, _ told: inout Told
  ) throws {
    let answer: ServedAnswer?
    do {
      answer = try self.answer(request, connection, now, transaction, &told)
    } catch let error as TreeError where error.code != .storage {
      answer = .refused(error)
    }
    if let answer { told.append((connection, .answer(request.id, answer))) }
  }

  private mutating func answer(
    _ request: ServedRequest, _ connection: Int64, _ now: Int64,
    _ transaction: PostgresTransaction, _ told: inout Told
  ) throws -> ServedAnswer? {
    let caller = request.caller
    switch request.operation {
    case .listen(let listen, let query, let known):
      try checkRead(query, caller)
      let answer = try ListenAnswer(query, known: known, reader: transaction)
      let member = Audiences.Member(connection: connection, listen: listen)
      try audiences.join(member, query, reader: transaction)
      asked[member] = query
      return .listening(answer, isIndexed: true)
    case .unlisten(let listen):
      leave(Audiences.Member(connection: connection, listen: listen))
      return nil
    case .get(let query):
      try checkRead(query, caller)
      return .value(try transaction.window(of: query))
    case .write(let write, let name):
      try performOnce(write, name, caller, now, transaction, &told)
      return .done
    case .writeIf(let write, let hashes, let name):
      if try !isDone(name, transaction) {
        var changed: [PlacedNode] = []
        for expected in hashes where mayRead(Query(expected.path), caller) {
          let node = try transaction.node(at: expected.path)
          if node.contentHash != expected.hash { changed.append(PlacedNode(expected.path, node)) }
        }
        if !changed.isEmpty { return .changed(changed) }
      }
      try performOnce(write, name, caller, now, transaction, &told)
      return .done
    case .compareAndSet(let path, let json, let hash, let name):
      if try !isDone(name, transaction) {
        try checkRead(Query(path), caller)
        let current = try transaction.node(at: path)
        if current.contentHash != hash { return .stale(current) }
      }
      try performOnce(.set(path, json), name, caller, now, transaction, &told)
      return .done
    case .keepForDisconnect(let added, let all):
      for write in added { _ = try checked(write, caller, now, transaction) }
      if let lease = kept[connection], lease != transaction.leaseName {
        throw TreeError(.unavailable, "The lease under which this connection began has ended.")
      }
      try keep(all.isEmpty ? nil : KeptWrites(caller: caller, writes: all), connection, transaction)
      return .done
    case .review:
      let revoked = asked.filter { member, query in
        member.connection == connection && !mayRead(query, caller)
      }
      for member in revoked.keys { leave(member) }
      return .reviewed(revoked: revoked.keys.map(\.listen).sorted())
    case .doDisconnects(let writes):
      try doKept(writes, of: connection, caller, now, transaction, &told)
      return nil
    case .leave(let writes):
      leaveAll(connection)
      try doKept(writes, of: connection, caller, now, transaction, &told)
      return nil
    }
  }

  /// Carries out the disconnect requests of a connection; those of a lease that has ended are done by whoever
  /// takes them over.
  private mutating func doKept(
    _ writes: [Write], of connection: Int64, _ caller: Caller, _ now: Int64,
    _ transaction: PostgresTransaction, _ told: inout Told
  ) throws {
    let isOwn =
      if let lease = kept[connection] {
        try lease == transaction.leaseName && transaction.keepsDisconnect(of: connection)
      } else {
        true
      }
    try keep(nil, connection, transaction)
    if isOwn { try carryOut(KeptWrites(caller: caller, writes: writes), now, transaction, &told) }
  }

  /// Begins the requests of another transaction.
  mutating func beginBatch() { touched = [:] }

  /// Notes which disconnect requests another tree, whose transaction failed, may have stored.
  mutating func mayHaveKept(_ other: StoreTree) {
    kept.merge(other.touched) { own, _ in own }
  }

  /// Removes the listens of a connection whose end could not be noted in the store.
  mutating func leaveAll(_ connection: Int64) {
    for member in asked.keys where member.connection == connection { leave(member) }
  }

  private mutating func leave(_ member: Audiences.Member) {
    audiences.leave(member)
    asked[member] = nil
  }

  private func mayRead(_ query: Query, _ caller: Caller) -> Bool {
    access.canRead(query, caller, MemoryTree())
  }

  private func checkRead(_ query: Query, _ caller: Caller) throws(TreeError) {
    if !mayRead(query, caller) { throw MemoryServedTree.denied(query.path) }
  }

  // MARK: Writes

  private func isDone(_ name: WriteID?, _ transaction: PostgresTransaction) throws -> Bool {
    guard let name else { return false }
    guard let isTaken = try transaction.isNameTaken(name) else {
      throw TreeError(.unavailable, "It is not known any more whether this was done.")
    }
    return isTaken
  }

  private mutating func performOnce(
    _ write: Write, _ name: WriteID?, _ caller: Caller, _ now: Int64,
    _ transaction: PostgresTransaction, _ told: inout Told
  ) throws {
    if try isDone(name, transaction) { return }
    try perform(write, caller, now, transaction, &told)
    if let name { try transaction.noteName(name) }
  }

  private func checked(
    _ write: Write, _ caller: Caller, _ now: Int64, _ transaction: PostgresTransaction
  ) throws -> [Assignment] {
    let parts = try write.assignments(now: now, reader: transaction)
    if !access.canWrite(parts, caller, MemoryTree(), MemoryTree()) {
      throw MemoryServedTree.denied(parts.first?.path ?? .root)
    }
    return parts
  }

  private mutating func perform(
    _ write: Write, _ caller: Caller, _ now: Int64, _ transaction: PostgresTransaction,
    _ told: inout Told
  ) throws {
    let parts = try checked(write, caller, now, transaction)
    // The observer listens to everything, so the tree before is always needed.
    let before = MemoryTree(try transaction.node(at: .root))
    try transaction.carryOut(parts, now: now)
    let pushes = try audiences.apply(
      CommittedWrite(write, parts), before: before, after: transaction)
    tell(pushes, &told)
  }

  // MARK: Disconnect requests

  private mutating func keep(
    _ writes: KeptWrites?, _ connection: Int64, _ transaction: PostgresTransaction
  ) throws {
    if writes == nil, kept[connection] == nil { return }
    transaction.keepDisconnect(writes?.text, of: connection)
    kept[connection] = writes == nil ? nil : transaction.leaseName
    touched[connection] = transaction.leaseName
  }

  private mutating func carryOut(
    _ kept: KeptWrites, _ now: Int64, _ transaction: PostgresTransaction, _ told: inout Told
  ) throws {
    for write in kept.writes {
      do {
        try perform(write, kept.caller, now, transaction, &told)
      } catch let error as TreeError where error.code != .storage {
        // It is dropped, because its client is gone.
      }
    }
  }

  /// Does the disconnect requests that servers left.
  mutating func takeOver(
    now: Int64, _ transaction: PostgresTransaction, _ told: inout Told
  ) throws {
    for text in try transaction.takeOrphans() {
      SimulationTrace.note("  takes over \(text)")
      try carryOut(try KeptWrites(parsing: text), now, transaction, &told)
    }
  }
}

/// The disconnect requests of a connection, as a row has them.
private struct KeptWrites {
  var caller: Caller
  var writes: [Write]

  init(caller: Caller, writes: [Write]) { (self.caller, self.writes) = (caller, writes) }

  init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    caller = Caller(auth: json["auth"] ?? .null)
    guard case .object(let members)? = json["writes"] else {
      throw SimulationError("The disconnect requests \(text) cannot be read.")
    }
    writes = try members.map { .set(try Path($0.name), $0.value) }
  }

  /// Simulated clients ask for nothing but values of places.
  var text: String {
    let members = writes.compactMap { write -> JSONMember? in
      if case .set(let path, let json) = write { JSONMember(path.description, json) } else { nil }
    }
    let json: JSONValue = ["auth": caller.auth, "writes": .object(members)]
    return json.jsonText()
  }
}
