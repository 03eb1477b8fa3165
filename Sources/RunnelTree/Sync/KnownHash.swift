/// What a replica keeps of an answer, by its hashes: where the origin holds the same, it tells nothing.
///
/// Source: tree semantics, sections 16.1 and 16.2.
public struct KnownHash: Hashable, Sendable {
  /// The hash of all of it; empty if nothing is kept.
  public var whole: String
  /// The hashes of its ranges, so that the origin can tell only those that differ; nil if it is small.
  public var ranges: CompoundHash?

  /// Makes the hashes.
  public init(whole: String, ranges: CompoundHash? = nil) {
    self.whole = whole
    self.ranges = ranges
  }
}

/// From which size on the ranges of what is kept are told.
///
/// Source: tree semantics, section 16.2.
public struct RangeHashing: Hashable, Sendable {
  /// What is larger is told by ranges: an estimate in bytes.
  public var sizeMax = 1024
  /// The least number of UTF-16 code units in the text of a range.
  public var textMin = 512

  /// Makes the limits that the semantics give.
  public init() {}

  /// Makes other limits.
  package init(sizeMax: Int, textMin: Int) {
    self.sizeMax = sizeMax
    self.textMin = textMin
  }

  /// The hashes of a node.
  ///
  /// O(n) in the node.
  func hash(_ node: Node) -> KnownHash {
    let isLarge = node.estimatedSize > sizeMax
    return KnownHash(
      whole: node.contentHash, ranges: isLarge ? CompoundHash(node, textMin: textMin) : nil)
  }
}

extension Replica {
  /// The hashes of what is kept of a query's answer.
  func knownHash(
    of query: Query, _ hashing: RangeHashing, _ storage: some ReplicaStorage
  ) throws(TreeError) -> KnownHash {
    hashing.hash(try kept(of: query, storage))
  }

  /// What is kept of a query's answer.
  private func kept(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node {
    let node = try storage.serverNode(at: query.path)
    guard let record = book.record(of: query), !record.isDefault else { return node }
    return Node(children: node.children.filter { record.keys.contains($0.key) })
  }

  /// The origin told the ranges in which the answer of a query differs from what is kept.
  ///
  /// Source: tree semantics, section 16.3.
  mutating func receive(
    _ merges: [RangeMerge], for query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    // An answer to a query that was ended meanwhile; what is kept of it may have gone.
    guard book.record(of: query)?.isActive == true else { return [] }
    var node = try kept(of: query, storage)
    for merge in merges { node = merge.applied(to: node) }
    return try receive(.set(node), at: query.path, for: query, &storage)
  }
}
