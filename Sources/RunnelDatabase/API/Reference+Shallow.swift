import RunnelTree

/// The keys of a place's children, without the nodes below them.
public struct ShallowSnapshot: Hashable, Sendable {
  /// The keys of a page of children, in key order.
  public var keys: [String]
  /// The number of all children.
  public var numberOfChildren: Int
  /// True if there is a node at the place: children, or a value.
  public var exists: Bool
  /// The value of `after` for the next page; nil if this is the last one.
  public var next: String?

  /// True if the place has children.
  public var hasChildren: Bool { numberOfChildren > 0 }
}

extension Reference {
  /// Reads the keys of some children and the number of all, and nothing below them.
  ///
  /// O(limit + depth log n), whatever is below the children. All of one answer is from one state; a
  /// child that comes or goes between two pages is found or missed according to its key.
  ///
  /// - Parameters:
  ///   - limit: the most keys; 0 for the number alone.
  ///   - key: the key after which the page begins, which need not exist; nil for the first page.
  /// - Returns: the page.
  /// - Throws: `TreeError` if `key` is invalid; `DatabaseError` if the children cannot be read.
  public func shallow(limit: Int = 1000, after key: String? = nil) async throws -> ShallowSnapshot {
    let cursor = try key.map { key throws(TreeError) in try Key(key) }
    return try await database.answer { session in
      try session.shallow(path, limit: limit, after: cursor)
    }
  }
}

extension DatabaseSession {
  func shallow(_ path: Path, limit: Int, after cursor: Key?) throws -> ShallowSnapshot {
    // Requesting one extra key tells whether there are others.
    let limit = min(max(limit, 0), Int.max - 1)
    var query = try Query(path).ordered(by: .key).limited(to: limit + 1, from: .first)
    if let cursor {
      query = try query.starting(at: .leaf(.string(cursor.text)), isInclusive: false)
    }
    let slice = RowSlice(query)
    return try read { (tree: any TreeReader) in
      let summary = try tree.summary(at: path)
      let rows = limit == 0 ? [] : try tree.rows(of: path, in: slice, detail: .shallow)
      let keys = rows.prefix(limit).map(\.key.text)
      return ShallowSnapshot(
        keys: keys, numberOfChildren: summary.kind.childCount, exists: summary.kind != .empty,
        next: rows.count > limit ? keys.last : nil)
    }
  }
}

extension NodeSummary.Kind {
  fileprivate var childCount: Int {
    if case .children(let count) = self { count } else { 0 }
  }
}
