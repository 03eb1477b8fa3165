/// What is listed of a view where there is no screen.
public struct PlainRequest: Hashable, Sendable {
  /// How rows are written.
  public enum Layout: Hashable, Sendable {
    /// Text for people, as the list shows it.
    case text
    /// A line of JSON for each row.
    case jsonLines
  }

  /// How many rows are listed.
  public enum Rows: Hashable, Sendable {
    /// A page, as the workspace shows at first.
    case page
    /// So many from the end at which the list is live.
    case count(Int)
    /// All of them.
    case all
  }

  /// How rows are written.
  public var layout: Layout
  /// How many rows are listed.
  public var rows: Rows
  /// The filter, as it is typed into the bar; nil for none.
  public var filter: String?
  /// Whether what changes is told from then on.
  public var follows = false
  /// Whether only signs of ASCII are used around the data.
  public var isASCII = false

  /// Describes a listing.
  public init(_ layout: Layout, rows: Rows) {
    self.layout = layout
    self.rows = rows
  }
}
