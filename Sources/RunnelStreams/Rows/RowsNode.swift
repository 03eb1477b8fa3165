import RunnelBase

/// A node of the tree that holds `Rows`: a leaf with elements, or an inner node with children.
///
/// A node is a value whose arrays may be shared. A change copies arrays that are shared, and
/// changes others in place.
///
/// Invariants:
/// - I1. All leaves below a node are at the same depth; an inner node has children.
/// - I2. A node has at most `slotsMax` slots and, unless it is the root, at least `slotsMin`.
/// - I3. `count` is the number of elements below, and `last` the last of them.
struct RowsNode<Element> {
  /// The elements of a leaf; empty in an inner node.
  private(set) var elements: [Element]
  /// The children of an inner node; empty in a leaf.
  private(set) var children: [RowsNode]
  /// The number of elements below.
  private(set) var count: Int
  /// The last element below, for searches; nil if there is none.
  private(set) var last: Element?

  /// Makes a leaf.
  init(elements: [Element]) {
    self.elements = elements
    children = []
    count = elements.count
    last = elements.last
  }

  /// Makes an inner node.
  init(children: [RowsNode]) {
    self.children = children
    elements = []
    count = children.reduce(0) { $0 + $1.count }
    last = children.last?.last
  }
}

extension RowsNode: Sendable where Element: Sendable {}

// MARK: Reading

extension RowsNode {
  var isLeaf: Bool { children.isEmpty }

  /// True if both share their storage, and so are equal; empty nodes share nothing.
  func isShared(with other: RowsNode) -> Bool {
    let (left, right) = (storage, other.storage)
    return left != nil && left == right && count == other.count
  }

  private var storage: UnsafeRawPointer? {
    isLeaf
      ? elements.withUnsafeBytes { $0.baseAddress } : children.withUnsafeBytes { $0.baseAddress }
  }

  /// The element at a valid index.
  subscript(index: Int) -> Element {
    if isLeaf { return elements[index] }
    let (child, start) = child(holding: index)
    return children[child][index - start]
  }

  /// The elements of the leaf with a valid index.
  func leaf(holding index: Int) -> [Element] {
    if isLeaf { return elements }
    let (child, start) = child(holding: index)
    return children[child].leaf(holding: index - start)
  }

  /// Appends the elements at some indices, which ascend and are all below this node, to an array.
  ///
  /// `start` is the index of the first element below this node.
  func append(at indices: ArraySlice<Int>, start: Int, to result: inout [Element]) {
    if isLeaf {
      for index in indices { result.append(elements[index - start]) }
      return
    }
    var (rest, end) = (indices, start)
    for child in children.indices {
      let childStart = end
      end += children[child].count
      guard let first = rest.first else { return }
      if first >= end { continue }
      var own = rest.startIndex
      while own < rest.endIndex, rest[own] < end { own += 1 }
      children[child].append(at: rest[..<own], start: childStart, to: &result)
      rest = rest[own...]
    }
  }

  /// Appends the elements at a range of indices of this node to an array.
  @specialized(where Element == Record)
  func append(_ range: Range<Int>, to result: inout [Element]) {
    if range.isEmpty { return }
    if isLeaf { return result.append(contentsOf: elements[range]) }
    var start = 0
    for child in children.indices where start < range.upperBound {
      let end = start + children[child].count
      if range.lowerBound < end {
        let part = range.clamped(to: start..<end)
        children[child].append((part.lowerBound - start)..<(part.upperBound - start), to: &result)
      }
      start = end
    }
  }

  /// The child that holds an index, and where it starts.
  private func child(holding index: Int) -> (child: Int, start: Int) {
    var (child, start) = (0, 0)
    while start + children[child].count <= index {
      start += children[child].count
      child += 1
    }
    return (child, start)
  }

  /// The number of elements before the place sought.
  func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    if isLeaf { return elements.lowerBound(isBefore) }
    let child = children.indices.lowerBound { children[$0].last.map(isBefore) ?? true }
    if child == children.count { return count }
    var passed = 0
    for index in 0..<child { passed += children[index].count }
    return passed + children[child].lowerBound(isBefore)
  }
}

// MARK: Building

extension RowsNode {
  /// The most elements of a leaf, or children of an inner node.
  ///
  /// A change copies them, and copying one costs a reference count, which is mostly a cache miss.
  static var slotsMax: Int { 32 }
  /// The fewest elements or children, except for the root.
  static var slotsMin: Int { slotsMax / 4 }
  /// The number used when a tree is built: it leaves room, since full nodes would soon be split.
  private static var slotsFilled: Int { slotsMax * 3 / 4 }

  private var slots: Int { isLeaf ? elements.count : children.count }

  /// The tree with these elements in its leaves.
  static func root(of elements: [Element]) -> RowsNode {
    if elements.count <= slotsMax { return RowsNode(elements: elements) }
    let parts = parts(of: elements.count, each: slotsFilled)
    return root(over: parts.map { RowsNode(elements: Array(elements[$0])) })
  }

  /// The tree over nodes of one level.
  static func root(over nodes: [RowsNode]) -> RowsNode {
    var nodes = nodes
    while nodes.count > 1 { nodes = grouped(nodes, each: slotsFilled) }
    var root = nodes.first ?? RowsNode(elements: [])
    while root.children.count == 1 { root = root.children[0] }
    return root
  }

