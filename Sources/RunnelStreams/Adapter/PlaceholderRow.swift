public import RunnelBase

/// A row of a list that stands for no item: for what is not loaded, for nothing, or for a failure.
public struct PlaceholderRow: Hashable, Sendable {
  /// What a placeholder says.
  public enum Content: Hashable, Sendable {
    /// How far the rows at its end are paged; never `unknown`.
    case paging(FetchState)
    /// The first rows are on their way.
    case loading
    /// The rows could not be got, for this reason.
    case failed(String)
    /// There are no rows.
    case empty
  }

  /// What the row is known by in the list.
  public var key: String
  /// What it says.
  public var content: Content

  /// Makes a row.
  public init(key: String, content: Content) {
    self.key = key
    self.content = content
  }
}

/// A placeholder and where it stands.
public struct PlacedPlaceholder: Hashable, Sendable {
  /// The row.
  public var row: PlaceholderRow
  /// Where it stands in the list.
  public var path: IndexPath
}
