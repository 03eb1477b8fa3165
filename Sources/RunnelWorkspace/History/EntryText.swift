package import RunnelBase
import RunnelTerminal
package import RunnelTree

/// Formats an entry of the database's history as words: the places, and their old and new values.
package struct EntryText {
  /// The greatest length of a value in a line with several; the width cuts the rest.
  private static let valueMax = 32
  /// The greatest length of a title in characters.
  private static let titleMax = 60

  /// A change of a place, with its old and new value.
  package struct Change: Hashable, Sendable {
    /// The path from the outer place, separated by slashes; empty for the outer place itself.
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
  /// The place whose history is shown; places below it are named relative to it.
  package let place: Path
  /// The place of the action log, or nil if nothing is logged.
  package let log: Path?
  /// The ids of entries that undo an undo.
  var redoes: Set<Int64> = []
  /// Whether objects are told by the number of their keys only.
  private var isTitle = false

  init(ellipsis: String, place: Path, log: Path?, redoes: Set<Int64> = []) {
    (self.ellipsis, self.place, self.log, self.redoes) = (ellipsis, place, log, redoes)
  }

  /// Returns a short description of a write, for a message: no object is cut in the middle.
  func title(of entry: HistoryEntry) -> String {
    var short = self
    short.isTitle = true
    let text = short.text(of: entry)
    return text.count > EntryText.titleMax
      ? text.prefix(EntryText.titleMax) + ellipsis : text
  }

  /// Returns the description of a write in one line.
  package func text(of entry: HistoryEntry) -> String {
    let words = ordered(entry.parts).map(text(of:)).joined(separator: "; ")
    if entry.undoes == nil { return words }
    return "\(redoes.contains(entry.id) ? "redo" : "undo"): \(words)"
  }

  /// Returns the parts of a write in order: first those about the place, then other parts, and last
  /// the entries of the action log.
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
      let what = name.isEmpty ? "\(part.path)  " : start
      if part.isPartlyKnown { return "\(what)(only a part was known here)" }
      return "\(what)(too large to \(part.before == nil ? "keep" : "show"))\(part.keptWords)"
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

  /// The name of a part: relative to the place shown if it is below that place, otherwise its full
  /// path.
  package func name(of part: HistoryEntry.Part) -> String {
    let priority = part.isPriority ? "priority" : ""
    if let below = part.path.relative(to: place) {
      return [below.text, priority].filter { !$0.isEmpty }.joined(separator: " ")
    }
    return [part.path.description, priority].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The words for a part of a write that is too large, in full.
  static func words(onLarge part: HistoryEntry.Part) -> String {
    if part.isPartlyKnown { return "only a part of what stood there was known here" }
    guard part.before != nil else { return "the values were too large to keep" }
    return part.keptWords.isEmpty
      ? "too large to show; what stood there before is kept"
      : "too large to show\(part.keptWords), beside the database"
  }

  package func short(_ json: JSONValue) -> String {
    if json == .null { return "-" }
    if isTitle, case .object(let members) = json, !members.isEmpty {
      return "{ \(members.count) \(members.count == 1 ? "key" : "keys") }"
    }
    let text = json.jsonText()
    return text.count > EntryText.valueMax
      ? text.prefix(EntryText.valueMax) + ellipsis : text
  }

  /// Returns the innermost places where two values differ, ordered by name.
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

  /// Returns the members of an object that is not empty, or nil for other values.
  private static func members(_ json: JSONValue) -> [JSONMember]? {
    if case .object(let members) = json, !members.isEmpty { members } else { nil }
  }
}

extension HistoryEntry.Part {
  /// The words for the file that keeps what stood at the place before; empty if there is none.
  fileprivate var keptWords: String {
    guard case .file(let suffix, let byteCount, _)? = before else { return "" }
    return "; before: \(ByteCount.text(byteCount)) in the file …\(suffix)"
  }
}
