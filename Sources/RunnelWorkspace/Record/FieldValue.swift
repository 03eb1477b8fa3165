package import RunnelBase
import RunnelTree

/// The kinds of value that a text field can hold.
package enum FieldKind: String, Hashable, Sendable, CaseIterable {
  case string
  case number
  case boolean
  /// Any JSON value.
  case json

  /// Makes the kind of a value.
  package init(_ json: JSONValue) {
    switch json {
    case .string: self = .string
    case .number: self = .number
    case .bool: self = .boolean
    case .null, .array, .object: self = .json
    }
  }

  /// Returns the text for editing a value.
  package static func text(of json: JSONValue) -> String {
    switch json {
    case .string(let text): text
    case .null: ""
    default: json.jsonText()
    }
  }

  /// Returns the value of a text.
  ///
  /// - Throws: `InputError`, which says what is expected.
  package func value(
    of text: String, _ coding: ValueCoding = .tree
  ) throws(InputError) -> JSONValue {
    switch self {
    case .string: return .string(text)
    case .number:
      let trimmed = FieldKind.trimmed(text)
      if case .number(let number)? = FieldKind.parsed(trimmed) { return .number(number) }
      throw InputError("not a number: type digits, like 12 or -3.5")
    case .boolean:
      switch FieldKind.trimmed(text).lowercased() {
      case "true", "yes", "y", "1": return true
      case "false", "no", "n", "0": return false
      default: throw InputError("not true or false")
      }
    case .json:
      let value: JSONValue
      do {
        value = try JSONValue(parsing: FieldKind.trimmed(text))
      } catch {
        throw InputError("not JSON (\(error)): put texts in \"quotes\"")
      }
      // An empty value would delete the field, and deletions are asked for in another way.
      if coding == .tree, value.isNothing {
        throw InputError("nothing would be stored: delete the field instead")
      }
      return value
    }
  }

  /// The next kind, for a user who changes the type of a field.
  package var next: FieldKind {
    let all = FieldKind.allCases
    let index = all.firstIndex(of: self) ?? 0
    return all[(index + 1) % all.count]
  }

  private static func trimmed(_ text: String) -> String {
    let rest = text.drop { $0.isWhitespace }
    guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(rest[...last])
  }

  private static func parsed(_ text: String) -> JSONValue? {
    // The caller describes the error in the words of the field.
    try? JSONValue(parsing: text)
  }
}

extension JSONValue {
  /// Whether the tree stores nothing for the value: null, or a container of only such values.
  fileprivate var isNothing: Bool {
    switch self {
    case .null: true
    case .bool, .number, .string: false
    case .array(let elements): elements.allSatisfy(\.isNothing)
    case .object(let members): members.allSatisfy(\.value.isNothing)
    }
  }
}

/// The reason why a text is not a valid value of its field.
package struct InputError: Error, Hashable, Sendable {
  package var message: String

  init(_ message: String) { self.message = message }
}
