import RunnelBase

/// What was left when a write of many records was undone: the changes where others have written since.
package struct PartialUndo: Hashable, Sendable {
  /// The changes that were left.
  package var left: [HistoryEntry.Part]
  /// The number of all changes of the write.
  package var count: Int
  /// The number of keys above the key of a record.
  package var depth: Int

  package init(left: [HistoryEntry.Part], count: Int, depth: Int) {
    (self.left, self.count, self.depth) = (left, count, depth)
  }

  /// The number of changes that were undone.
  package var doneCount: Int { count - left.count }

  /// The keys of the first records that were left, and how many more there are.
  package var names: String {
    let named = left.prefix(3).map { part in
      part.path.keys.dropFirst(depth).first?.text ?? part.path.description
    }.joined(separator: ", ")
    return left.count > 3 ? "\(named) and \(left.count - 3) more" : named
  }

  /// The start of a value as JSON, or a word for none.
  fileprivate static func short(_ value: JSONValue) -> String {
    let text = value == .null ? "nothing" : value.jsonText()
    return text.unicodeScalars.count > 24 ? "\(text.prefix(24))…" : text
  }
}

extension HistoryEntry {
  /// The number of keys above the key of a record if the write did the same with many records, so that it
  /// can be undone at some of them; nil for any other write.
  ///
  /// All its places are the same field of the records of one collection, or the records themselves, and
  /// one value stood at all of them before or stands there after it. So a move or an exchange, which
  /// would lose or double what it moved, is none.
  ///
  /// O(n) in the values.
  package var recordDepth: Int? {
    guard parts.count > 1, operation == nil, !parts.contains(where: \.isPriority) else {
      return nil
    }
    let values = parts.compactMap(\.values)
    guard values.count == parts.count,
      values.allSatisfy({ $0.new == values[0].new })
        || values.allSatisfy({ $0.old == values[0].old })
    else { return nil }
    let (first, second) = (parts[0].path.keys, parts[1].path.keys)
    guard let depth = zip(first, second).enumerated().first(where: { $1.0 != $1.1 })?.offset else {
      return nil
    }
    let isAlike = parts.allSatisfy { part in
      let keys = part.path.keys
      return keys.count == first.count && keys[..<depth] == first[..<depth]
        && keys[(depth + 1)...] == first[(depth + 1)...]
    }
    return isAlike ? depth : nil
  }

  /// Why the write cannot be undone at some of its places only: a sentence; nil if it can.
  ///
  /// O(n) in the values.
  package var reasonNotDivided: String? {
    if recordDepth != nil { return nil }
    if operation != nil { return "It was an operation on one record, which is undone as a whole." }
    if parts.contains(where: { $0.before != nil }) { return "An import is undone as a whole." }
    if parts.count < 2 { return "It changed one place." }
    let differing = zip(parts, parts.dropFirst()).first { first, second in
      guard let one = first.values, let other = second.values else { return false }
      return one.old != other.old && one.new != other.new
    }
    let whole = "so that a part of it could lose or double a value that it moved."
    guard let (first, second) = differing, let one = first.values, let other = second.values else {
      return "It did not do the same at its places, \(whole)"
    }
    let values = [(first, one), (second, other)].map { part, values in
      "\(PartialUndo.short(values.old)) became \(PartialUndo.short(values.new)) at \(part.path)"
    }
    return "It did not do the same at its places (\(values.joined(separator: ", "))), \(whole)"
  }
}
