import RunnelBase
package import RunnelTree

/// A served tree in memory, for programs and tests that need no file and no network.
///
/// It does one operation at a time. It is the model of every other served tree: others send the
/// same messages in the same order.
///
/// Source: wire protocol, sections A4 to A6 and A9; tree semantics, sections 9, 11 and 12.
package struct MemoryServedTree: Sendable {
  /// The access rules, as functions.
  package struct Access: Sendable {
    /// True if a caller may see what a query shows, in the tree as it is.
    package var canRead: @Sendable (Query, Caller, MemoryTree) -> Bool
    /// True if a caller may do a write; gets its parts and the tree before and after.
    package var canWrite: @Sendable ([Assignment], Caller, MemoryTree, MemoryTree) -> Bool
    /// True if a query has the index that it needs.
    package var isIndexed: @Sendable (Query) -> Bool

    /// Makes access rules of functions.
    package init(
      canRead: @escaping @Sendable (Query, Caller, MemoryTree) -> Bool = { _, _, _ in true },
      canWrite: @escaping @Sendable ([Assignment], Caller, MemoryTree, MemoryTree) -> Bool = {
        _, _, _, _ in true
      },
      isIndexed: @escaping @Sendable (Query) -> Bool = { _ in true }
    ) {
      self.canRead = canRead
      self.canWrite = canWrite
      self.isIndexed = isIndexed
    }
  }

  /// The writes that a connection registered for its end.
  private struct Kept: Sendable {
    var caller: Caller
    var writes: [Write]
  }

  /// The tree as it is.
  package private(set) var tree: MemoryTree
  /// The access rules; existing listens are checked again by `review`.
  package var access: Access
  /// The number of writes that were done.
  package private(set) var writeCount = 0
  private var audiences = Audiences()
  /// The queries as members asked them, and those that they are sent, which the rules are checked against.
  private var asked: [Audiences.Member: [Query]] = [:]
  /// The results of named writes.
  private var done: [WriteID: [Assignment]] = [:]
  /// Makes the keys of values that are pushed.
  var pushIDs = PushIDGenerator()
  private var kept: [Int64: Kept] = [:]

  /// Serves a tree.
  package init(_ tree: MemoryTree = MemoryTree(), access: Access = Access()) {
    self.tree = tree
    self.access = access
  }

  /// The number of listens of all connections.
  package var listenCount: Int { audiences.memberCount }

  /// Carries out a request of a connection.
  ///
  /// Complexity: O(n) in the size of what it concerns, and in the path to it.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - connection: the number of the connection, which is never reused.
  ///   - now: milliseconds since 1970.
  /// - Returns: the messages and the connections that receive them, in order.
  package mutating func perform(
    _ request: ServedRequest, of connection: Int64, now: Int64
  ) -> [(connection: Int64, told: ServedTold)] {
    var told: [(connection: Int64, told: ServedTold)] = []
    do throws(TreeError) {
      let answer = try answer(request, connection, now, &told)
      if let answer { told.append((connection, .answer(request.id, answer))) }
    } catch {
      told.append((connection, .answer(request.id, .refused(error))))
    }
    return told
  }

  /// Does a write that no rule binds and returns the messages to connections; the writer gets none.
  ///
  /// - Throws: `TreeError` if the write is refused; then nothing was done.
  package mutating func write(
    _ write: Write, now: Int64
  ) throws(TreeError) -> [(connection: Int64, told: ServedTold)] {
    var told: [(connection: Int64, told: ServedTold)] = []
    try perform(write, .administrator, now, &told)
    return told
  }

  /// Simulates that the server ended without notice and started again: disconnect requests are
  /// done.
  package mutating func restart(now: Int64) {
    (audiences, asked) = (Audiences(), [:])
    for connection in kept.keys.sorted() {
      var told: [(connection: Int64, told: ServedTold)] = []
      carryOut(kept.removeValue(forKey: connection), now, &told)
    }
  }

  private mutating func answer(
    _ request: ServedRequest, _ connection: Int64, _ now: Int64,
    _ told: inout [(connection: Int64, told: ServedTold)]
  ) throws(TreeError) -> ServedAnswer? {
    let caller = request.caller
    switch request.operation {
    case .listen(let listen, let query, let known):
      let member = Audiences.Member(connection: connection, listen: listen)
      return try self.listen(member, query, known, caller)
    case .unlisten(let listen):
      leave(Audiences.Member(connection: connection, listen: listen))
      return nil
    case .get(let query):
      try checkRead(query, caller)
      if !access.isIndexed(query) { throw MemoryServedTree.missingIndex(query) }
      return .value(try tree.window(of: query))
    case .write(let write, let name):
      _ = try performOnce(write, name, caller, now, &told)
      return .done
    case .writeIf(let write, let hashes, let name):
      let changed = parts(of: name) == nil ? changed(hashes, caller) : []
      if !changed.isEmpty { return .changed(changed) }
      _ = try performOnce(write, name, caller, now, &told)
      return .done
    case .compareAndSet(let path, let json, let hash, let name):
      return try compareAndSet((path, json), hash: hash, name, caller, now, &told)
    case .keepForDisconnect(let added, let all):
      for write in added { _ = try checked(write, caller, now) }
      kept[connection] = all.isEmpty ? nil : Kept(caller: caller, writes: all)
      return .done
    case .review: return .reviewed(revoked: review(connection, caller))
    case .doDisconnects(let writes):
      kept[connection] = nil
      carryOut(Kept(caller: caller, writes: writes), now, &told)
      return nil
    case .leave(let writes):
      for member in members(of: connection) { leave(member) }
      kept[connection] = nil
      carryOut(Kept(caller: caller, writes: writes), now, &told)
      return nil
    }
  }
}

