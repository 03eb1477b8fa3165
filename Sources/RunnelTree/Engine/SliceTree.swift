/// Slices of one order, found by a position that they contain.
///
/// An interval tree in an array: `slices` ascend by their lower ends, the middle element of a range
/// is the root of that range's subtree, and `furthest` has the upper end that a subtree reaches.
struct SliceTree: Sendable {
  private struct Entry: Sendable {
    var slice: RowSlice
    var owner: Int
  }

  /// The end of a slice or a subtree in the order.
  private enum Reach: Comparable {
    case to(IndexPosition)
    case unbounded

    init(_ end: Query.Bound?) { self = end.map { .to($0.position) } ?? .unbounded }
  }

  private var entries: [Entry]
  private var furthest: [Reach]

  /// Makes a tree of slices, each with the number of its owner.
  ///
  /// O(n log n).
  init(_ slices: [(slice: RowSlice, owner: Int)]) {
    entries = slices.map { Entry(slice: $0.slice, owner: $0.owner) }
    entries.sort { SliceTree.startsBefore($0.slice, $1.slice) }
    furthest = entries.map { Reach($0.slice.end) }
    _ = note(entries.indices)
  }

  private static func startsBefore(_ left: RowSlice, _ right: RowSlice) -> Bool {
    guard let right = right.start else { return false }
    return left.start.map { $0.position < right.position } ?? true
  }

  /// Notes how far each subtree of a range reaches; returns how far the whole range reaches.
  private mutating func note(_ range: Range<Int>) -> Reach? {
    if range.isEmpty { return nil }
    let middle = range.lowerBound + range.count / 2
    let below = [note(range.lowerBound..<middle), note(middle + 1..<range.upperBound)]
    furthest[middle] = below.compactMap { $0 }.reduce(furthest[middle], max)
    return furthest[middle]
  }

  /// Calls `body` with the owner of each slice whose ends enclose a position, in no order.
  ///
  /// O(log n + found slices), if slices are not nested much.
  func forEachOwner(ofSliceAt position: IndexPosition, _ body: (Int) -> Void) {
    visit(entries.indices, position, body)
  }

  private func visit(_ range: Range<Int>, _ position: IndexPosition, _ body: (Int) -> Void) {
    if range.isEmpty { return }
    let middle = range.lowerBound + range.count / 2
    if furthest[middle] < .to(position) { return }
    visit(range.lowerBound..<middle, position, body)
    if let start = entries[middle].slice.start, position < start.position { return }
    if entries[middle].slice.contains(position) { body(entries[middle].owner) }
    visit(middle + 1..<range.upperBound, position, body)
  }
}
