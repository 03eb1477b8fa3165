public import RunnelBase

/// A row of a list that stands for no item: for rows not loaded, for an empty list, or for a
/// failure.
public struct PlaceholderRow: Hashable, Sendable {
  /// The content of a placeholder.
  public enum Content: Hashable, Sendable {
    /// The fetch state at its end; never `unknown`.
    case paging(FetchState)
    /// The first rows are being loaded.
    case loading
    /// The rows could not be loaded, for this reason.
    case failed(StreamFailure)
    /// There are no rows.
    case empty
  }

  /// The identity of the row in the list.
  public var id: String
  /// The content.
  public var content: Content

  /// Makes a row.
  public init(id: String, content: Content) {
    self.id = id
    self.content = content
  }
}

/// A placeholder and its place.
public struct PlacedPlaceholder: Hashable, Sendable {
  /// The row.
  public var row: PlaceholderRow
  /// The place in the list.
  public var path: ListIndexPath
}
