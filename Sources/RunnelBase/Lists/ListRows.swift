import Synchronization

/// A source of rows in order, by their ids; a list shows them without copying them.
public protocol ListRowSource: Sendable {
  /// The number of rows.
  var count: Int { get }
  /// The ids of the rows at a range of indices up to `count`, in order.
  func ids(in range: Range<Int>) -> [String]
  /// True if both are known to have the same rows, without comparing them one by one.
  ///
  /// False if that is not known.
  func isCopy(of other: any ListRowSource) -> Bool
}

/// The ids of the rows of a section, in order: those of an array, or of a source that keeps the
/// rows.
///
/// The value never changes. A copy costs nothing. Reading a row of an array is O(1). Rows read from
/// a source are kept for a while with their neighbors, so that the rows of a screen are looked up
/// once, however often they are read.
public struct ListRows: RandomAccessCollection, Sendable {
  private enum Storage {
    case ids([String])
    case source(RowWindow)
  }

  private let storage: Storage
  /// The index after the last row: the number of rows.
  public let endIndex: Int

  /// Makes rows of ids in order.
  public init(_ ids: [String]) {
    storage = .ids(ids)
    endIndex = ids.count
  }

  /// Makes rows that are read from a source.
  public init(_ source: any ListRowSource) {
    storage = .source(RowWindow(source))
    endIndex = source.count
  }

  /// The first index: 0.
  public var startIndex: Int { 0 }

  /// The id of the row at an index.
  public subscript(index: Int) -> String {
    precondition(index >= 0 && index < endIndex, "a row outside its section was asked for")
    return switch storage {
    case .ids(let ids): ids[index]
    case .source(let window): window.id(at: index, count: endIndex)
    }
  }

  /// The source of the rows; nil if they are an array.
  package var source: (any ListRowSource)? {
    if case .source(let window) = storage { window.source } else { nil }
  }
}

extension ListRows: ExpressibleByArrayLiteral {
  /// Makes rows of the ids listed.
  public init(arrayLiteral ids: String...) { self.init(ids) }
}

extension ListRows: Hashable {
  /// True if both have the same ids in the same order.
  ///
  /// O(1) if one is a copy of the other, else O(rows).
  public static func == (left: ListRows, right: ListRows) -> Bool {
    switch (left.storage, right.storage) {
    case (.ids(let left), .ids(let right)): left == right
    case (.source(let one), .source(let other)) where one.source.isCopy(of: other.source): true
    default: left.count == right.count && left.elementsEqual(right)
    }
  }

  /// Hashes the ids.
  ///
  /// O(rows).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for id in self { hasher.combine(id) }
  }
}

extension ListRows: CustomStringConvertible {
  /// The ids as those of an array.
  public var description: String { Array(self).description }
}

/// A source, with the ids around the row that was read last, and those at its ends.
///
/// A class, so that all copies of the rows share what was read; the rows never change, so the order
/// in which threads read cannot change an answer.
private final class RowWindow: Sendable {
  /// The number of rows that are read at once: a screen from the requested row on, and some rows
  /// before it.
  private static let size = (before: 16, after: 64)

  private struct Known {
    var start = 0
    var ids: [String] = []
    var first: String?
    var last: String?
  }

  let source: any ListRowSource
  private let known = Mutex(Known())

  init(_ source: any ListRowSource) { self.source = source }

  /// The id at an index below `count`, the number of rows of the source.
  func id(at index: Int, count: Int) -> String {
    known.withLock { known in
      let offset = index - known.start
      if known.ids.indices.contains(offset) { return known.ids[offset] }
      // The ends are requested again and again, wherever the screen is.
      if index == 0, let first = known.first { return first }
      if index == count - 1, let last = known.last { return last }
      if index == 0 || index == count - 1 {
        let id = source.ids(in: index..<index + 1)[0]
        if index == 0 { known.first = id } else { known.last = id }
        return id
      }
      known.start = max(0, index - RowWindow.size.before)
      known.ids = source.ids(in: known.start..<min(count, index + RowWindow.size.after))
      return known.ids[index - known.start]
    }
  }
}
