/// The hashes of the answer that a replica has kept; if they are those of the origin's data, the
/// origin sends nothing.
///
/// Source: tree semantics, sections 16.1 and 16.2.
public struct KnownHash: Hashable, Sendable {
  /// The hash of the whole answer; empty if no answer is kept.
  public var whole: String
  /// The hashes of ranges of the answer, so that the origin sends only those that differ; nil if it
  /// is small.
  public var ranges: CompoundHash?

  /// Makes the hashes.
  public init(whole: String, ranges: CompoundHash? = nil) {
    self.whole = whole
    self.ranges = ranges
  }
}

/// The sizes from which on an answer is hashed by ranges.
///
/// Source: tree semantics, section 16.2.
package struct RangeHashing: Hashable, Sendable {
  /// The estimated size in bytes above which an answer is hashed by ranges.
  ///
  /// The tree semantics have 1024. The hashes of the ranges are sent at every connection, for each
  /// window; so little data is rather sent again whole when something in it has changed.
  package var sizeMax = 4096
  /// The least number of UTF-16 code units in the text of a range.
  package var textMin = 512

  /// Makes the usual limits.
  package init() {}

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
