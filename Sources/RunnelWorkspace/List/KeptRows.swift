/// The rows that a list left open is to keep loaded; the others become rows to fetch again.
package struct KeptRows: Hashable, Sendable {
  /// How many rows are kept at least.
  package var count: Int
  /// The ids of rows that stay whatever their number: those around the cursor, and edited ones.
  package var protected: Set<String>
  /// The ids of the marked rows, which stay unless they are many times further apart than what is kept:
  /// those are loaded again when the user goes there.
  package var marked: Set<String>

  /// Up to so many times the rows that are kept are loaded for marked ones.
  package static let marksReach = 10
}
