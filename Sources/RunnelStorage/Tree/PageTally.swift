import RunnelTree

/// Counts the children of split nodes that are read page by page within one transaction.
///
/// A page alone cannot show that a row is missing. But the pages of a whole node must contain as
/// many children as the node's count says; if they do not, the node is damaged.
final class PageTally {
  /// The most nodes whose pages are counted at the same time.
  private static let countMax = 64

  /// An order in which a node is read.
  private struct Reading: Hashable {
    var split: Int64
    var index: QueryIndex
    var isFromLast: Bool
  }

  private struct Count {
    var rows: Int
    /// The position of the last row of the last page.
    var end: IndexPosition
  }

  private var counts: [Reading: Count] = [:]

  /// Notes a page.
  ///
  /// - Parameters:
  ///   - rows: the page, in its order.
  ///   - slice: the slice that was read.
  ///   - split: the node.
  /// - Returns: the number of children, if this was the last page of all; nil if it was not, or if
  ///   not all pages were read.
  func note(_ rows: [TreeRow], in slice: RowSlice, of split: Int64) -> Int? {
    guard slice.filter == nil, let limit = slice.limit else { return nil }
    let isFromLast = limit.side == .last
    let (near, far) = isFromLast ? (slice.end, slice.start) : (slice.start, slice.end)
    if far != nil { return nil }
    let reading = Reading(split: split, index: slice.index, isFromLast: isFromLast)
    var count = rows.count
    if let near {
      guard let before = counts.removeValue(forKey: reading), before.end == near.position else {
        return nil
      }
      // A page may begin with the last row of the page before.
      count += before.rows - (near.isInclusive ? 1 : 0)
    }
    guard rows.count == limit.count, let end = isFromLast ? rows.first : rows.last else {
      return count
    }
    if counts.count == PageTally.countMax { counts = [:] }
    counts[reading] = Count(rows: count, end: end.position)
    return nil
  }

  /// Forgets all pages, because a write changes the counts.
  func forgetAll() { counts = [:] }
}
