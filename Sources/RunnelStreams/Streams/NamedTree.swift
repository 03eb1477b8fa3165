/// A tree with a name, by which a union tells rows of one tree from those of several.
///
/// Ids of rows are made of their places, and two trees have the same places.
package protocol NamedTree: AnyObject {
  /// The name; different trees have different names.
  var treeName: String { get }
  /// Notes why a stream over this tree and others has failed; nil once it has not any more.
  func note(_ failure: StreamFailure?, of stream: ObjectIdentifier)
}

/// A stream that knows the trees of its rows.
protocol RowsOfTrees: AnyObject {
  /// The trees that have names.
  var treesOfRows: [any NamedTree] { get }
}

extension SectionedStream {
  /// The trees of the rows, as far as they are known.
  var knownTrees: [any NamedTree] { (self as? any RowsOfTrees)?.treesOfRows ?? [] }
}

extension QueryStream: RowsOfTrees {
  var treesOfRows: [any NamedTree] { (source as? any NamedTree).map { [$0] } ?? [] }
}

extension PartitionedStream: RowsOfTrees {
  var treesOfRows: [any NamedTree] { source.knownTrees }
}
