import RunnelBase
import RunnelStorage
package import RunnelStreams
package import RunnelTree

extension DatabaseSession {
  /// The writes that concern a place, the places above it or those below it, the newest first.
  ///
  /// O(n) in the entries that are kept.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - id: the entry before which to begin, which need not exist; nil for the newest.
  ///   - count: the most entries.
  /// - Returns: the entries.
  /// - Throws: `DatabaseError` if they cannot be read.
  package func history(
    of path: Path = .root, before id: Int64? = nil, count: Int = 100
  ) throws -> [HistoryEntry] {
    try store.read { try $0.history(of: path, before: id, count: count) }
  }

  /// The newest write that is neither undone nor an undoing; nil if none is remembered.
  ///
  /// An undoing that was undone does not count: the write that it undid is in effect again.
  ///
  /// O(n) in the entries that are kept.
  ///
  /// - Throws: `DatabaseError` if the history cannot be read.
  package func newestUndoable() throws -> HistoryEntry? {
    var undone: Set<Int64> = []
    var last: Int64?
    while case let page = try history(before: last, count: 100), !page.isEmpty {
      for entry in page where !undone.contains(entry.id) {
        guard let id = entry.undoes else { return entry }
        undone.insert(id)
      }
      last = page.last?.id
    }
    return nil
  }

  /// A page of the history of a place, with the facts that a reader needs.
  ///
  /// O(n) in the entries that are kept.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  package func historyPage(
    of path: Path = .root, before id: Int64? = nil, count: Int = 100
  ) throws -> HistoryPage {
    let count = min(max(count, 0), .max - 1)
    return try store.read { transaction in
      let entries = try transaction.history(of: path, before: id, count: count + 1)
      return HistoryPage(
        entries: Array(entries.prefix(count)), hasOlder: entries.count > count,
        limit: try transaction.historyLimit())
    }
  }

  /// Sets the number of writes that the database remembers; 0 turns the history off.
  ///
  /// - Throws: `DatabaseError` if it cannot be written.
  package func setHistoryLimit(_ count: Int) throws {
    try store.setHistoryLimit(max(count, 0))
  }

  /// Undoes a write, if its result still stands.
  ///
  /// The undoing is a write like any other, so it can be undone as well. What an operation on a
  /// resource wrote is undone by operations, which need the registry: counters and copies follow from
  /// the records as they are then, whatever was counted and copied since.
  ///
  /// - Parameters:
  ///   - id: the entry of the write.
  ///   - registry: the registered resources; nil if the caller does not know them.
  ///   - progress: called now and then if an import is undone; false stops that.
  /// - Returns: the deliveries for listeners of this session, in order.
  /// - Throws: `DatabaseError` (`refused` if the entry does not exist any more, did not keep its
  ///   values or needs the registry, `changed` if another value stands at a place, which it names, or
  ///   if the write was undone already), for an operation also `ResourceError` (`cannotUndo`); then
  ///   nothing was written.
  package func undo(
    _ id: Int64, in registry: ResourceRegistry? = nil,
    progress: @escaping (ImportStep) -> Bool = { _ in true }
  ) throws -> [Delivery] {
    let entry = try followed(try rememberedEntry(id))
    if let record = entry.operation {
      guard let registry else {
        throw DatabaseError(
          .refused,
          "Write \(id) was made by an operation on the record \(record), and is undone by operations, so that "
            + "counters and copies stay right: give the registry of the resources to `undo(_:in:)`, or use "
            + "the `undo` of their `ResourceBase`. Nothing was changed.")
      }
      return try undo(entry, in: registry).deliveries
    }
    if entry.parts.contains(where: { $0.before != nil }) {
      return try undoImport(entry, progress)
    }
    return try undo(plain: entry)
  }

  /// Undoes a write that no operation made, and that keeps its values.
  ///
  /// - Throws: as `undo(_:in:progress:)`.
  func undo(plain entry: HistoryEntry) throws -> [Delivery] {
    let members = try entry.parts.map { part in
      if part.isPartlyKnown {
        throw DatabaseError(
          .refused,
          "Write \(entry.id) cannot be undone: only a part of what stood at \(part.path) was known here. "
            + "Nothing was changed.")
      }
      guard let values = part.values else {
        throw DatabaseError(
          .refused,
          "Write \(entry.id) cannot be undone: what stood at \(part.path), or was written there, is too "
            + "large to keep.")
      }
      return JSONMember(part.name, values.old)
    }
    // An update cannot name the root; if the root was written, it is the only place.
    if let whole = members.first, whole.name == Path.root.description {
      return try write(.set(.root, whole.value), undoes: entry)
    }
    return try write(.update(.root, members), undoes: entry)
  }
}

extension DatabaseSession {
  /// Returns an entry with the places to which its records have moved since.
  ///
  /// A record that was made counts as unchanged if all that was written stands: the origin may have added
  /// fields, such as the id. The removal of a record stays where it was: the record is made anew.
  func followed(_ entry: HistoryEntry) throws -> HistoryEntry {
    if moves.isEmpty { return entry }
    var entry = entry
    for (index, part) in entry.parts.enumerated() where !part.isPriority {
      if moves.hasMoved(part.path), part.values?.new == .null { continue }
      var moved = part
      moved.path = moves.place(part.path)
      entry.parts[index] = moved
      guard moves.hasMoved(part.path), let values = part.values,
        let present = try store.read({ [moved] in try $0.historyValue(of: moved) }),
        values.new.stands(in: present)
      else { continue }
      entry.parts[index].values?.new = present
    }
    return entry
  }

