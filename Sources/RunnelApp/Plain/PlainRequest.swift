/// A request to list a view without a screen.
public struct PlainRequest: Hashable, Sendable {
  /// The format of rows.
  public enum Layout: Hashable, Sendable {
    /// Text for people, with the values of the list.
    case text
    /// A line of JSON for each row.
    case jsonLines
  }

  /// The number of rows to list.
  public enum Rows: Hashable, Sendable {
    /// The first page, as in the workspace.
    case page
    /// A number of rows from the live end.
    case count(Int)
    /// All rows.
    case all
  }

  /// The format of rows.
  public var layout: Layout
  /// The number of rows to list.
  public var rows: Rows
  /// The filter, as typed into the filter bar; nil for none.
  public var filter: String?
  /// Whether changes are listed after the rows.
  public var follows = false
  /// Whether only ASCII signs are used around the data.
  public var isASCII = false

  /// Creates a request.
  public init(_ layout: Layout, rows: Rows) {
    self.layout = layout
    self.rows = rows
  }
}
