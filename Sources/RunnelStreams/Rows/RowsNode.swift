import RunnelBase

/// A node of the tree that holds `Rows`: a leaf with elements, or an inner node with children.
///
/// A node is a value whose arrays are shared until one of those who share them changes it: a change
/// copies what others hold too, and is made in place where nobody else does.
///
/// Invariants:
/// - I1. All leaves below a node are at the same depth; an inner node has children.
/// - I2. A node has at most `slotsMax` slots and, unless it is the root, at least `slotsMin`.
/// - I3. `count` is the number of elements below, and `last` the last of them.
struct RowsNode<Element> {
  /// What a leaf holds; empty in an inner node.
  private(set) var elements: [Element]
  /// What an inner node holds; empty in a leaf.
  private(set) var children: [RowsNode]
  /// How many elements there are below.
  private(set) var count: Int
  /// The last of them, which a search compares; nil if there is none.
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

  /// True if both share what they hold, which is then the same; an empty node shares nothing.
  func isShared(with other: RowsNode) -> Bool {
    let (left, right) = (storage, other.storage)
    return left != nil && left == right && count == other.count
  }

  private var storage: UnsafeRawPointer? {
    isLeaf
      ? elements.withUnsafeBytes { $0.baseAddress } : children.withUnsafeBytes { $0.baseAddress }
  }

  /// The element at an index, which is one.
  subscript(index: Int) -> Element {
    if isLeaf { return elements[index] }
    let (child, start) = child(holding: index)
    return children[child][index - start]
  }

  /// The elements of the leaf that holds an index, which is one.
  func leaf(holding index: Int) -> [Element] {
    if isLeaf { return elements }
    let (child, start) = child(holding: index)
    return children[child].leaf(holding: index - start)
  }

  /// Appends the elements at indices, which ascend and are all below, to others.
  ///
  /// The index of the first element is `start`.
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

  /// The child that holds an index, and where it starts.
  private func child(holding index: Int) -> (child: Int, start: Int) {
    var (child, start) = (0, 0)
    while start + children[child].count <= index {
      start += children[child].count
      child += 1
    }
    return (child, start)
  }

  /// How many first elements are before the place sought.
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
  /// How many elements a leaf, or children an inner node, has at most.
  ///
  /// A change copies them, and to copy one costs a reference count, most often out of the cache.
  static var slotsMax: Int { 32 }
  /// How many it has at least, unless it is the root.
  static var slotsMin: Int { slotsMax / 4 }
  /// How many it is given when it is made of many: room for some more, or each would soon be divided.
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

  /// As few ranges of equal size as hold so many slots.
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

  /// Carries out what is to be done below this node.
  ///
  /// It may have too many slots after that, or too few: its parent sets that right.
  ///
  /// - Parameters:
  ///   - part: what is to be done.
  ///   - start: the index of its first element.
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

  /// True if the node may stand above all others.
  var isRoot: Bool { slots <= Self.slotsMax && children.count != 1 && (isLeaf || count > 0) }

  /// True if the node may stand below another.
  private var isFit: Bool { slots >= Self.slotsMin && slots <= Self.slotsMax }

  /// Splits children that have too many slots, and joins those that have too few to a neighbour.
  private mutating func regroup() {
    var nodes: [RowsNode] = []
    nodes.reserveCapacity(children.count + 1)
    for child in children {
      for node in child.divided { RowsNode.append(node, to: &nodes) }
    }
    children = nodes
  }

  /// The node as nodes of its level with no more slots than they may have; none if it is empty.
  var divided: [RowsNode] {
    if slots == 0 { return [] }
    if slots <= Self.slotsMax { return [self] }
    let parts = Self.parts(of: slots)
    return isLeaf
      ? parts.map { RowsNode(elements: Array(elements[$0])) }
      : parts.map { RowsNode(children: Array(children[$0])) }
  }

  private mutating func editLeaf(_ part: Part, start: Int) {
    if part.inserting.count > Self.slotsMin {
      elements = edited(part, start: start)
      return
    }
    // From the last to the first, so that the indices before stay what they are.
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

  /// The elements of a leaf after an edit, put together anew: for one that inserts many.
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
      nodes += grouped(children, each: slotsMax)
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
    for child in children {
      if let mistake = child.mistake(isRoot: false) { return mistake }
    }
    let below = elements.count + children.reduce(0) { $0 + $1.count }
    return count == below ? nil : "I3: \(count) elements"
  }

  private var depth: Int { (children.first?.depth ?? -1) + 1 }
}
