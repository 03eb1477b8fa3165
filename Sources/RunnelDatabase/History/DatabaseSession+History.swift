import RunnelBase
public import RunnelTree

/// The limits of the log of writes.
public enum History {
  /// How many entries a database keeps, unless it is told otherwise.
  public static let entryCountDefault = 1000
  /// The most bytes of JSON of one value that is kept; what is larger cannot be undone.
  public static let valueBytesMax = 65_536
}

extension DatabaseSession {
  /// The writes that concern a place, it and all above and below, the newest first.
  ///
  /// O(n) in the entries that are kept.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - id: only entries before this one; nil for all.
  ///   - count: how many at most.
  /// - Returns: the entries.
  /// - Throws: `DatabaseError` if they cannot be read.
  public func history(
    of path: Path = .root, before id: Int64? = nil, count: Int = 100
  ) throws -> [HistoryEntry] {
    try store.read { try $0.history(of: path, before: id, count: count) }
  }

  /// Sets how many writes the database remembers; 0 remembers none, and costs nothing.
  ///
  /// - Throws: `DatabaseError` if it cannot be written.
  public func setHistoryLimit(_ count: Int) throws {
    try store.write { try $0.setHistoryLimit(max(count, 0)) }
  }

  /// Puts back what stood before a write, if what it wrote still stands.
  ///
  /// It is a write like any other, so that it can be undone as well.
  ///
  /// - Parameter id: the entry of the write.
  /// - Returns: what listeners of this session are to be told, in order.
  /// - Throws: `DatabaseError` (`refused` if the entry is not there any more, did not keep its values,
  ///   or a place was written since; it names the place); then nothing was written.
  public func undo(_ id: Int64) throws -> [Delivery] {
    let entry = try store.read { try $0.historyEntry(id) }
    guard let entry else {
      throw DatabaseError(.refused, "There is no write \(id) to undo: it is not remembered.")
    }
    let members = try entry.parts.map { part in
      guard let values = part.values else {
        throw DatabaseError(
          .refused, "Write \(id) cannot be undone: what stood at \(part.path) was too large to keep.")
      }
      return JSONMember(part.name, values.old)
    }
    return try write(undoing(members), undoes: entry)
  }

  private func undoing(_ members: [JSONMember]) throws -> Write {
    if members.count == 1, members[0].name == Path.root.description {
      return .set(.root, members[0].value)
    }
    return .update(.root, members)
  }

  /// Throws if a place that a write wrote was written since.
  func checkUnchanged(_ entry: HistoryEntry, _ transaction: StoreTransaction) throws {
    for part in entry.parts {
      let node = try transaction.exportIfSmall(part.path, maxBytes: 2 * History.valueBytesMax)
      let now =
        part.isPriority
        ? try transaction.storedSummary(at: part.path).priority?.json ?? .null : node
      if now == part.values?.new { continue }
      throw DatabaseError(
        .refused,
        "Write \(entry.id) cannot be undone: \(part.name) was written since. Nothing was changed.")
    }
  }
}

// MARK: Recording

extension DatabaseSession {
  /// Carries out the parts of a write, and notes what stood there before.
  func carryOut(
    _ parts: [Assignment], _ transaction: StoreTransaction, now: Int64, undoes: Int64? = nil
  ) throws {
    let limit = try transaction.historyLimit()
    guard limit > 0 else {
      for part in parts { try transaction.carryOut(part) }
      return
    }
    let entry = try entry(of: parts, transaction, now: now, undoes: undoes)
    for part in parts { try transaction.carryOut(part) }
    try transaction.appendHistory(entry, limit: limit)
  }

  /// What a write that is about to be done will have done.
  func entry(
    of parts: [Assignment], _ transaction: StoreTransaction, now: Int64, undoes: Int64?
  ) throws -> HistoryEntry {
    let parts = try parts.map { part in
      switch part.target {
      case .node(let node):
        var result = HistoryEntry.Part(path: part.path, isPriority: false)
        result.values = try values(at: part.path, new: node, transaction)
        return result
      case .priority(let priority):
        var result = HistoryEntry.Part(path: part.path, isPriority: true)
        let old = try transaction.storedSummary(at: part.path).priority
        result.values = HistoryEntry.Part.Values(
          old: old?.json ?? .null, new: priority?.json ?? .null)
        return result
      }
    }
    return HistoryEntry(
      id: 0, at: now, author: environment.author, undoes: undoes, parts: parts)
  }

  private func values(
    at path: Path, new: Node, _ transaction: StoreTransaction
  ) throws -> HistoryEntry.Part.Values? {
    let old = try transaction.exportIfSmall(path, maxBytes: History.valueBytesMax)
    guard let old else { return nil }
    let json = new.exportJSON
    if json.jsonBytes().count > History.valueBytesMax { return nil }
    return HistoryEntry.Part.Values(old: old, new: json)
  }
}
