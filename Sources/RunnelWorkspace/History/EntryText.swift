package import RunnelBase
import RunnelTerminal
package import RunnelTree

/// Writes an entry of the database's history as words: where, and what was changed into what.
package struct EntryText {
  /// The most characters of a value in a line of several; the width cuts the rest.
  private static let valueMax = 32

  /// A place within another, with what stood there and what stands there since.
  package struct Change: Hashable, Sendable {
    /// The names from the outer place on, with slashes between them; empty for itself.
    package var name: String
    package var old: JSONValue
    package var new: JSONValue

    package init(name: String, old: JSONValue, new: JSONValue) {
      self.name = name
      self.old = old
      self.new = new
    }
  }

  let ellipsis: String
  /// The place whose history is shown: what is below it is named from there.
  package let place: Path
  /// Where entries of the action log stand; nil if nothing is logged.
  package let log: Path?

  /// What a write did, in one line.
  package func text(of entry: HistoryEntry) -> String {
    let words = ordered(entry.parts).map(text(of:)).joined(separator: "; ")
    return entry.undoes == nil ? words : "undo: \(words)"
  }

  /// What is about the place comes first, then what else the write did, and what it logged last.
  package func ordered(_ parts: [HistoryEntry.Part]) -> [HistoryEntry.Part] {
    func rank(_ part: HistoryEntry.Part) -> Int {
      if let log, log.contains(part.path), !log.contains(place) { return 2 }
      return part.path.contains(place) || place.contains(part.path) ? 0 : 1
    }
    return (0...2).flatMap { wanted in parts.filter { rank($0) == wanted } }
  }

  private func text(of part: HistoryEntry.Part) -> String {
    let name = name(of: part)
    let start = name.isEmpty ? "" : "\(name)  "
    guard let values = part.values else {
      return "\(start)(too large to \(part.before == nil ? "keep" : "show"))"
    }
    switch (values.old, values.new) {
    case (.null, .null): return "\(start)nothing"
    case (.null, let new): return "\(start)added \(short(new))"
    case (let old, .null): return "\(start)deleted \(short(old))"
    case (let old, let new):
      let changes = EntryText.changes(from: old, to: new)
      if changes.isEmpty { return "\(start)the same as before" }
      return start
        + changes.map { change in
          (change.name.isEmpty ? "" : "\(change.name): ")
            + "\(short(change.old)) -> \(short(change.new))"
        }.joined(separator: ", ")
    }
  }

  /// The place of a part, from the one that is shown on if it is below it.
  package func name(of part: HistoryEntry.Part) -> String {
    let priority = part.isPriority ? "priority" : ""
    if let below = part.path.relative(to: place) {
      return [below.text, priority].filter { !$0.isEmpty }.joined(separator: " ")
    }
    return [part.path.description, priority].filter { !$0.isEmpty }.joined(separator: " ")
  }

  package func short(_ json: JSONValue) -> String {
    if json == .null { return "-" }
    let text = json.jsonText()
    return text.count > EntryText.valueMax
      ? text.prefix(EntryText.valueMax) + ellipsis : text
  }

  /// The innermost places at which two values differ, in the order of the names.
  package static func changes(
    from old: JSONValue, to new: JSONValue, at name: String = ""
  ) -> [Change] {
    if old == new { return [] }
    let (before, after) = (members(old), members(new))
    if before == nil || after == nil, old != .null, new != .null {
      return [Change(name: name, old: old, new: new)]
    }
    guard before != nil || after != nil else { return [Change(name: name, old: old, new: new)] }
    let names = Set((before ?? []).map(\.name) + (after ?? []).map(\.name)).sorted()
    return names.flatMap { child in
      changes(
        from: old[child] ?? .null, to: new[child] ?? .null,
        at: name.isEmpty ? child : "\(name)/\(child)")
    }
  }

  /// The members of an object that is not empty.
  private static func members(_ json: JSONValue) -> [JSONMember]? {
    if case .object(let members) = json, !members.isEmpty { members } else { nil }
  }
}