// MARK: Reading

extension MemoryServedTree {
  private mutating func listen(
    _ member: Audiences.Member, _ query: Query, _ known: KnownHash, _ caller: Caller
  ) throws(TreeError) -> ServedAnswer {
    try checkRead(query, caller)
    let sent = access.isIndexed(query) ? nil : Query(query.path)
    if let sent, !canRead(sent, caller) { throw MemoryServedTree.deniedWithoutIndex(query) }
    let answer = try ListenAnswer(query, known: known, sentQuery: sent, reader: tree)
    try join(member, query, sent: sent)
    return .listening(answer, isIndexed: sent == nil)
  }

  /// Adds a member; without an index it receives changes of everything at the place.
  mutating func join(
    _ member: Audiences.Member, _ query: Query, sent: Query? = nil
  ) throws(TreeError) {
    try audiences.join(member, sent ?? query, reader: tree)
    asked[member] = [query] + (sent.map { [$0] } ?? [])
  }

  private func members(of connection: Int64) -> [Audiences.Member] {
    asked.keys.filter { $0.connection == connection }.sorted()
  }

  private mutating func leave(_ member: Audiences.Member) {
    audiences.leave(member)
    asked[member] = nil
  }

  func checkRead(_ query: Query, _ caller: Caller) throws(TreeError) {
    if !canRead(query, caller) { throw MemoryServedTree.denied(query.path) }
  }

  private func canRead(_ query: Query, _ caller: Caller) -> Bool {
    caller.isAdministrator || access.canRead(query, caller, tree)
  }

  private mutating func review(_ connection: Int64, _ caller: Caller) -> [ListenNumber] {
    var revoked: [ListenNumber] = []
    for member in members(of: connection) {
      guard let queries = asked[member] else { continue }
      if queries.allSatisfy({ canRead($0, caller) }) { continue }
      leave(member)
      revoked.append(member.listen)
    }
    return revoked
  }

  package static func denied(_ path: Path) -> TreeError {
    TreeError(
      .permissionDenied, "The rules do not allow this: ask their author.", path: path.description)
  }

  package static func missingIndex(_ query: Query) -> TreeError {
    TreeError(.invalidQuery, "Index not defined, \(indexAdvice(query))")
  }

