public import RunnelBase

/// The changes of a stream's rows between two states.
///
/// If `batch.isReload` is true everything else is empty: read `StreamChange.sections` again.
public struct ChangeSet: Hashable, Sendable {
  /// The changes in index paths: deletes and reloads in the old sections, inserts and destinations
  /// of moves in the new ones.
  public var batch = BatchUpdate()
  /// The ids of rows that are gone, in their old order.
  public var removedIDs: [String] = []
  /// The ids of rows that are new, in their new order.
  public var insertedIDs: [String] = []
  /// The ids of rows that stayed and whose content changed, in their old order.
  public var updatedIDs: [String] = []
  /// The new places of the rows that are new or whose content changed, ascending.
  public var contentPaths: [ListIndexPath] = []
  /// The ids of the new rows that arrived by themselves: rows that are not in the first load or in
  /// a page that was fetched, and that this program did not write itself.
  public var arrivedIDs: Set<String> = []

  /// Makes an empty change set.
  public init() {}

  /// A change set that asks for everything to be read again.
  public static var reload: ChangeSet {
    var changes = ChangeSet()
    changes.batch = .reload
    return changes
  }

  /// True if nothing happened to the rows.
  public var isEmpty: Bool { batch.isEmpty }
}

/// A change of a stream: its new state, and the changes that led to it.
public struct StreamChange<Item: StreamItem> {
  /// The rows after the change.
  public var sections: [StreamSection<Item>]
  /// The changes since the observer was last told.
  public var changes: ChangeSet
  /// The load state.
  public var loadState: LoadState

  /// Makes a change.
  public init(
    sections: [StreamSection<Item>], changes: ChangeSet, loadState: LoadState
  ) {
    self.sections = sections
    self.changes = changes
    self.loadState = loadState
  }

  /// All rows after the change, section by section.
  ///
  /// O(n).
  public var items: [Item] { sections.flatMap(\.items) }

  /// The rows that are new or have new content; all rows after a reload.
  public var touched: [Item] {
    if changes.batch.isReload { return items }
    return changes.contentPaths.map { sections[$0.section].items[$0.row] }
  }
}

extension StreamChange: Equatable {}
extension StreamChange: Sendable where Item: Sendable {}
