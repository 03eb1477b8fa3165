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
