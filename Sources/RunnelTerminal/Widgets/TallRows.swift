import RunnelBase

/// What a list shows whose rows may take several lines of the screen.
public struct TallRows {
  /// The height that all operations on the list's state are given, in rows: so many rows fit on the
  /// screen, whatever they contain.
  public var height: Int
  /// Returns the lines of the row with an id, each at most so many columns wide; at least one.
  public var lines: (_ id: String, _ width: Int) -> [StyledLine]

  /// Makes the rows of a list.
  public init(height: Int, lines: @escaping (_ id: String, _ width: Int) -> [StyledLine]) {
    self.height = height
    self.lines = lines
  }
}

extension ListState.VisibleLine {
  /// The item that the cursor can go to on this line; nil if there is none.
  func item(in content: ListContent) -> ListItem? {
    switch kind {
    case .header, .stickyHeader: .header(content.sections[section].id)
    case .row(let id): .row(id)
    case .emptyText, .divider: nil
    }
  }
}
