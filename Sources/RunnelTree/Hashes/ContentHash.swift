// The hash by which two parties find out whether they hold the same node.
// Source: tree semantics, section 16.1.

extension Node {
  /// The hash of the whole node: 28 characters of base64, or nothing for an empty node.
  ///
  /// Two nodes with the same hash are equal, except that integers beyond 2^53 count as the nearest
  /// double. O(n) in the subtree.
  ///
  /// Source: tree semantics, section 16.1.
  public var contentHash: String {
    switch content {
    case .empty: return ""
    case .leaf(let leaf): return ContentHash.text(of: leaf, priority: priority)
    case .children(let children):
      var hash = ContentHash(priority: priority)
      for child in children {
        hash.add(child.key, priority: child.node.priority, hash: child.node.contentHash)
      }
      return hash.text()
    }
  }
}

extension TreeReader {
  /// The hash of the node at a place, read child by child.
  ///
  /// It equals `node(at: path).contentHash`, but the whole node is never in memory: only a page of
  /// rows for each level, and the key and hash of each child that has a priority.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  public func contentHash(at path: Path) throws(TreeError) -> String {
    try contentHash(at: path, try summary(at: path))
  }

  /// The hash of a query's result: the whole node for a query without bounds and limit, else a node
  /// of the children in the window, without a priority of its own.
  ///
  /// Source: tree semantics, sections 5.3 and 16.1.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  public func contentHash(of query: Query) throws(TreeError) -> String {
    if query.loadsAllData { return try contentHash(at: query.path) }
    var rows = try rows(of: query.path, in: RowSlice(query), detail: .stored)
    if rows.isEmpty { return "" }
    rows.sort { $0.key < $1.key }
    var hash = ContentHash(priority: nil)
    for row in rows { try add(row, of: query.path, to: &hash) }
    return hash.text()
  }

  private func contentHash(
    at path: Path, _ summary: NodeSummary
  ) throws(TreeError) -> String {
    switch summary.kind {
    case .empty: return ""
    case .leaf(let leaf): return ContentHash.text(of: leaf, priority: summary.priority)
    case .children:
      var hash = ContentHash(priority: summary.priority)
      var pages = KeyPages(path, detail: .stored)
      while let rows = try pages.next(from: self) {
        for row in rows { try add(row, of: path, to: &hash) }
      }
      return hash.text()
    }
  }

  private func add(
    _ row: TreeRow, of path: Path, to hash: inout ContentHash
  ) throws(TreeError) {
    if let node = row.node {
      // Reading its children one by one would read the stored row again for each.
      return hash.add(row.key, priority: node.priority, hash: node.contentHash)
    }
    let summary = row.summary
    let child = Path(unchecked: path.keys + [row.key])
    hash.add(row.key, priority: summary.priority, hash: try contentHash(at: child, summary))
  }
}

/// The hash of a node with children, which are added in key order.
///
/// The text that is hashed lists the children by priority and then by key. Those without a priority
/// come first, so that only the others wait for the end.
struct ContentHash {
  private struct Waiting {
    var priority: Leaf
    var key: Key
    var hash: String
  }

  private var digest = TextDigest()
  private var waiting: [Waiting] = []

  /// Begins the hash of a node with this priority.
  init(priority: Leaf?) { digest.append(priority: priority) }

  /// The hash of a leaf.
  static func text(of leaf: Leaf, priority: Leaf?) -> String {
    var digest = TextDigest()
    digest.append(priority: priority)
    digest.append(leaf)
    return digest.base64()
  }

  /// Adds a child, whose key is greater than those added before.
  mutating func add(_ key: Key, priority: Leaf?, hash: String) {
    if let priority {
      waiting.append(Waiting(priority: priority, key: key, hash: hash))
    } else {
      digest.append(child: key, hash: hash)
    }
  }

  /// The hash of all that was added.
  consuming func text() -> String {
    waiting.sort { $0.priority == $1.priority ? $0.key < $1.key : $0.priority < $1.priority }
    for child in waiting { digest.append(child: child.key, hash: child.hash) }
    return digest.base64()
  }
}

extension TextDigest {
  /// Adds the text of a leaf's value.
  mutating func append(_ leaf: Leaf) {
    switch leaf {
    case .bool(let value): append(value ? "boolean:true" : "boolean:false")
    case .number(let value):
      append("number:")
      append(value)
    case .string(let value):
      append("string:")
      append(value)
    }
  }

  fileprivate mutating func append(priority: Leaf?) {
    guard let priority else { return }
    append("priority:")
    append(priority)
    append(":")
  }

  fileprivate mutating func append(child key: Key, hash: String) {
    append(":")
    append(key.text)
    append(":")
    append(hash)
  }
}
