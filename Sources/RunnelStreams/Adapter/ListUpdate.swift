public import RunnelBase

/// A list after a change, with the change.
public struct ListUpdate<Item: KeyedItem> {
  /// The list by the keys of its rows, the paging row among them.
  public var sections: [KeyedSection]
  /// What happened since the list before.
  public var update: BatchUpdate
  /// The items that are new or have another content; after a reload, all.
  public var touched: [Item]
  /// The keys of the rows that are gone; empty after a reload.
  public var removed: [String]
  /// The keys of the rows that arrived by themselves.
  public var arrived: Set<String>
  /// The paging row; nil if the list has none.
  public var pagingRow: PagingRow?
}

extension ListUpdate: Sendable where Item: Sendable {}

/// The row that stands for what is not loaded, or says that everything is.
public struct PagingRow: Hashable, Sendable {
  /// What the row is known by in the list.
  public var key: String
  /// Where it stands in the list.
  public var path: IndexPath
  /// What it says; never `unknown`.
  public var state: FetchState
  /// True if it stands in a section of its own, which is the last.
  public var isAlone: Bool
}
