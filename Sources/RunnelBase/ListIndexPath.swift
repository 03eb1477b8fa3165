/// The place of a row in a sectioned list.
///
/// Both numbers are 0-based. Paths are ordered by section, then by row.
public struct ListIndexPath: Hashable, Sendable, Comparable {
  /// The index of the section in the list.
  public var section: Int
  /// The index of the row in its section.
  public var row: Int

  /// Makes a path from a section and a row in it.
  public init(section: Int, row: Int) {
    self.section = section
    self.row = row
  }

  /// Orders by section, then by row.
  public static func < (left: ListIndexPath, right: ListIndexPath) -> Bool {
    (left.section, left.row) < (right.section, right.row)
  }
}

extension ListIndexPath: CustomStringConvertible {
  /// The section and the row: `2.14`.
  public var description: String { "\(section).\(row)" }
}
