/// Values by path, found from paths above and below them.
package struct PathTree<Value: Sendable>: Sendable {
  private struct Branch: Sendable {
    var value: Value?
    var branches = KeyedParts<Key, Branch>()

    var isEmpty: Bool { value == nil && branches.isEmpty }
  }

  private var root = Branch()

  /// Makes a tree without values.
  package init() {}

  /// The value at a path.
  ///
  /// O(depth).
  package subscript(path: Path) -> Value? {
    get {
      var branch = root
      for key in path.keys {
        guard let next = branch.branches[key] else { return nil }
        branch = next
      }
      return branch.value
    }
    set { PathTree.set(newValue, at: path.keys[...], in: &root) }
  }

  /// Changes the value at a path in place, without copying it; does nothing if there is none.
  ///
  /// O(depth).
  mutating func update<Failure: Error>(
    at path: Path, _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) {
    try PathTree.update(at: path.keys[...], in: &root, body)
  }

  private static func update<Failure: Error>(
    at keys: ArraySlice<Key>, in branch: inout Branch,
    _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) {
    if let key = keys.first {
      try branch.branches.update(key) { (next) throws(Failure) in
        try update(at: keys.dropFirst(), in: &next, body)
      }
    } else if var value = branch.value.take() {
      defer { branch.value = value }
      try body(&value)
    }
  }

  /// The paths at and below `path` that have a value, in key order, each before those below it.
  package func paths(at path: Path) -> [Path] {
    var branch = root
    for key in path.keys {
      guard let next = branch.branches[key] else { return [] }
      branch = next
    }
    var result: [Path] = []
    PathTree.collect(branch, path.keys, into: &result)
    return result
  }

  /// True if a path has a value that is `path`, above it or below it.
  ///
  /// O(depth).
  package func hasValues(around path: Path) -> Bool {
    var branch = root
    for key in path.keys {
      if branch.value != nil { return true }
      guard let next = branch.branches[key] else { return false }
      branch = next
    }
    return !branch.isEmpty
  }

  /// The values at a path and above it, from the root down, with the depth of their paths.
  ///
  /// O(depth).
  func values(atOrAbove path: Path) -> [(depth: Int, value: Value)] {
    var found: [(depth: Int, value: Value)] = []
    var branch = root
    for depth in 0...path.keys.count {
      if let value = branch.value { found.append((depth, value)) }
      guard depth < path.keys.count, let next = branch.branches[path.keys[depth]] else { break }
      branch = next
    }
    return found
  }

  /// Calls `body` with each value at a path and below it, in no order.
  ///
  /// O(n) in these.
  func forEach(atOrBelow path: Path, _ body: (Value) -> Void) {
    if let branch = branch(at: path) { PathTree.forEach(branch, body) }
  }

  /// True if a value at a path or below it satisfies a condition.
  func contains(atOrBelow path: Path, where isWanted: (Value) -> Bool) -> Bool {
    branch(at: path).map { PathTree.contains($0, where: isWanted) } ?? false
  }

  /// The keys of the children of `path` at or below which a value satisfies a condition.
  func keys(below path: Path, where isWanted: (Value) -> Bool) -> Set<Key> {
    guard let branch = branch(at: path) else { return [] }
    var keys: Set<Key> = []
    for (key, next) in branch.branches.all where PathTree.contains(next, where: isWanted) {
      keys.insert(key)
    }
    return keys
  }

  private func branch(at path: Path) -> Branch? {
    var branch = root
    for key in path.keys {
      guard let next = branch.branches[key] else { return nil }
      branch = next
    }
    return branch
  }

  private static func contains(_ branch: Branch, where isWanted: (Value) -> Bool) -> Bool {
    if let value = branch.value, isWanted(value) { return true }
    return branch.branches.all.contains { contains($0.value, where: isWanted) }
  }

  /// Calls `body` with each value, in no order.
  func forEach(_ body: (Value) -> Void) { PathTree.forEach(root, body) }

  private static func forEach(_ branch: Branch, _ body: (Value) -> Void) {
    if let value = branch.value { body(value) }
    for (_, next) in branch.branches.all { forEach(next, body) }
  }

  /// The children of `path` that have a value themselves, in no order.
  func children(of path: Path) -> [(key: Key, value: Value)] {
    var branch = root
    for key in path.keys {
      guard let next = branch.branches[key] else { return [] }
      branch = next
    }
    return branch.branches.all.compactMap { key, next in next.value.map { (key, $0) } }
  }

  /// The keys of the children of `path` that have a value, or below which there is one.
  func keys(below path: Path) -> Set<Key> {
    var branch = root
    for key in path.keys {
      guard let next = branch.branches[key] else { return [] }
      branch = next
    }
    return Set(branch.branches.all.lazy.map { $0.key })
  }

  private static func set(_ value: Value?, at keys: ArraySlice<Key>, in branch: inout Branch) {
    guard let key = keys.first else {
      branch.value = value
      return
    }
    set(value, at: keys.dropFirst(), in: &branch.branches[key, default: Branch()])
    if branch.branches[key]?.isEmpty == true { branch.branches.remove(key) }
  }

  private static func collect(_ branch: Branch, _ keys: [Key], into result: inout [Path]) {
    if branch.value != nil { result.append(Path(unchecked: keys)) }
    for (key, next) in branch.branches.all.sorted(by: { $0.key < $1.key }) {
      collect(next, keys + [key], into: &result)
    }
  }
}