  /// The refusal of a listen that the rules allow, but not what it would be answered with.
  package static func deniedWithoutIndex(_ query: Query) -> TreeError {
    TreeError(
      .permissionDenied,
      "The query has no index, so that it would read everything here, which the rules do not allow: "
        + indexAdvice(query), path: query.path.description)
  }

  private static func indexAdvice(_ query: Query) -> String {
    let name: String =
      if case .child(let path) = query.index {
        path.keys.map(\.text).joined(separator: "/")
      } else {
        ".value"
      }
    return "add \".indexOn\": \"\(name)\", for path \"\(query.path)\", to the rules"
  }
}

// MARK: Writing

extension MemoryServedTree {
  /// Does a write, once for each name.
  ///
  /// A refused write was not done. It may be allowed when it is sent again, because the writer's
  /// credential may have expired on the way.
  mutating func performOnce(
    _ write: Write, _ name: WriteID?, _ caller: Caller, _ now: Int64,
    _ told: inout [(connection: Int64, told: ServedTold)]
  ) throws(TreeError) -> [Assignment] {
    if let parts = parts(of: name) { return parts }
    let parts = try perform(write, caller, now, &told)
    if let name { done[name] = parts }
    return parts
  }

  /// The parts that the write of a name set; nil if it was not done.
  func parts(of name: WriteID?) -> [Assignment]? { name.flatMap { done[$0] } }

  /// The places that the caller may read and whose nodes have other hashes.
  private func changed(_ hashes: [PlaceHash], _ caller: Caller) -> [PlacedNode] {
    hashes.compactMap { expected in
      let isReadable =
        caller.isAdministrator || access.canRead(Query(expected.path), caller, tree)
      let node = tree.root[expected.path]
      return isReadable && node.contentHash != expected.hash
        ? PlacedNode(expected.path, node) : nil
    }
  }

  private mutating func compareAndSet(
    _ write: (path: Path, json: JSONValue), hash: String, _ name: WriteID?, _ caller: Caller,
    _ now: Int64, _ told: inout [(connection: Int64, told: ServedTold)]
  ) throws(TreeError) -> ServedAnswer {
    if parts(of: name) == nil {
      // Whether a condition holds tells what is there, so that only those who may read it may ask.
      try checkRead(Query(write.path), caller)
      let current = tree.root[write.path]
      if current.contentHash != hash { return .stale(current) }
    }
    _ = try performOnce(.set(write.path, write.json), name, caller, now, &told)
    return .done
  }

  /// The parts of a write and the tree after it, if the write is allowed.
  private func checked(
    _ write: Write, _ caller: Caller, _ now: Int64
  ) throws(TreeError) -> (parts: [Assignment], after: MemoryTree) {
    let parts = try write.assignments(now: now, reader: tree)
    var after = tree
    for part in parts { after.perform(part) }
    if !caller.isAdministrator, !access.canWrite(parts, caller, tree, after) {
      throw MemoryServedTree.denied(parts.first?.path ?? .root)
    }
    return (parts, after)
  }

  @discardableResult
  private mutating func perform(
    _ write: Write, _ caller: Caller, _ now: Int64,
    _ told: inout [(connection: Int64, told: ServedTold)]
  ) throws(TreeError) -> [Assignment] {
    let (parts, after) = try checked(write, caller, now)
    let pushes = try audiences.apply(CommittedWrite(write, parts), before: tree, after: after)
    tree = after
    writeCount += 1
    for push in pushes {
      let encoded = EncodedPush(push.change).shared()
      told += push.members.map { ($0.connection, .push($0.listen, encoded)) }
    }
    return parts
  }

  /// Does the disconnect requests of a connection, each write that is allowed.
  private mutating func carryOut(
    _ kept: Kept?, _ now: Int64, _ told: inout [(connection: Int64, told: ServedTold)]
  ) {
    guard let kept else { return }
    for write in kept.writes {
      // A write that is refused at the end is dropped in silence, because its client is gone.
      _ = try? perform(write, kept.caller, now, &told)
    }
  }
}
