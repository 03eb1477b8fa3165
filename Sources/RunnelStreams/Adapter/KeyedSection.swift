public import RunnelBase

/// A section of a list, by the keys of its rows.
public struct KeyedSection: Hashable, Sendable {
  /// The id of the section.
  public var id: String
  /// The keys of the rows, in order.
  public var keys: [String]

  /// Makes a section.
  public init(id: String, keys: [String]) {
    self.id = id
    self.keys = keys
  }

  /// Makes a section from one of a list.
  ///
  /// O(n).
  public init(_ section: ListSection) { self.init(id: section.id, keys: Array(section.rows)) }
}
