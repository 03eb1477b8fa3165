import RunnelBase
import RunnelStorage
import RunnelTree

// What others wrote, in the history of a replica.
//
// The entry of a write that waits for the origin has what stood here when it was made. If others wrote there
// meanwhile, the write is merged with that, and replaces it: the entry gets both, so that its undo brings
// back what the write has replaced.

extension StoreTransaction {
  /// Puts what a write was merged with into its entry.
  ///
  /// O(entries that are kept).
  func noteMerged(_ write: PendingWrite, before old: PendingWrite) throws(TreeError) {
    try tree.reading {
      let places = write.mergedPlaces(since: old)
      guard let first = places.first, try historyLimit() > 0,
        var entry = try entry(with: first, madeAt: write.madeAt)
      else { return }
      for place in places { entry.replace(place) }
      try store(entry)
    }
  }

  /// The entry of a write, the newest if several have the same values; if the write has a time, the nearest.
  private func entry(with place: MergedPlace, madeAt: Int64?) throws -> HistoryEntry? {
    var found: HistoryEntry?
    var distance = UInt64.max
    try statement(
      """
      SELECT sequence, at, author, undoes, parts FROM change
      WHERE at IS NOT NULL AND instr(parts, ?) ORDER BY sequence DESC
      """
    ).forEach([.text(JSONValue.string(place.path.description).jsonText())]) { row in
      let entry = try historyEntry(row)
      guard entry.parts.contains(where: place.isIn) else { return true }
      guard let madeAt else {
        found = entry
        return false
      }
      // The clocks of the two differ by the same for all writes.
      let other = (entry.at &- madeAt).magnitude
      if other < distance { (found, distance) = (entry, other) }
      return true
    }
    return found
  }
}

/// A place at which a write was merged with what others wrote.
private struct MergedPlace {
  let path: Path
  /// What stood there when the write was made, and what it wrote.
  let made: HistoryEntry.Part.Values
  /// What it replaces, and what it writes instead.
  let merged: HistoryEntry.Part.Values

  /// Returns whether a part of an entry is of the write as it was made.
  func isIn(_ part: HistoryEntry.Part) -> Bool {
    !part.isPriority && part.path == path && part.values == made
  }

  /// Whether the values are small enough to be kept.
  var isSmall: Bool {
    [merged.old, merged.new].allSatisfy { $0.jsonBytes().count <= History.valueBytesMax }
  }
}

extension PendingWrite {
  /// The places at which the write has other bases than before.
  fileprivate func mergedPlaces(since old: PendingWrite) -> [MergedPlace] {
    guard parts.count == old.parts.count, bases.count == old.bases.count else { return [] }
    return bases.indices.compactMap { index in
      guard parts.indices.contains(index), let base = old.bases[index], let theirs = bases[index],
        base != theirs, case .node(let mine) = old.parts[index].target,
        case .node(let written) = parts[index].target
      else { return nil }
      let made = HistoryEntry.Part.Values(old: base.exportJSON, new: mine.exportJSON)
      let replaced = PendingWrite.replaced(made, theirs.exportJSON)
      let merged = HistoryEntry.Part.Values(old: replaced, new: written.exportJSON)
      return merged == made ? nil : MergedPlace(path: parts[index].path, made: made, merged: merged)
    }
  }

  /// What a write replaces where others wrote too.
  ///
  /// Where the origin has what the write wrote, the write was done before, and its answer was lost: there it
  /// replaced what it was made upon.
  private static func replaced(
    _ made: HistoryEntry.Part.Values, _ theirs: JSONValue
  ) -> JSONValue {
    if theirs == made.new { return made.old }
    guard let members = theirs.object, let new = made.new.object, let old = made.old.object else {
      return theirs
    }
    var names = members.map(\.name)
    for name in (new + old).map(\.name) where !names.contains(name) { names.append(name) }
    let replaced = names.compactMap { name -> JSONMember? in
      let values = HistoryEntry.Part.Values(
        old: made.old[name] ?? .null, new: made.new[name] ?? .null)
      let value = PendingWrite.replaced(values, theirs[name] ?? .null)
      return value.isNull ? nil : JSONMember(name, value)
    }
    return replaced.isEmpty ? .null : .object(replaced)
  }
}

extension HistoryEntry {
  fileprivate mutating func replace(_ place: MergedPlace) {
    for index in parts.indices where place.isIn(parts[index]) {
      // What is too large is not kept, and the undo says so.
      parts[index].values = place.isSmall ? place.merged : nil
    }
  }
}
