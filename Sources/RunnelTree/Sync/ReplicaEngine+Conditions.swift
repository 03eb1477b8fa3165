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
    guard var (write, _) = replica.book.pendingWrite(id), let old = write.seen else { return false }
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
    let error = TreeError(
      .changed, "\(old.path) was changed meanwhile. Nothing was written.")
    try rejected(id, error, now: now, &outcome, &storage)
    return true
  }
}
