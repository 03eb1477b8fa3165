/// What the header line of a section says.
public struct ListHeading: Hashable, Sendable {
  /// The text at the left.
  public var title: StyledLine
  /// What stands at the right end: a count, a state.
  public var detail: StyledLine

  /// Makes a heading.
  public init(title: StyledLine = StyledLine(), detail: StyledLine = StyledLine()) {
    self.title = title
    self.detail = detail
  }
}
