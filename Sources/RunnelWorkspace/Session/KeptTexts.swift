import RunnelBase

/// What was typed in one workspace and neither saved nor thrown away, as the file of the session has it.
///
/// Only the workspace that typed it, or that took it over, changes or removes it.
package struct KeptTexts: Hashable, Sendable {
  /// The most bytes of texts of other workspaces that are kept in the file; the oldest are dropped first.
  package static let bytesMax = 2 << 20

  /// The number of the workspace; nil if it had none.
  package var writer: Int64?
  /// The texts typed into lines, the oldest first, by the names of the views.
  package var lines: [String: [TypedLine]] = [:]
  /// The texts of forms and fields, and of messages besides, the oldest first.
  package var drafts: [Draft] = []

  init(writer: Int64?) { self.writer = writer }

  /// Whether there are none.
  var isEmpty: Bool { lines.isEmpty && drafts.isEmpty }

  /// The number of bytes of all texts.
  var byteCount: Int {
    drafts.reduce(0) { $0 + $1.byteCount }
      + lines.values.joined().reduce(0) { $0 + $1.text.utf8.count }
  }

  /// Adds the texts of another workspace; those of a line stand in the order in which they were typed.
  mutating func add(_ others: KeptTexts) {
    for (view, texts) in others.lines {
      let all = (lines[view] ?? []) + texts
      lines[view] = all.enumerated()
        .sorted { ($0.element.time ?? 0, $0.offset) < ($1.element.time ?? 0, $1.offset) }
        .map(\.element)
    }
    drafts += others.drafts
  }

  /// Whether one workspace has room for all of them.
  ///
  /// A line has one text; those after it wait among the drafts.
  var fitsOneWorkspace: Bool {
    let first = lines.values.compactMap(\.first).reduce(0) { $0 + $1.text.utf8.count }
    let waiting = lines.values.reduce(0) { $0 + $1.count - 1 }
    return first <= SessionState.draftBytesMax
      && drafts.count + waiting <= Drafts.countMax
      && byteCount - first <= Drafts.bytesMax
  }
}

// MARK: JSON

extension KeptTexts {
  /// The texts in the format of a session.
  var json: JSONValue {
    var members: [JSONMember] = []
    if let writer { members.append(JSONMember("writer", .number(JSONNumber(writer)))) }
    let named = lines.sorted { $0.key < $1.key }.map { view, texts in
      JSONMember(view, .array(texts.map { .object($0.members) }))
    }
    if !named.isEmpty { members.append(JSONMember("lines", .object(named))) }
    if !drafts.isEmpty { members.append(JSONMember("drafts", .array(drafts.map(\.json)))) }
    return .object(members)
  }

  /// Reads texts; members that are not valid are ignored.
  init(_ json: JSONValue) {
    writer = json["writer"]?.int.map { Int64($0) }
    for member in json["lines"]?.object ?? [] {
      let texts = (member.value.array ?? []).compactMap { TypedLine($0) }
      if !texts.isEmpty { lines[member.name] = texts }
    }
    drafts = (json["drafts"]?.array ?? []).compactMap { Draft($0) }
  }
}
