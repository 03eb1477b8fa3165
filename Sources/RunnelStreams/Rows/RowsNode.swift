/// A node of the tree that holds `Rows`: a leaf with elements, or an inner node with children.
///
/// A node never changes: an edit makes new nodes for what it touches and shares the others.
///
/// Invariants:
/// - I1. All leaves below a node are at the same depth; an inner node has children.
/// - I2. A node has at most `slotsMax` slots and, unless it is the root, at least `slotsMin`.
/// - I3. `ends[i]` is the number of elements below the children up to the i-th, that one included.
final class RowsNode<Element> {
  /// What a leaf holds; empty in an inner node.
  let elements: [Element]
  /// What an inner node holds; empty in a leaf.
  let children: [RowsNode]
  /// For each child, where its elements end.
  let ends: [Int]
  /// How many elements there are below.
  let count: Int

  /// Makes a leaf.
  init(elements: [Element]) {
    self.elements = elements
    children = []
    ends = []
    count = elements.count
  }

  /// Makes an inner node.
  init(children: [RowsNode]) {
    self.children = children
    elements = []
    var end = 0
    ends = children.map { child in
      end += child.count
      return end
    }
    count = end
  }
}

extension RowsNode: Sendable where Element: Sendable {}

// MARK: Reading

extension RowsNode {
  var isLeaf: Bool { children.isEmpty }

  /// The leaf that holds an element, and where in it the element is.
  func leaf(holding index: Int) -> (leaf: RowsNode, offset: Int) {
    var (node, offset) = (self, index)
    while !node.isLeaf {
      let child = node.ends.lowerBound { $0 <= offset }
      if child > 0 { offset -= node.ends[child - 1] }
      node = node.children[child]
    }
    return (node, offset)
  }

  /// The last element; nil if there is none.
  var last: Element? {
    var node = self
    while let child = node.children.last { node = child }
    return node.elements.last
  }

  /// How many first elements are before the place sought.
  func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    var (node, passed) = (self, 0)
    while !node.isLeaf {
      let child = node.children.lowerBound { child in child.last.map(isBefore) ?? true }
      if child == node.children.count { return passed + node.count }
      if child > 0 { passed += node.ends[child - 1] }
      node = node.children[child]
    }
    return passed + node.elements.lowerBound(isBefore)
  }
}

// MARK: Building

extension RowsNode {
  /// How many elements a leaf, or children an inner node, has at most.
  static var slotsMax: Int { 64 }
  /// How many it has at least, unless it is the root.
  static var slotsMin: Int { slotsMax / 4 }

  private var slots: Int { isLeaf ? elements.count : children.count }

  /// The tree with these elements in its leaves.
  static func root(of elements: [Element]) -> RowsNode {
    if elements.count <= slotsMax { return RowsNode(elements: elements) }
    return root(over: parts(of: elements.count).map { RowsNode(elements: Array(elements[$0])) })
  }

  /// The tree over nodes of one level.
  static func root(over nodes: [RowsNode]) -> RowsNode {
    var nodes = nodes
    while nodes.count > 1 { nodes = grouped(nodes) }
    var root = nodes.first ?? RowsNode(elements: [])
    while root.children.count == 1 { root = root.children[0] }
    return root
  }

  /// The level above nodes that follow each other.
  private static func grouped(_ nodes: [RowsNode]) -> [RowsNode] {
    parts(of: nodes.count).map { RowsNode(children: Array(nodes[$0])) }
  }

  /// As few ranges of equal size as hold so many slots.
  private static func parts(of count: Int) -> [Range<Int>] {
    let parts = (count + slotsMax - 1) / slotsMax
    return (0..<parts).map { (count * $0 / parts)..<(count * ($0 + 1) / parts) }
  }
}

// MARK: Editing

extension RowsNode {
  /// A part of an edit, in the coordinates of all rows.
  struct Part {
    var removing: ArraySlice<Int>
    var inserting: ArraySlice<RowEdit<Element>.Insertion>

    /// The first index that is touched; nil if nothing is.
    var start: Int? {
      switch (removing.first, inserting.first?.gap) {
      case (let removed?, let gap?): min(removed, gap)
      case (let index?, nil), (nil, let index?): index
      case (nil, nil): nil
      }
    }

