public import RunnelBase

/// A list after a change, with the change.
public struct ListUpdate<Item: StreamItem> {
  /// The sections of the list, placeholders among their rows.
  public var sections: [AdapterSection<Item>]
  /// The changes since the list before, in the coordinates of the whole list.
  public var update: BatchUpdate
  /// The items that are new or have new content; all items after a reload.
  public var touched: [Item]
  /// The ids in the list of the items that are gone; empty after a reload.
  public var removed: [String]
  /// The ids in the list of the items that arrived by themselves.
  public var arrived: Set<String>
  /// The index of the first of the sections in the whole list.
  public var sectionOffset: Int

  /// Makes an update.
  package init(
    sections: [AdapterSection<Item>], update: BatchUpdate, touched: [Item] = [],
    removed: [String] = [], arrived: Set<String> = [], sectionOffset: Int = 0
  ) {
    self.sections = sections
    self.update = update
    self.touched = touched
    self.removed = removed
    self.arrived = arrived
    self.sectionOffset = sectionOffset
  }
}

extension ListUpdate: Sendable where Item: Sendable {}

extension ListUpdate {
  /// The placeholders, in order, with their places in the whole list.
  ///
  /// O(sections).
  public var placeholders: [PlacedPlaceholder] {
    PartLayout(sections: sections).placeholders.map { placed in
      var placed = placed
      placed.path.section += sectionOffset
      return placed
    }
  }

  /// The state of the first fetch-more row; nil if there is none.
  public var fetchState: FetchState? {
    for placed in placeholders {
      if case .paging(let state) = placed.row.content { return state }
    }
    return nil
  }

  /// The sections by the ids of their rows.
  ///
  /// O(n).
  public var sectionIDs: [SectionIDs] { sections.map(\.sectionIDs) }
}
