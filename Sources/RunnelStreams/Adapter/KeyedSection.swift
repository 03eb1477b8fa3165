/// A section of a list, by the keys of its rows.
public struct KeyedSection: Hashable, Sendable {
  /// What the section is known by.
  public var id: String
  /// The keys of the rows, in order.
  public var keys: [String]

  /// Makes a section.
  public init(id: String, keys: [String]) {
    self.id = id
    self.keys = keys
  }
}
