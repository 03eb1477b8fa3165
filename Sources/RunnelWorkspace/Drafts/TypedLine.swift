import RunnelBase
import RunnelTree

/// A text that was typed into the line of a list and not sent.
package struct TypedLine: Hashable, Sendable {
  package var text: String
  /// When it was last typed, in milliseconds since 1970; nil if that is not known.
  package var time: Int64?
  /// What was sent before it.
  var sentBefore: SentBefore

  init(_ text: String, time: Int64?, sentBefore: SentBefore = SentBefore()) {
    (self.text, self.time, self.sentBefore) = (text, time, sentBefore)
  }

  // MARK: JSON

  /// The members of a session.
  var members: [JSONMember] {
    [JSONMember("draft", .string(text))] + TypedLine.members(time, sentBefore)
  }

  /// Reads the members of a session; nil if there is no text.
  init?(_ json: JSONValue) {
    guard let text = json["draft"]?.string else { return nil }
    self.init(text, time: TypedLine.time(json), sentBefore: SentBefore(json))
  }

  /// The members for when a text was typed, and what was sent before.
  static func members(_ time: Int64?, _ sentBefore: SentBefore) -> [JSONMember] {
    guard let time else { return [] }
    return [JSONMember("drafted", .number(JSONNumber(time)))] + sentBefore.members
  }

  /// The time in the members of a session; nil if it is not known.
  static func time(_ json: JSONValue) -> Int64? { json["drafted"]?.int.map { Int64($0) } }
}

extension Draft {
  /// A text that was typed into the line of a list of a collection, to be offered there.
  init(_ line: TypedLine, of collection: Path) {
    self.init(
      Subject(.message, collection), [Text("text", line.text, .string, base: "")])
    (time, sentBefore) = (line.time, line.sentBefore)
  }
}