    /// Takes off what is before the end of a child; the last child takes all the rest.
    mutating func takeFirst(before end: Int, isLast: Bool) -> Part {
      if isLast {
        defer { self = Part(removing: [], inserting: []) }
        return self
      }
      let removed = removing.lowerBound { $0 < end }
      let inserted = inserting.lowerBound { $0.gap < end }
      defer {
        removing = removing[removed...]
        inserting = inserting[inserted...]
      }
      return Part(removing: removing[..<removed], inserting: inserting[..<inserted])
    }
  }

  /// What stands in the place of this node after an edit: nodes of its level, perhaps none.
  ///
  /// - Parameters:
  ///   - part: what is to be done below this node.
  ///   - start: the index of its first element.
  /// - Returns: the nodes.
  func edited(_ part: Part, start: Int) -> [RowsNode] {
    if isLeaf { return editedLeaf(part, start: start) }
    var part = part
    var nodes: [RowsNode] = []
    nodes.reserveCapacity(children.count + 1)
    var next = 0
    while let touched = part.start {
      let child = min(ends.lowerBound { start + $0 <= touched }, children.count - 1)
      RowsNode.append(children[next..<child], to: &nodes)
      let own = part.takeFirst(before: start + ends[child], isLast: child == children.count - 1)
      let childStart = child == 0 ? start : start + ends[child - 1]
      for node in children[child].edited(own, start: childStart) {
        RowsNode.append(node, to: &nodes)
      }
      next = child + 1
    }
    RowsNode.append(children[next...], to: &nodes)
    return RowsNode.grouped(nodes)
  }

  private func editedLeaf(_ part: Part, start: Int) -> [RowsNode] {
    var result: [Element] = []
    result.reserveCapacity(elements.count + part.inserting.count)
    var next = 0
    var removing = part.removing
    func copy(upTo end: Int) {
      while let index = removing.first, index - start < end {
        result.append(contentsOf: elements[next..<(index - start)])
        next = index - start + 1
        removing.removeFirst()
      }
      if next < end { result.append(contentsOf: elements[next..<end]) }
      next = max(next, end)
    }
    for insertion in part.inserting {
      copy(upTo: insertion.gap - start)
      result.append(insertion.item)
    }
    copy(upTo: elements.count)
    if !result.isEmpty, result.count <= RowsNode.slotsMax { return [RowsNode(elements: result)] }
    return RowsNode.parts(of: result.count).map { RowsNode(elements: Array(result[$0])) }
  }

  /// Appends nodes that are not too small, if there are others, to nodes of their level.
  private static func append(_ untouched: ArraySlice<RowsNode>, to nodes: inout [RowsNode]) {
    guard let first = untouched.first else { return }
    append(first, to: &nodes)
    nodes.append(contentsOf: untouched.dropFirst())
  }

  /// Appends a node to nodes of its level; one that is too small is joined to its neighbour.
  private static func append(_ node: RowsNode, to nodes: inout [RowsNode]) {
    guard let last = nodes.last, last.slots < slotsMin || node.slots < slotsMin else {
      nodes.append(node)
      return
    }
    nodes.removeLast()
    if node.isLeaf {
      let elements = last.elements + node.elements
      nodes += parts(of: elements.count).map { RowsNode(elements: Array(elements[$0])) }
    } else {
      var children = last.children
      for child in node.children { append(child, to: &children) }
      nodes += grouped(children)
    }
  }
}

// MARK: Checking

extension RowsNode {
  /// What is wrong with the tree; nil if nothing is.
  func mistake(isRoot: Bool = true) -> String? {
    if slots > Self.slotsMax { return "I2: \(slots) slots" }
    if !isRoot, slots < Self.slotsMin { return "I2: only \(slots) slots" }
    if isRoot, children.count == 1 { return "I2: a root with one child" }
    if Set(children.map(\.depth)).count > 1 { return "I1: leaves at different depths" }
    var end = 0
    for (child, expected) in zip(children, ends) {
      if let mistake = child.mistake(isRoot: false) { return mistake }
      end += child.count
      if end != expected { return "I3: an end at \(expected), not \(end)" }
    }
    return count == elements.count + end ? nil : "I3: \(count) elements"
  }

  private var depth: Int { (children.first?.depth ?? -1) + 1 }
}
