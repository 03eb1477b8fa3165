package import RunnelBase

/// The fields of a request: in small and capital letters or with underscores, with numbers where
/// texts are declared.
///
/// Unknown fields and nulls are ignored.
///
/// Source: authentication, section 1.
package struct CallFields: Hashable, Sendable {
  /// The most bytes of a text.
  private static let textBytesMax = 65_536

  private let json: JSONValue

  package init(_ json: JSONValue = .object([])) { self.json = json }

  /// The value of a field; nil if it is missing or null.
  package func value(_ name: String) -> JSONValue? {
    guard let value = json[name] ?? json[CallFields.snake(name)], !value.isNull else { return nil }
    return value
  }

  /// `returnSecureToken` as `return_secure_token`.
  static func snake(_ name: String) -> String {
    var result = ""
    for character in name {
      if character.isUppercase {
        result += "_" + character.lowercased()
      } else {
        result.append(character)
      }
    }
    return result
  }

  private func failure(_ name: String, _ kind: String) -> IdentityStop {
    .error(.badJSON("Invalid value at '\(name)' (\(kind))."))
  }

  /// A text.
  ///
  /// - Throws: `IdentityStop` if it is of another kind.
  package func text(_ name: String) throws(IdentityStop) -> String? {
    switch value(name) {
    case nil: return nil
    case .string(let text)?:
      if text.utf8.count > CallFields.textBytesMax { throw failure(name, "too long") }
      return text
    case .number(let number)?: return JSONValue.number(number).jsonText()
    case .bool(let flag)?: return flag ? "true" : "false"
    case .array?, .object?, .null?: throw failure(name, "TYPE_STRING")
    }
  }

  /// A text that is not empty; an empty one counts as missing.
  package func filled(_ name: String) throws(IdentityStop) -> String? {
    guard let text = try text(name), !text.isEmpty else { return nil }
    return text
  }

  /// A flag.
  ///
  /// - Throws: `IdentityStop` if it is of another kind.
  package func flag(_ name: String) throws(IdentityStop) -> Bool? {
    switch value(name) {
    case nil: return nil
    case .bool(let flag)?: return flag
    case .string("true")?: return true
    case .string("false")?: return false
    default: throw failure(name, "TYPE_BOOL")
    }
  }

  /// A whole number.
  ///
  /// - Throws: `IdentityStop` if it is of another kind.
  package func int(_ name: String) throws(IdentityStop) -> Int64? {
    switch value(name) {
    case nil: return nil
    case .number(let number)?:
      guard let integer = number.integer else { throw failure(name, "TYPE_INT64") }
      return integer
    case .string(let text)?:
      guard let integer = Int64(text) else { throw failure(name, "TYPE_INT64") }
      return integer
    default: throw failure(name, "TYPE_INT64")
    }
  }

  /// A list; nil if it is missing.
  ///
  /// - Throws: `IdentityStop` if it is of another kind.
  package func list(_ name: String) throws(IdentityStop) -> [JSONValue]? {
    switch value(name) {
    case nil: return nil
    case .array(let elements)?: return elements
    default: throw failure(name, "not a list")
    }
  }

  /// A list of texts; one text counts as a list.
  ///
  /// - Throws: `IdentityStop` if it is of another kind.
  package func texts(_ name: String) throws(IdentityStop) -> [String] {
    guard let value = value(name) else { return [] }
    switch value {
    case .string(let text): return [text]
    case .array(let elements):
      var texts: [String] = []
      for element in elements {
        switch element {
        case .string(let text): texts.append(text)
        case .number(let number): texts.append(JSONValue.number(number).jsonText())
        default: throw failure(name, "TYPE_STRING")
        }
      }
      return texts
    default: throw failure(name, "not a list")
    }
  }

  /// The members of an object as fields; none if it is missing.
  package func fields(_ name: String) -> CallFields { CallFields(value(name) ?? .object([])) }
}
