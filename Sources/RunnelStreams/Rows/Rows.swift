import RunnelBase

/// An ordered collection of rows that is cheap to change and cheap to keep.
///
/// It is a counted B+ tree (Bayer and McCreight, 1972; Comer, 1979): leaves have up to 32 elements,
/// and every node knows how many elements are below it. A copy shares all nodes with its original.
/// A change copies only the nodes on the way to the changed rows, and only if something else holds
/// them too. So keeping the state that was told to each observer costs nothing; an array would be
/// copied as a whole.
///
/// Reading by index, inserting and removing are O(log n), iteration O(1) for each element, an edit of
/// t rows O(t log n) and never more than O(n + t).
public struct Rows<Element>: RandomAccessCollection {
  fileprivate var root: RowsNode<Element>

  private init(root: RowsNode<Element>) { self.root = root }

  /// Makes rows of a sequence.
  ///
  /// O(n).
  public init(_ elements: some Sequence<Element>) { root = .root(of: Array(elements)) }

  /// Makes empty rows.
  public init() { root = RowsNode(elements: []) }

  /// The first index: 0.
  public var startIndex: Int { 0 }
  /// The number of rows.
  public var endIndex: Int { root.count }

  /// The number of rows.
  ///
  /// The default implementation of collections would measure a distance.
  public var count: Int { root.count }
  /// True if there are no rows.
  public var isEmpty: Bool { root.count == 0 }

  /// The row at an index.
  ///
  /// O(log n).
  public subscript(index: Int) -> Element {
    precondition(
      index >= 0 && index < root.count, "There is no row \(index): the count is \(root.count).")
    return root[index]
  }

  /// The rows at several indices, which ascend.
  ///
  /// O(t log n) in the t indices, and never more than O(n + t).
  func elements(at indices: [Int]) -> [Element] {
    if let last = indices.last { precondition(last < count, "Each index is one of a row.") }
    var result: [Element] = []
    result.reserveCapacity(indices.count)
    root.append(at: indices[...], start: 0, to: &result)
    return result
  }

  /// The rows at a range of indices.
  ///
  /// O(log n) and O(1) for each row.
  @specialized(where Element == Record)
  func elements(in range: Range<Int>) -> [Element] {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "Each index is one of a row.")
    var result: [Element] = []
    result.reserveCapacity(range.count)
    root.append(range, to: &result)
    return result
  }

  /// Reads leaf by leaf.
  public struct Iterator: IteratorProtocol {
    private let root: RowsNode<Element>
    private var leaf: [Element] = []
    private var offset = 0
    private var position = 0

    fileprivate init(_ root: RowsNode<Element>) { self.root = root }

    /// The next row; nil after the last.
    public mutating func next() -> Element? {
      if offset == leaf.count {
        if position == root.count { return nil }
        leaf = root.leaf(holding: position)
        position += leaf.count
        offset = 0
      }
      defer { offset += 1 }
      return leaf[offset]
    }
  }

  /// Makes an iterator over the rows as they are now.
  public func makeIterator() -> Iterator { Iterator(root) }

  /// The results of a function for each row, in order.
  ///
  /// O(n). The default implementation of collections reads by index, which costs O(log n) for each
  /// row.
  public func map<Result, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    var results: [Result] = []
    results.reserveCapacity(count)
    for element in self { results.append(try transform(element)) }
    return results
  }

  /// The first index whose row is not before the place sought.
  ///
  /// O(log n).
  ///
  /// `isBefore` is true for a first part of the rows and false for the rest.
  func lowerBound(_ isBefore: (Element) -> Bool) -> Int { root.lowerBound(isBefore) }

  /// The places of rows, or the places at which they would be inserted.
  ///
  /// O(t log n) in the t rows, and never more than O(n + t): it descends the tree once, and only
  /// into nodes with one of the places.
  ///
  /// - Parameters:
  ///   - rows: the rows, in order.
  ///   - order: the order of these rows.
  ///   - missing: finds the place of a row that must exist but is not at its place; nil if rows
  ///     need not exist.
  /// - Returns: for each row, the number of these rows before it.
  func places(
    of rows: [RowObject], in order: RowOrder, ifMissing missing: ((RowObject) -> Int)? = nil
  ) -> [Int] where Element == RowObject {
    var search = PlaceSearch(rows: rows, order: order, missing: missing)
    search.visit(root, startingAt: 0, rows: rows.indices)
    return search.places
  }

  /// True if both share their storage, and so are equal; false if that is not known.
  ///
  /// O(1).
  func isCopy(of other: Rows) -> Bool {
    (isEmpty && other.isEmpty) || root.isShared(with: other.root)
  }

  /// A violated invariant, in words; nil if there is none.
  func mistake() -> String? { root.mistake() }
}

// MARK: Changing

extension Rows {
  /// Carries out an edit.
  ///
  /// O(t log n) in the t rows of the edit.
  @specialized(where Element == Record)
  mutating func apply(_ edit: RowEdit<Element>) {
    if edit.isEmpty { return }
    let part = RowsNode<Element>.Part(removing: edit.removing[...], inserting: edit.inserting[...])
    root.edit(part, start: 0)
    if !root.isRoot { root = .root(over: root.divided) }
  }

  /// Inserts a row at an index, before the row that is there.
  ///
  /// O(log n).
  public mutating func insert(_ element: Element, at index: Int) {
    precondition(index >= 0 && index <= count, "The index is one of a row, or the end.")
    apply(RowEdit(inserting: [.init(gap: index, item: element)]))
  }

  /// Removes and returns the row at an index.
  ///
  /// O(log n).
  @discardableResult
  public mutating func remove(at index: Int) -> Element {
    let element = self[index]
    apply(RowEdit(removing: [index]))
    return element
  }
}

// MARK: Conformances

extension Rows: ExpressibleByArrayLiteral {
  /// Makes rows of those listed.
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension Rows: Equatable where Element: Equatable {
  /// True if both have equal rows in the same order.
  ///
  /// O(n), but O(1) if one is a copy of the other.
  public static func == (left: Rows, right: Rows) -> Bool {
    left.root.isShared(with: right.root) || left.elementsEqual(right)
  }
}

extension Rows: Sendable where Element: Sendable {}

extension Rows: CustomStringConvertible {
  /// The rows as those of an array.
  public var description: String { Array(self).description }
}
