import RunnelBase
import RunnelTree

// Requests over HTTP to a tree in memory. Source: wire protocol, section C.

extension MemoryServedTree {
  /// Carries out an operation of a request.
  ///
  /// - Parameters:
  ///   - operation: the operation; operations on rules and spooled values are refused here.
  ///   - caller: the caller for whom it is done.
  ///   - member: the name under which a stream receives changes.
  ///   - now: milliseconds since 1970.
  ///   - random: the source of new keys.
  /// - Returns: the answer, and the messages to connections, which precede the answer.
  package mutating func perform(
    _ operation: RESTOperation, for caller: Caller, as member: Audiences.Member, now: Int64,
    random: inout some RandomNumberGenerator
  ) -> (answer: RESTAnswer, told: [(connection: Int64, told: ServedTold)]) {
    var told: [(connection: Int64, told: ServedTold)] = []
    do throws(TreeError) {
      switch operation {
      case .read(let query, _, _, let hashes): return (try read(query, caller, hashes), [])
      case .write(let write, let condition, let name, let hashes):
        let answer = try self.write(write, condition, name, caller, hashes, now, &told)
        return (answer, told)
      case .push(let path, let json, let name, let hashes):
        let key = try push(json, to: path, name, caller, now, &random, &told)
        return (.pushed(key, hash: hash(of: path, caller, isWanted: hashes)), told)
      case .readPriority(let path):
        try checkRead(Query(path), caller)
        return (.priority(tree.root[path].priority), [])
      case .stream(let query, _): return (try stream(query, caller, member), [])
      case .putSpooled, .readRules, .writeRules:
        throw TreeError(.unavailable, "A tree in memory has no rules and no spool.")
      }
    } catch {
      return (.refused(error), [])
    }
  }

  private func read(
    _ query: Query, _ caller: Caller, _ hashes: Bool
  ) throws(TreeError) -> RESTAnswer {
    try checkRead(query, caller)
    if !access.isIndexed(query) { throw MemoryServedTree.missingIndex(query) }
    return .content(hash: hashes ? try tree.contentHash(of: query) : nil)
  }

  private mutating func write(
    _ write: Write, _ condition: String?, _ name: WriteID?, _ caller: Caller, _ hashes: Bool,
    _ now: Int64, _ told: inout [(connection: Int64, told: ServedTold)]
  ) throws(TreeError) -> RESTAnswer {
    let place: Path
    switch write {
    case .set(let path, _), .update(let path, _): place = path
    case .copy(_, let path), .move(_, let path): place = path
    }
    let isRepeated = self.parts(of: name) != nil
    if let condition, !isRepeated, let stale = try stale(write, place, condition, caller) {
      return stale
    }
    var parts = try performOnce(write, name, caller, now, &told)
    // Others may have written since a repeated write was done.
    if write.holdsIncrement || isRepeated { parts.removeAll { !canRead($0.path, caller) } }
    return .written(parts, hash: hash(of: place, caller, isWanted: hashes))
  }

  /// The answer to a write whose condition does not hold; nil if it does.
  private func stale(
    _ write: Write, _ place: Path, _ condition: String, _ caller: Caller
  ) throws(TreeError) -> RESTAnswer? {
    // Whether a condition holds tells what is there, so that only those who may read it may ask.
    guard case .update(_, let members) = write else {
      try checkRead(Query(place), caller)
      return tree.root[place].contentHash == condition ? nil : .stale(tree.root[place])
    }
    var hashes: [String] = []
    for member in members {
      let found = try tree.updateHash(of: member, below: place)
      try checkRead(Query(found.place), caller)
      hashes.append(found.hash)
    }
    return UpdateHashes.tag(of: hashes) == condition ? nil : .staleUpdate(hashes)
  }

  /// The hash of a place if the caller may read it, because it reveals the contents of the place.
  private func hash(of path: Path, _ caller: Caller, isWanted: Bool) -> String? {
    isWanted && canRead(path, caller) ? tree.root[path].contentHash : nil
  }

  private func canRead(_ path: Path, _ caller: Caller) -> Bool {
    caller.isAdministrator || access.canRead(Query(path), caller, tree)
  }

  /// Puts a value under a new key; a repeated request gets the same key.
  private mutating func push(
    _ json: JSONValue, to path: Path, _ name: WriteID?, _ caller: Caller, _ now: Int64,
    _ random: inout some RandomNumberGenerator,
    _ told: inout [(connection: Int64, told: ServedTold)]
  ) throws(TreeError) -> Key {
    if let key = parts(of: name)?.first?.path.lastKey { return key }
    let key = try tree.pushID(pushIDs.next(now: now, random: &random), in: path)
    _ = try performOnce(.set(try path.child(key), json), name, caller, now, &told)
    return key
  }

  private mutating func stream(
    _ query: Query, _ caller: Caller, _ member: Audiences.Member
  ) throws(TreeError) -> RESTAnswer {
    try checkRead(query, caller)
    if !access.isIndexed(query) { throw MemoryServedTree.missingIndex(query) }
    try join(member, query)
    return .streaming(try tree.window(of: query))
  }
}
