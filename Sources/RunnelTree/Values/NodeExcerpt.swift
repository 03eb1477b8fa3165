/// The beginning of what stands at a place, to be looked at.
public struct NodeExcerpt: Hashable, Sendable {
  /// The JSON in the export format, a member a line; if it is cut, up to the end of a line.
  public var text: String
  /// The size of the whole as compact JSON, in bytes; if it is not counted, how far it was.
  public var byteCount: Int
  /// Whether all of it was counted.
  public var isCounted: Bool
  /// Whether the text is all of it.
  public var isWhole: Bool
  /// Whether the history would keep all of it, were it removed: then the removal can be undone.
  public var isUndoable: Bool
  /// How many children its children have; nil if it has too many to count theirs.
  public var grandchildCount: Int?

  /// The most children whose own children are counted.
  public static let countedChildrenMax = 100

  /// Makes an excerpt.
  public init(
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
