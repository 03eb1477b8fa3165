import RunnelBase

/// A text of a rules file with its escapes undone, with the position of each of its bytes.
struct RuleText: Sendable {
  /// The text in UTF-8.
  let bytes: [UInt8]
  /// The offset of the first byte in the file.
  let start: Int
  /// The offset of each byte, and then the end; nil if they are consecutive from `start`.
  let offsets: [Int32]?

  /// The text.
  var string: String { String(decoding: bytes, as: UTF8.self) }

  /// Returns the offset of a byte, or of the end, in the file.
  func offset(of index: Int) -> Int {
    let index = min(max(index, 0), bytes.count)
    return offsets.map { Int($0[index]) } ?? start + index
  }
}

/// A value of a rules file with its position.
struct RulesDocument: Sendable {
  /// The content of a value.
  enum Content: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(RuleText)
    case array([RulesDocument])
    case object([Member])
  }

  /// A member of an object.
  struct Member: Sendable {
    let name: RuleText
    /// The offset of the opening quote of the name.
    let offset: Int
    let value: RulesDocument
  }

  let content: Content
  /// The offset at which the value begins.
  let offset: Int

  /// The name of the value's kind in messages.
  var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// The value as JSON, without comments.
  var json: JSONValue {
    switch content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let value): .number(value)
    case .string(let text): .string(text.string)
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members):
      .object(members.map { JSONMember($0.name.string, $0.value.json) })
    }
  }
}
