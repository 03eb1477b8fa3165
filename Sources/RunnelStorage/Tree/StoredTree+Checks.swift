package import RunnelTree

// The checks of every read: that rows are in order, that their number is the count in the node
// above, and that a missing row never existed. A store checks the content of each row by itself.

/// Checks that keys are in order.
struct KeyOrder {
  private let isDescending: Bool
  private var last: [UInt8] = []

  init(isDescending: Bool = false) {
    self.isDescending = isDescending
    last.reserveCapacity(TreeLimits.keyBytesMax)
  }

  /// - Throws: `Damage` if the next key does not follow the one before.
  mutating func check(_ key: UnsafeRawBufferPointer) throws {
    if !last.isEmpty, last.withUnsafeBytes({ !isInOrder($0, key) }) {
      throw Damage("it is out of the order of keys")
    }
    last.removeAll(keepingCapacity: true)
    last.append(contentsOf: key)
  }

  private func isInOrder(_ last: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bool {
    for (before, after) in zip(last, key) where before != after {
      return (before < after) != isDescending
    }
    return isDescending ? last.count > key.count : last.count < key.count
  }
}

extension StoredTree {
  /// Calls `body` with every child of a split node in the order of keys; returns the node's priority.
  ///
  /// - Throws: `Damage` if their number is not the node's count, and the errors of `body`.
  package func forEachChild(
    of split: Int64, _ body: (_ key: Key, _ content: RowContent) throws -> Void
  ) throws -> Leaf? {
    var order = KeyOrder()
    var count = 0
    try rowStore.forEachRow(of: split, in: .all, isDescending: false) { key, content in
      try Damage.locating(.row(RowID(parent: split, key: Array(key)))) {
        try order.check(key)
        try body(StoredTree.key(key), content)
      }
      count += 1
      return true
    }
    let head = try splitHead(split)
    if head.children != count { throw Damage.count(head.children, count, of: split) }
    return head.priority
  }

  /// Checks that `count` children are all children of a split node.
  func checkIsAll(_ count: Int, of split: Int64) throws {
    let told = try splitHead(split).children
    if told != count { throw Damage.count(told, count, of: split) }
  }

  /// Checks that there is no tree if its root row is missing.
  ///
  /// - Throws: `Damage` if there are rows that can only belong below it.
  func checkIsEmpty() throws {
    if isMending { return }
    // On a replica, rows may belong to the other tree; and an import is built before it is moved.
    let others = [RowID.root, .server, .detached].filter { $0 != root }
    if try others.contains(where: { if case .split? = try row($0) { true } else { false } }) {
      return
    }
    if try rowStore.hasTraces(ofTree: root) {
      throw Damage("the row of the whole tree is missing", at: .words("/"))
    }
  }

  /// The most siblings that are counted when a row is not found.
  private static let countedSiblingsMax = 128

  /// Checks the rows next to one that was not found, and the number of rows if there are few.
  ///
  /// A row whose key or parent was changed by damage still stands in its old position, so it is one
  /// of these.
  ///
  /// - Throws: `Damage` if the content of one of them is not what was written.
  func checkIsMissing(_ id: RowID) throws {
    let told = try splitHead(id.parent).children
    if told <= StoredTree.countedSiblingsMax {
      let found = try rowStore.rowCount(of: id.parent)
      if found != told { throw Damage.count(told, found, of: id.parent) }
    }
    try rowStore.checkNeighbors(of: id)
  }
}

// MARK: Places

extension StoredTree {
  /// Returns the damage with its place in words.
  ///
  /// O(n) in the rows for each level above it: there is no index that leads upwards.
  package func inWords(_ damage: Damage) -> Damage {
    var told = damage
    switch damage.place {
    case .row(let row):
      let above = words(forSplit: row.parent)
      if let key = OrderedBytes.key(from: row.key) {
        told.place = .words((above == "/" ? "" : above) + "/" + key.text)
      } else {
        told.place = .words(row.parent == 0 ? "/" : "a child of " + above)
      }
    case .split(let split): told.place = .words(words(forSplit: split))
    case .words, nil: break
    }
    return told
  }

  /// The place of a split node in words.
  private func words(forSplit split: Int64) -> String {
    var keys: [Key] = []
    var next = split
    for _ in 0...TreeLimits.depthMax {
      if next == 0 { return Path(unchecked: keys.reversed()).description }
      // If the way up is damaged too, the node is named by its number.
      guard let name = try? rowStore.name(of: next) else { break }
      if let key = OrderedBytes.key(from: name.key) { keys.append(key) }
      next = name.parent
    }
    return "split node \(split)"
  }
}
