public import RunnelTree

/// The tree as rules see it at one moment: before an operation, or after it.
///
/// Any `TreeReader` can be used through `TreeRulesReader`; a tree in memory conforms itself.
public protocol RulesReader {
  /// The kind and size of the node at a place.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func summary(at path: Path) throws(TreeError) -> NodeSummary

  /// The whole subtree at a place. It is requested where a rule compares two objects, and where a
  /// write of a priority is validated.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func node(at path: Path) throws(TreeError) -> Node
}

extension MemoryTree: RulesReader {}

/// An adapter that lets rules read through a reader of the tree.
public struct TreeRulesReader<Reader: TreeReader>: RulesReader {
  private let reader: Reader

  /// Makes an adapter for a reader.
  public init(_ reader: Reader) { self.reader = reader }

  /// The kind and size of the node at a place.
  public func summary(at path: Path) throws(TreeError) -> NodeSummary {
    try reader.summary(at: path)
  }

  /// The whole subtree at a place.
  public func node(at path: Path) throws(TreeError) -> Node { try reader.node(at: path) }
}
