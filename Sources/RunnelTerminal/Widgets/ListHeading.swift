/// The text of a section's header line.
public struct ListHeading: Hashable, Sendable {
  /// The text at the left.
  public var title: StyledLine
  /// The text at the right end: a count, a state.
  public var detail: StyledLine

  /// Makes a heading.
  public init(title: StyledLine = StyledLine(), detail: StyledLine = StyledLine()) {
    self.title = title
    self.detail = detail
  }
}
