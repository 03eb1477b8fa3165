// Writes that the origin does only if a place still is as it was read. Source: tree semantics, section
// 11; wire protocol, section A4.

extension ReplicaEngine {
  /// What the origin will hold at a place when it comes to a write that is made now.
  ///
  /// Transactions that were not sent do not count: they are computed again after the write, or end
  /// with it.
  func seen(
    at path: Path, before next: Int64 = .max, _ storage: some ReplicaStorage
  ) throws(TreeError) -> SeenNode {
    let sent = Set(transactions.filter(\.isSent).compactMap(\.write?.id))
    let isCounted = { (write: PendingWrite) in
      write.id < next && (!write.isOfTransaction || sent.contains(write.id))
    }
    let server = try storage.serverNode(at: path)
    var estimates: [Path] = []
    for write in replica.book.pending where isCounted(write) {
      for part in write.parts where part.isNode {
        estimates.removeAll { part.path.contains($0) }
      }
      estimates += write.write.serverValuePlaces.filter(path.contains)
    }
    return SeenNode(
      path, replica.book.layered(onto: server, at: path, where: isCounted), estimates: estimates)
  }

  /// Takes the news that the origin holds something else than a write was made upon; returns false if
  /// no such write has this id.
  ///
  /// What the origin holds was sent before. If it is what the write was to leave there, the write was
  /// done, and its answer was lost. If it differs only where the origin computed values of earlier
  /// writes, the write is sent once more. Otherwise it has ended.
  mutating func isStale(
    write id: Int64, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Bool {
    guard var (write, _) = replica.book.pendingWrite(id) else { return false }
    guard let old = write.seen else {
      if write.compared.isEmpty { return false }
      try endStale(write, now: now, &outcome, &storage)
      return true
    }
    if let left = write.outcome, try storage.serverNode(at: old.path) == left {
      try acknowledged(id, now: now, &outcome, &storage)
      return true
    }
    let current = try seen(at: old.path, before: id, storage)
    if !old.estimates.isEmpty, old.settled(by: current.node) == current.node {
      write.seen = SeenNode(old.path, current.node)
      replica.book.replace(write)
      try storage.save(write)
      outcome.commands.append(write.command)
      return true
    }
    let error = TreeError.changed(at: [old.path])
    try rejected(id, error, now: now, &outcome, &storage)
    return true
  }

  /// Ends a write of which the origin holds something else than its bases: done before, or refused.
  private mutating func endStale(
    _ write: PendingWrite, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if try stands(write, storage) {
      return try acknowledged(write.id, now: now, &outcome, &storage)
    }
    var changed: [Path] = []
    for (part, base) in zip(write.parts, write.bases) where write.compared.contains(part.path) {
      if let base, try seen(at: part.path, before: write.id, storage).node != base {
        changed.append(part.path)
      }
    }
    // What earlier writes that were refused meanwhile have left cannot be told.
    if changed.isEmpty { changed = write.parts.map(\.path).filter(write.compared.contains) }
    try rejected(write.id, .changed(at: changed), now: now, &outcome, &storage)
  }

  /// Whether the origin holds all that a write was to leave: then it was done, and its answer was lost.
  private func stands(
    _ write: PendingWrite, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    if write.write.hasServerValues { return false }
    for part in write.parts {
      guard case .node(let node) = part.target else { return false }
      if try storage.serverNode(at: part.path) != node { return false }
    }
    return true
  }
}

extension ReplicaEngine {
  /// The places with children that a write would replace, and of whose content only a part is known.
  package func partlyKnown(
    _ parts: [Assignment], _ storage: some ReplicaStorage
  ) throws(TreeError) -> Set<Path> {
    var places: Set<Path> = []
    let book = replica.book
    for part in parts where part.isNode {
      guard case .children = try reader(storage).summary(at: part.path).kind,
        !book.isCached(part.path), try !book.isToldByKey(part.path, storage),
        !book.pending.contains(where: { $0.covers(part.path) })
      else { continue }
      places.insert(part.path)
    }
    return places
  }
}

extension Replica {
  /// The places of a new write's parts that the origin compares with the bases: those around one of `places`.
  ///
  /// Where an earlier write that waits has the origin compute a value, or where a transaction may be computed
  /// again, what will stand there is not known.
  func compared(
    _ parts: [Assignment], _ bases: [Node?], around places: [Path], of write: Write
  ) -> Set<Path> {
    if places.isEmpty { return [] }
    var wanted = PathTree<Bool>()
    for place in places { wanted[place] = true }
    var unsure = PathTree<Bool>()
    for place in write.serverValuePlaces { unsure[place] = true }
    for earlier in book.pending {
      for place in earlier.write.serverValuePlaces { unsure[place] = true }
      if !earlier.isDurable { for part in earlier.parts { unsure[part.path] = true } }
    }
    var compared: Set<Path> = []
    for (part, base) in zip(parts, bases)
    where base != nil && wanted.hasValues(around: part.path)
      && !unsure.hasValues(around: part.path)
    {
      compared.insert(part.path)
    }
    return compared
  }
}

extension TreeError {
  /// The refusal of a write because others changed what it was made upon.
  static func changed(at places: [Path]) -> TreeError {
    guard let first = places.first else { preconditionFailure("Nothing was changed.") }
    let others = places.count - 1
    let more = others == 1 ? "1 other place" : "\(others) other places"
    let words = others == 0 ? "\(first) was" : "\(first) and \(more) were"
    return TreeError(.changed, "\(words) changed meanwhile. Nothing was written.")
  }
}
