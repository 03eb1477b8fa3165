public import RunnelBase

/// A section of a list, by the ids of its rows.
public struct SectionIDs: Hashable, Sendable {
  /// The id of the section.
  public var id: String
  /// The ids of the rows, in order.
  public var rowIDs: [String]

  /// Makes a section.
  public init(id: String, rowIDs: [String]) {
    self.id = id
    self.rowIDs = rowIDs
  }

  /// Makes a section from one of a list.
  ///
  /// O(n).
  public init(_ section: ListSection) { self.init(id: section.id, rowIDs: Array(section.rows)) }
}
