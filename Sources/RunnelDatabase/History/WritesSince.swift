import RunnelTree

/// The writes after an entry of the history, and whether all that they did at a place was undone.
///
/// A write and its undoing come to nothing, and so do an undoing and the undoing of that, in any
/// order and with other writes between them: a write is undone only while its result stands, and
/// then what stood before it comes back, so at each place every step has its step back.
struct WritesSince {
  /// What a write did, told by the write with which it began.
  private struct Effect: Hashable {
    /// The write that was undone, maybe several times one after the other; else the write itself.
    var write: Int64
    /// True if that write is in effect afterwards.
    var isDone: Bool
  }

  /// The writes that did and undid the same.
  private struct Balance {
    /// How many did it, less those that undid it.
    var sum = 0
    /// True if one of them is at the place, above it or below it.
    var isConcerned = false
  }

  private var effects: [Int64: Effect] = [:]
  private var balances: [Int64: Balance] = [:]
  /// The writes that did the same as the entry, after that was undone, oldest first.
  private(set) var repetitions: [Int64] = []
  /// True if no write since is missing.
  private var isComplete = true

  /// True if the place stands as the entry left it; nil if that is not known any more.
  var isUndone: Bool? {
    isComplete ? balances.values.allSatisfy { $0.sum == 0 || !$0.isConcerned } : nil
  }

  /// Reads the writes after an entry.
  ///
  /// O(n) in the changes since.
  init(_ entry: HistoryEntry, at path: Path, _ transaction: StoreTransaction) throws {
    let own = try effect(of: entry.id, undoing: entry.undoes, transaction)
    effects[entry.id] = own
    var next = entry.id
    let rows = try transaction.statement(
      "SELECT sequence, paths, undoes FROM change WHERE sequence > ? ORDER BY sequence")
    try rows.forEach([.integer(entry.id)]) { row in
      next += 1
      guard try row.integer(0, "sequence") == next,
        let places = try StoreTransaction.writtenPaths(row.text(1, "paths"))
      else {
        isComplete = false
        return false
      }
      var undone = try row.integer(2, "undoes")
      // What was undone in part is in effect at the other places: both writes count as written.
      if let id = undone, try transaction.isPartial(next, undoing: id) { undone = nil }
      let effect = try effect(of: next, undoing: undone, transaction)
      effects[next] = effect
      balances[effect.write, default: Balance()].sum += effect.isDone ? 1 : -1
      if places.contains(where: { $0.contains(path) || path.contains($0) }) {
        balances[effect.write]?.isConcerned = true
      }
      if effect == own { repetitions.append(next) }
      return true
    }
  }

  /// What a write did that undid another one, or none.
  private func effect(
    of id: Int64, undoing undone: Int64?, _ transaction: StoreTransaction
  ) throws -> Effect {
    var effect = Effect(write: id, isDone: true)
    var earlier = undone
    // A write undoes an earlier one, so this ends.
    while let id = earlier, id < effect.write {
      effect.isDone.toggle()
      if let known = effects[id] {
        return Effect(write: known.write, isDone: known.isDone == effect.isDone)
      }
      effect.write = id
      earlier = try transaction.writeUndone(by: id)
    }
    return effect
  }
}

extension StoreTransaction {
  /// True if a write undid another one, of many records, at some of them only.
  fileprivate func isPartial(_ undoing: Int64, undoing id: Int64) throws -> Bool {
    guard let entry = try historyEntry(id), entry.recordDepth != nil,
      let parts = try historyEntry(undoing)?.parts
    else { return false }
    return parts.count { !$0.isPriority } < entry.parts.count
  }

  /// The entry that a write undid; nil if it undid none, or if that is not known any more.
  fileprivate func writeUndone(by id: Int64) throws -> Int64? {
    let undone = try statement("SELECT undoes FROM change WHERE sequence = ?")
      .first(.integer(id)) { try $0.integer(0, "undoes") }
    return undone ?? nil
  }
}
