/// The beginning of the node at a place, for people to look at.
package struct NodeExcerpt: Hashable, Sendable {
  /// The JSON in the export format, one member per line; if it is cut, up to the end of a line.
  package var text: String
  /// The size of the whole node as compact JSON, in bytes; if counting stopped early, the bytes
  /// counted so far.
  package var byteCount: Int
  /// Whether the whole node was counted.
  package var isCounted: Bool
  /// Whether the text shows the whole node.
  package var isWhole: Bool
  /// Whether the history would keep the whole node if it were removed, so that the removal can be
  /// undone.
  package var isUndoable: Bool
  /// The number of children of the children; nil if there are too many children to count theirs.
  package var grandchildCount: Int?

  /// The most children whose own children are counted.
  package static let countedChildrenMax = 100

  /// Makes an excerpt.
  package init(
    text: String, byteCount: Int, isCounted: Bool, isWhole: Bool, isUndoable: Bool = false,
    grandchildCount: Int? = nil
  ) {
    self.grandchildCount = grandchildCount
    self.isUndoable = isUndoable
    self.text = text
    self.byteCount = byteCount
    self.isCounted = isCounted
    self.isWhole = isWhole
  }
}