  /// The entry of the history with an id.
  ///
  /// - Throws: `DatabaseError` (`refused`) if it is not remembered.
  func rememberedEntry(_ id: Int64) throws -> HistoryEntry {
    if let entry = try store.read({ try $0.historyEntry(id) }) { return entry }
    throw DatabaseError(
      .refused, "There is no write \(id) to undo: the history lists those that are remembered.")
  }
}

extension StoreTransaction {
  /// Throws if an entry was undone already, unless that was undone in turn.
  ///
  /// O(n) in the changes since.
  func checkNotUndone(_ entry: HistoryEntry) throws {
    guard let undoing = try undoing(of: entry.id) else { return }
    throw DatabaseError(
      .changed,
      "Write \(entry.id) was already undone by write \(undoing): undo that one to have it again. "
        + "Nothing was changed.")
  }

  /// True if the origin refused a write: nothing of it stands, and it is kept among the refused ones.
  ///
  /// What stood before it may have been written by others that were refused, too. O(refused writes).
  private func wasRefused(_ entry: HistoryEntry) throws -> Bool {
    let kept = try keptRefusals().map(\.write)
    let places = Set(entry.parts.map(\.path))
    if entry.parts.count > 1, kept.contains(where: { $0.wrote(all: entry.parts) }) {
      return try wasTakenBack(entry)
    }
    guard kept.contains(where: { Set($0.parts.map(\.path)) == places }) else { return false }
    for part in entry.parts {
      guard let old = part.values?.old, let present = try historyValue(of: part) else {
        return false
      }
      if present == old { continue }
      guard !part.isPriority, var node = try? Node(json: old, at: part.path),
        kept.reversed().contains(where: { write in
          node = node.takingBack(write, at: part.path)
          return node.exportJSON == present
        })
      else { return false }
    }
    return true
  }

  /// Whether nothing of a write of several places stands, and at one at least what it replaced does: at the others,
  /// others may have written since.
  private func wasTakenBack(_ entry: HistoryEntry) throws -> Bool {
    var isTakenBack = false
    for part in entry.parts {
      guard let values = part.values, let present = try historyValue(of: part) else { return false }
      if present == values.new { return false }
      if present == values.old { isTakenBack = true }
    }
    return isTakenBack
  }

  /// The write that undid an entry, and is in effect; nil if there is none.
  private func undoing(of id: Int64) throws -> Int64? {
    let rows = try statement(
      """
      SELECT sequence, undoes FROM change
      WHERE sequence > ? AND undoes IS NOT NULL ORDER BY sequence DESC
      """)
    var undone: Set<Int64> = []
    var found: Int64?
    try rows.forEach([.integer(id)]) { row in
      guard let number = try row.integer(0, "sequence"), !undone.contains(number),
        let other = try row.integer(1, "undoes")
      else { return true }
      undone.insert(other)
      if other == id { found = number }
      return found == nil
    }
    return found
  }

  /// Throws if the result of an entry does not stand, or if it was undone already.
  ///
  /// What an operation made is compared by the plan for undoing it, as far as it was kept. On a replica
  /// the values alone decide: the origin may have refused the undoing, which the history does not say.
  func checkUnchanged(_ entry: HistoryEntry, onReplica isReplica: Bool = false) throws {
    if !isReplica { try checkNotUndone(entry) }
    for part in entry.parts {
      if entry.operation != nil {
        if try part.before == nil || WritesSince(entry, at: part.path, self).isUndone == true {
          continue
        }
      } else if try historyValue(of: part) == part.values?.new {
        continue
      }
      try checkNotUndone(entry)
      if isReplica, try wasRefused(entry) {
        throw DatabaseError(
          .refused, "Write \(entry.id) was refused, so there is nothing left of it to undo.")
      }
      var error = DatabaseError(
        .changed,
        "Write \(entry.id) cannot be undone: \(part.name) was written since. Nothing was changed.")
      error.places = [part.path]
      throw error
    }
  }
}

extension PendingWrite {
  /// Whether the write made these changes, and no others.
  fileprivate func wrote(all changes: [HistoryEntry.Part]) -> Bool {
    var left: [Path: JSONValue] = [:]
    for change in changes where !change.isPriority { left[change.path] = change.values?.new }
    for (index, part) in parts.enumerated() {
      guard case .node(let node) = part.target else { return false }
      if let new = left.removeValue(forKey: part.path) {
        if new != node.exportJSON { return false }
      } else if !bases.indices.contains(index) || bases[index] != node {
        // The history has only what was changed.
        return false
      }
    }
    return left.isEmpty
  }
}

extension RunnelTree.Node {
  /// The node at a place without what a write has put there, as far as that stands.
  fileprivate func takingBack(_ write: PendingWrite, at path: Path) -> RunnelTree.Node {
    var node = self
    for (part, base) in zip(write.parts, write.bases) {
      guard case .node(let written) = part.target, let base else { continue }
      if let below = part.path.relative(to: path) {
        if node[below] == written { node = node.replacing(below, with: base) }
      } else if let below = path.relative(to: part.path), node == written[below] {
        node = base[below]
      }
    }
    return node
  }
}

extension JSONValue {
  /// True if a value has all that this one has.
  fileprivate func stands(in present: JSONValue) -> Bool {
    guard let members = object else { return self == present }
    return members.allSatisfy { member in
      present[member.name].map { member.value.stands(in: $0) } ?? false
    }
  }
}
