/// A search for the places of several rows at once, in order.
struct PlaceSearch {
  /// The place of each row: the number of rows of the tree before it.
  private(set) var places: [Int] = []

  private let rows: [RowObject]
  private let order: RowOrder
  private let missing: ((RowObject) -> Int)?

  /// Makes a search for rows in order; `missing` finds the place of a row that is not where it
  /// should be.
  init(rows: [RowObject], order: RowOrder, missing: ((RowObject) -> Int)?) {
    self.rows = rows
    self.order = order
    self.missing = missing
    places.reserveCapacity(rows.count)
  }

  /// Finds the places of some of the rows, which are all below a node or directly after it.
  ///
  /// `start` is the number of rows of the tree before the node.
  mutating func visit(_ node: RowsNode<RowObject>, startingAt start: Int, rows wanted: Range<Int>) {
    if node.isLeaf { return visit(leaf: node.elements, startingAt: start, rows: wanted) }
    var (next, child, start) = (wanted.lowerBound, 0, start)
    while next < wanted.upperBound {
      let found = firstChild(of: node, from: child, notBefore: rows[next])
      if found == node.children.count {
        let end = start + node.children[child...].reduce(0) { $0 + $1.count }
        for row in rows[next..<wanted.upperBound] { places.append(missing?(row) ?? end) }
        return
      }
      for index in child..<found { start += node.children[index].count }
      child = found
      let end = end(of: next..<wanted.upperBound, notAfter: node.children[child].last)
      visit(node.children[child], startingAt: start, rows: next..<end)
      next = end
    }
  }

  private mutating func visit(leaf: [RowObject], startingAt start: Int, rows wanted: Range<Int>) {
    var low = 0
    for row in rows[wanted] {
      low = RowOrder.lowerBound(of: leaf, from: low) { order.isBefore($0, row) }
      if let missing, low == leaf.count || leaf[low] !== row {
        places.append(missing(row))
      } else {
        places.append(start + low)
      }
    }
  }

  /// The first child, starting with one, whose last row is not before a row.
  private func firstChild(
    of node: RowsNode<RowObject>, from first: Int, notBefore row: RowObject
  ) -> Int {
    RowOrder.lowerBound(of: node.children, from: first) { child in
      child.last.map { order.isBefore($0, row) } ?? true
    }
  }

  /// The end of those rows that are not after the last row of a node; the first row is not.
  private func end(of wanted: Range<Int>, notAfter last: RowObject?) -> Int {
    var end = wanted.lowerBound + 1
    while let last, end < wanted.upperBound, !order.isBefore(last, rows[end]) { end += 1 }
    return end
  }
}

extension RowOrder {
  /// The first index, starting with one, whose element is not before the place sought.
  @inline(__always)
  fileprivate static func lowerBound<Element>(
    of elements: [Element], from first: Int, _ isBefore: (Element) -> Bool
  ) -> Int {
    elements.withUnsafeBufferPointer { elements in
      var (low, count) = (first, elements.count - first)
      while count > 0 {
        let half = count / 2
        if isBefore(elements[low + half]) {
          low += half + 1
          count -= half + 1
        } else {
          count = half
        }
      }
      return low
    }
  }
}
