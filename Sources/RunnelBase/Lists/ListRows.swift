/// A source of rows in order, by their ids; a list shows them without copying them.
public protocol ListRowSource: Sendable {
  /// How many rows there are.
  var count: Int { get }
  /// The id of the row at an index below `count`.
  func id(at index: Int) -> String
  /// True if both are known to have the same rows, without comparing them one by one.
  ///
  /// False where that is not known.
  func isCopy(of other: any ListRowSource) -> Bool
}

/// The ids of the rows of a section, in order: those of an array, or of a source that keeps the
/// rows.
///
/// A value that never changes. A copy costs nothing. Reading a row costs as much as in its source,
/// O(1) for an array.
public struct ListRows: RandomAccessCollection, Sendable {
  private enum Storage {
    case ids([String])
    case source(any ListRowSource)
  }

  private let storage: Storage
  /// The index after the last row: how many there are.
  public let endIndex: Int

  /// Makes rows of ids in order.
  public init(_ ids: [String]) {
    storage = .ids(ids)
    endIndex = ids.count
  }

  /// Makes rows that are read from a source.
  public init(_ source: any ListRowSource) {
    storage = .source(source)
    endIndex = source.count
  }

  /// The first index: 0.
  public var startIndex: Int { 0 }

  /// The id of the row at an index.
  public subscript(index: Int) -> String {
    precondition(index >= 0 && index < endIndex, "a row outside its section was asked for")
    return switch storage {
    case .ids(let ids): ids[index]
    case .source(let source): source.id(at: index)
    }
  }

  /// The source of the rows; nil if they are an array.
  package var source: (any ListRowSource)? {
    if case .source(let source) = storage { source } else { nil }
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
    case (.source(let one), .source(let other)) where one.isCopy(of: other): true
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
