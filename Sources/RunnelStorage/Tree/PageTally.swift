import RunnelTree

/// Counts the children of split nodes that are read page by page within one transaction.
///
/// A page alone cannot show that a row is missing. But who reads a whole node in pages reads as many
/// children as the node says that it has, or it is damaged.
final class PageTally {
  /// The most nodes that are read at the same time; the pages of others are not counted.
  private static let countMax = 64

  /// An order in which a node is read.
  private struct Reading: Hashable {
    var split: Int64
    var index: QueryIndex
    var isFromLast: Bool
  }

  private struct Count {
    var rows: Int
    /// Where the last page ended.
    var end: IndexPosition
  }

  private var counts: [Reading: Count] = [:]

  /// Takes a page over.
  ///
  /// - Parameters:
  ///   - rows: the page, in its order.
  ///   - slice: what was asked for.
  ///   - split: the node.
  /// - Returns: how many children there are, if this was the last one of all pages; nil if it was not, or
  ///   if not all of them were read.
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
      // A page may begin with the row that was the last one.
      count += before.rows - (near.isInclusive ? 1 : 0)
    }
    guard rows.count == limit.count, let end = isFromLast ? rows.first : rows.last else {
      return count
    }
    if counts.count == PageTally.countMax { counts = [:] }
    counts[reading] = Count(rows: count, end: end.position)
    return nil
  }

  /// What is written changes counts: pages that were begun before are not counted on.
  func forgetAll() { counts = [:] }
}
