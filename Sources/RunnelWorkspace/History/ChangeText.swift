import RunnelBase
import RunnelStreams
package import RunnelTree

/// Formats an entry of an action log as words: the operation, the record, and the old and new
/// values.
package struct ChangeText {
  /// The most characters of a value; columns cut the rest.
  private static let valueMax = 60
  /// The greatest length of a key in characters; longer keys are shortened in the middle.
  private static let keyMax = 12

  let ellipsis: String
  /// The local time for formatting times, or nil to leave times as they are stored.
  package var local: LocalTime?

  /// Returns the words for a record of the log, or nil if the record is no entry.
  package func text(of node: RunnelTree.Node) -> String? {
    guard let entry = RunnelStreams.ActionLogEntry(id: Key(unchecked: "entry"), node) else {
      return nil
    }
    let deed =
      switch entry.kind {
      case .create: "added"
      case .update: "changed"
      case .destroy: entry.isCascaded ? "deleted with its owner" : "deleted"
      }
    let values = values(of: entry)
    return "\(deed) \(entry.resource) \(short(entry.key.text))"
      + (values.isEmpty ? "" : "  \(values)")
  }

  private func values(of entry: RunnelStreams.ActionLogEntry) -> String {
    if entry.isCut { return "(too large for the log)" }
    switch entry.kind {
    case .create: return members(entry.new)
    case .destroy: return members(entry.old)
    case .update:
      return Set(names(entry.old) + names(entry.new)).sorted().compactMap { name in
        let (old, new) = (entry.old[name] ?? .null, entry.new[name] ?? .null)
        return old == new
          ? nil : "\(name): \(short(old)) -> \(short(new))"
      }.joined(separator: ", ")
    }
  }

  private func members(_ json: JSONValue) -> String {
    guard case .object(let members) = json else { return short(json) }
    return members.map { "\($0.name): \(short($0.value))" }.joined(separator: ", ")
  }

  private func names(_ json: JSONValue) -> [String] {
    if case .object(let members) = json { members.map(\.name) } else { [] }
  }

  private func short(_ json: JSONValue) -> String {
    if json == .null { return "-" }
    if let local, let moment = TreeText.moment(of: json, local) { return moment }
    let text = json.jsonText()
    return text.count > ChangeText.valueMax
      ? text.prefix(ChangeText.valueMax) + ellipsis : text
  }

  private func short(_ key: String) -> String {
    key.count > ChangeText.keyMax ? "\(key.prefix(4))\(ellipsis)\(key.suffix(3))" : key
  }
}
