import RunnelBase
import RunnelTree

/// What was sent from the line of a list before its draft was typed: a record of these is not the draft,
/// though it may have the same text.
package struct SentBefore: Hashable, Sendable {
  /// The newest record that was stored from the line; nil if none was.
  var stored: Key?
  /// When the oldest text that is still being stored was typed, in milliseconds since 1970.
  var since: Int64?
  /// The number of texts equal to the draft that are still being stored.
  var equalCount = 0

  init() {}

  /// Notes that a record was stored.
  mutating func note(_ key: Key) { stored = max(stored ?? key, key) }

  // MARK: JSON

  /// The members of a session.
  var members: [JSONMember] {
    var members: [JSONMember] = []
    if let stored { members.append(JSONMember("after", .string(stored.text))) }
    if let since { members.append(JSONMember("sending", .number(JSONNumber(since)))) }
    if equalCount > 0 { members.append(JSONMember("same", .int(equalCount))) }
    return members
  }

  /// Reads the members of a session; those that are not valid are ignored.
  init(_ json: JSONValue) {
    stored = json["after"]?.string.flatMap { try? Key($0) }
    since = json["sending"]?.int.map { Int64($0) }
    equalCount = max(json["same"]?.int ?? 0, 0)
  }
}

extension SentBefore {
  /// What was sent before the draft of a list, as the session keeps it.
  ///
  /// O(texts being stored).
  init(_ state: AppState, inView view: Int) {
    self = state.tabs.lists[view].line.sentBefore
    equalCount = state.requests.newestSent(.max, inView: view)
      .count { $0.text == state.tabs.lists[view].line.draft }
    if !state.requests.isSending(inView: view) { since = nil }
  }
}
