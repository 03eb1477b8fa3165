import RunnelBase
import RunnelStorage
import RunnelTree

// Times of the origin in the history of a replica.
//
// A write that asks for the origin's time is shown with an estimate, and its entry has that. When the
// origin has done the write, the entry gets the true time: it belongs to the write, and is no change by
// others that would forbid to undo it.

extension StoreTransaction {
  /// Puts the origin's times into the entry of a write that the origin has done.
  ///
  /// O(entries that are kept) at most; O(1) if writes are acknowledged in their order.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - last: the entry that was found last, after which the search begins; the new one afterward.
  /// - Throws: the errors of reading and writing.
  func settleTimes(of write: PendingWrite, from last: inout Int64) throws {
    let times = try originTimes(of: write)
    guard let first = times.first, try historyLimit() > 0 else { return }
    var found = try entry(with: first, after: last)
    if found == nil, last > 0 { found = try entry(with: first, after: 0) }
    guard var found else { return }
    last = found.id
    for time in times { found.replace(time) }
    try store(found)
  }

  /// The times in a write that the origin has set to something else than the estimate.
  private func originTimes(of write: PendingWrite) throws -> [OriginTime] {
    try write.write.timePlaces.compactMap { path in
      guard let old = write.written(at: path) else { return nil }
      let new = try serverNode(at: path)
      guard old != new, case .number(let estimate)? = old.leaf, case .number? = new.leaf else {
        return nil
      }
      return OriginTime(path: path, estimate: estimate, node: new)
    }
  }

  private func entry(with time: OriginTime, after last: Int64) throws -> HistoryEntry? {
    var found: HistoryEntry?
    try statement(
      """
      SELECT sequence, at, author, undoes, parts FROM change
      WHERE sequence > ? AND at IS NOT NULL AND instr(parts, ?) ORDER BY sequence
      """
    ).forEach([.integer(last), .text(JSONValue.number(time.estimate).jsonText())]) { row in
      let entry = try historyEntry(row)
      if entry.parts.contains(where: time.isIn) { found = entry }
      return found == nil
    }
    return found
  }

  /// Stores the parts of an entry again.
  func store(_ entry: HistoryEntry) throws {
    var writer = JSONWriter()
    writer.beginArray()
    for (index, part) in entry.parts.enumerated() {
      let values = part.values.map { (old: $0.old.jsonBytes(), new: $0.new.jsonBytes()) }
      var before: [UInt8]?
      if case .value(let json)? = part.before { before = json.jsonBytes() }
      HistoryEntry.Part.write(
        part.path, isPriority: part.isPriority, values: values, before: before,
        file: part.undoFile, operation: index == 0 ? entry.operation : nil, to: &writer)
    }
    writer.endArray()
    let text = HistoryText(
      at: entry.at, author: entry.author, undoes: entry.undoes, parts: writer.bytes)
    try statement("UPDATE change SET parts = ? WHERE sequence = ?")
      .run(.utf8(text.sealedParts), .integer(entry.id))
  }
}

extension PendingWrite {
  /// The node that the write puts at a place; nil if it writes none there.
  fileprivate func written(at path: Path) -> RunnelTree.Node? {
    for part in parts {
      if case .node(let node) = part.target, let below = path.relative(to: part.path) {
        return node[below]
      }
    }
    return nil
  }
}

/// A time that the origin has set instead of its estimate.
private struct OriginTime {
  let path: Path
  /// The estimate, in milliseconds since 1970.
  let estimate: JSONNumber
  /// The node with the origin's time.
  let node: RunnelTree.Node

  /// Returns whether a part of an entry wrote the estimate.
  func isIn(_ part: HistoryEntry.Part) -> Bool {
    guard let below = path.relative(to: part.path), let new = part.newNode else { return false }
    return new[below].leaf == .number(estimate)
  }
}

extension HistoryEntry {
  fileprivate mutating func replace(_ time: OriginTime) {
    for (index, part) in parts.enumerated() where time.isIn(part) {
      guard let below = time.path.relative(to: part.path), let new = part.newNode else { continue }
      parts[index].values?.new = new.replacing(below, with: time.node).exportJSON
    }
  }
}

extension HistoryEntry.Part {
  /// The node after the write; nil for a priority, and if it was too large to keep.
  fileprivate var newNode: RunnelTree.Node? {
    // What the recorder wrote is a node; anything else is found by the doctor.
    isPriority ? nil : values.flatMap { try? Node(json: $0.new, at: path) }
  }
}