  /// The level above nodes that follow each other.
  private static func grouped(_ nodes: [RowsNode], each size: Int) -> [RowsNode] {
    parts(of: nodes.count, each: size).map { RowsNode(children: Array(nodes[$0])) }
  }

  /// The fewest ranges of equal size for a number of slots.
  private static func parts(of count: Int, each size: Int = slotsMax) -> [Range<Int>] {
    let parts = (count + size - 1) / size
    return (0..<parts).map { (count * $0 / parts)..<(count * ($0 + 1) / parts) }
  }
}

// MARK: Editing

extension RowsNode {
  /// A part of an edit, in the coordinates of all rows.
  struct Part {
    var removing: ArraySlice<Int>
    var inserting: ArraySlice<RowEdit<Element>.Insertion>

    /// The first touched index; nil if there is none.
    var start: Int? {
      switch (removing.first, inserting.first?.gap) {
      case (let removed?, let gap?): min(removed, gap)
      case (let index?, nil), (nil, let index?): index
      case (nil, nil): nil
      }
    }

    /// Removes and returns the part before the end of a child; the last child gets all the rest.
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

  /// Carries out an edit below this node.
  ///
  /// Afterwards it may have too many or too few slots; its parent corrects that.
  ///
  /// - Parameters:
  ///   - part: the edit.
  ///   - start: the index of the first element below this node.
  mutating func edit(_ part: Part, start: Int) {
    if isLeaf {
      editLeaf(part, start: start)
      count = elements.count
      last = elements.last
      return
    }
    var part = part
    var (end, areFit) = (start, true)
    for child in children.indices {
      guard let touched = part.start else { break }
      let childStart = end
      end += children[child].count
      let isLast = child == children.count - 1
      if touched >= end, !isLast { continue }
      let own = part.takeFirst(before: end, isLast: isLast)
      count -= children[child].count
      children[child].edit(own, start: childStart)
      count += children[child].count
      if !children[child].isFit { areFit = false }
    }
    if !areFit { regroup() }
    last = children.last?.last
  }

  /// True if the node may be the root.
  var isRoot: Bool { slots <= Self.slotsMax && children.count != 1 && (isLeaf || count > 0) }

  /// True if the node may have a parent.
  private var isFit: Bool { slots >= Self.slotsMin && slots <= Self.slotsMax }

  /// Splits children that have too many slots, and joins those that have too few to a neighbor.
  private mutating func regroup() {
    var nodes: [RowsNode] = []
    nodes.reserveCapacity(children.count + 1)
    for child in children {
      for node in child.divided { RowsNode.append(node, to: &nodes) }
    }
    children = nodes
  }

  /// The node, split into nodes of its level that are not too large; none if it is empty.
  var divided: [RowsNode] {
    if slots == 0 { return [] }
    if slots <= Self.slotsMax { return [self] }
    // Nodes of a whole tree, which many rows made at once, get room, as those of `root(of:)`.
    let isMany = slots > 4 * Self.slotsMax
    let parts = Self.parts(of: slots, each: isMany ? Self.slotsFilled : Self.slotsMax)
    return isLeaf
      ? parts.map { RowsNode(elements: Array(elements[$0])) }
      : parts.map { RowsNode(children: Array(children[$0])) }
  }

  private mutating func editLeaf(_ part: Part, start: Int) {
    if part.inserting.count > Self.slotsMin {
      elements = edited(part, start: start)
      return
    }
    // It goes from the last to the first, so that the earlier indices stay valid.
    var removing = part.removing.endIndex
    func remove(downTo gap: Int) {
      while removing > part.removing.startIndex, part.removing[removing - 1] >= gap {
        removing -= 1
        elements.remove(at: part.removing[removing] - start)
      }
    }
    for insertion in part.inserting.reversed() {
      remove(downTo: insertion.gap)
      elements.insert(insertion.item, at: insertion.gap - start)
    }
    remove(downTo: start)
  }

  /// The elements of a leaf after an edit, as a new array: for an edit that inserts many.
  private func edited(_ part: Part, start: Int) -> [Element] {
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
    return result
  }

  /// Appends a node to nodes of its level; one that is too small is joined to its neighbor.
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
      nodes += grouped(children, each: slotsMax)
    }
  }
}

// MARK: Checking

extension RowsNode {
  /// A violated invariant, in words; nil if there is none.
  func mistake(isRoot: Bool = true) -> String? {
    if slots > Self.slotsMax { return "I2: \(slots) slots" }
    if !isRoot, slots < Self.slotsMin { return "I2: only \(slots) slots" }
    if isRoot, children.count == 1 { return "I2: a root with one child" }
    if Set(children.map(\.depth)).count > 1 { return "I1: leaves at different depths" }
    for child in children {
      if let mistake = child.mistake(isRoot: false) { return mistake }
    }
    let below = elements.count + children.reduce(0) { $0 + $1.count }
    return count == below ? nil : "I3: \(count) elements"
  }

  private var depth: Int { (children.first?.depth ?? -1) + 1 }
}
