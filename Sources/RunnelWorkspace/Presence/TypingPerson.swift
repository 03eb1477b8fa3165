package import RunnelBase

/// A person who is typing at another workspace in a view.
package struct TypingPerson: Hashable, Sendable {
  /// The key of the workspace's entry.
  package var id: String
  /// The name of the person.
  package var name: String

  /// The text of the row in the composed field.
  static let words = "is typing"
}

/// The row of a person who is typing.
package struct TypingRow: Hashable, Sendable {
  /// The key of the row.
  package var key: String
  package var value: JSONValue
}
