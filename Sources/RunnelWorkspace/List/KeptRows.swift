/// The rows that an open list keeps loaded; all others become rows to fetch again.
package struct KeptRows: Hashable, Sendable {
  /// The least number of rows to keep.
  package var count: Int
  /// The ids of rows that always stay: those around the cursor, and edited ones.
  package var protected: Set<String>
  /// The ids of the marked rows.
  ///
  /// They stay if they are within `reach` times the kept rows; others are loaded again when
  /// the user goes there.
  package var marked: Set<String>

  /// The ids of the rows that stay if those around the cursor are too far from each other in the order, as
  /// they may be in a list with sections: the row under the cursor, and edited ones.
  package var nearest: Set<String>

  /// The limit of rows loaded for the sake of marked and of protected ones, as a multiple of the kept
  /// rows.
  package static let reach = 10

  /// Makes the rule for a list; without ids, the rows at the end where rows arrive stay.
  package init(
    count: Int, protected: Set<String> = [], nearest: Set<String> = [], marked: Set<String> = []
  ) {
    (self.count, self.protected) = (count, protected)
    (self.nearest, self.marked) = (nearest, marked)
  }
}
