public import RunnelBase

/// What happened to the rows of a stream between two of its states.
///
/// If `batch.isReload` is true everything else is empty: read `StreamChange.sections` anew.
public struct ChangeSet: Hashable, Sendable {
  /// What happened, in index paths: deletes and reloads in the old sections, inserts and moves' ends
  /// in the new ones.
  public var batch = BatchUpdate()
  /// The keys of rows that are gone, in their old order.
  public var removedKeys: [String] = []
  /// The keys of rows that are new, in their new order.
  public var insertedKeys: [String] = []
  /// The keys of rows that stayed and whose content changed, in their old order.
  public var updatedKeys: [String] = []
  /// The new places of the rows that are new or whose content changed, ascending.
  public var contentPaths: [IndexPath] = []
  /// Those of the new rows that arrived by themselves: they were not there at first, were not
  /// fetched as a page, and were not put in by this program's own hand.
  public var arrivedKeys: Set<String> = []

  /// Makes an empty change set.
  public init() {}

  /// A change set that asks for everything to be read anew.
  public static var reload: ChangeSet {
    var changes = ChangeSet()
    changes.batch = .reload
    return changes
  }

  /// True if nothing happened to the rows.
  public var isEmpty: Bool { batch.isEmpty }
}

/// What an observer of a stream is told: the state it is in now, and what brought it there.
public struct StreamChange<Item: KeyedItem> {
  /// The rows after the change.
  public var sections: [StreamSection<Item>]
  /// What happened to them since the observer was last told.
  public var changes: ChangeSet
  /// How far the stream is loaded.
  public var loadState: LoadState

  /// Makes a change.
  public init(
    sections: [StreamSection<Item>], changes: ChangeSet, loadState: LoadState
  ) {
    self.sections = sections
    self.changes = changes
    self.loadState = loadState
  }

  /// The rows that are new or whose content changed; after a reload, all.
  public var touched: [Item] {
    if changes.batch.isReload { return sections.flatMap(\.items) }
    return changes.contentPaths.map { sections[$0.section].items[$0.row] }
  }
}

extension StreamChange: Equatable {}
extension StreamChange: Sendable where Item: Sendable {}
