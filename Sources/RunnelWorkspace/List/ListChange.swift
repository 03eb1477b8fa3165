package import RunnelBase
package import RunnelStreams

/// A change of a list, with the rows after it.
///
/// The cost is that of the change: the rows are shared with the streams.
package struct ListChange: Sendable {
  /// The rows after the change.
  package enum Content: Sendable {
    /// The sections, as the streams have them.
    case sections([ListSection])
    /// The edit from the sections before, as recorded sessions have it.
    case edit(ListEdit)
  }

  /// The rows after the change.
  package var content: Content
  /// The changes, starting from the state before.
  package var update: BatchUpdate
  /// The rows that arrived while the list was open: neither loaded at first nor fetched as a page.
  var newRows: Set<String> = []
  /// The number of rows that arrived and are not among `newRows`, because they are the user's own.
  private(set) var ownCount = 0
  /// The records of new or changed rows; all records after a reload.
  package var records: [String: Record] = [:]
  /// The ids of the removed rows, in their old order; empty after a reload.
  package var removed: [String] = []
  /// The load state of the list.
  package var phase: LoadState
  /// The fetch state of the fetch-more row.
  package var paging: FetchState
  /// The fetch state of the row for more rows at the end where rows arrive; `exhausted` if the list
  /// reaches that end.
  package var newer = FetchState.exhausted
  /// The number of loaded rows of the paged source, whether they match the filter or not.
  package var loadedCount: Int
  /// The number of rows beyond the loaded ones that were looked through for the filter.
  package var searchedCount = 0
  /// Where the filter runs, on a server's services; nil elsewhere, or without a filter.
  package var filterPlace: FilterPlace?
  /// Whether the list unloads the removed rows, which still exist.
  package var isLettingGo = false

  package init(
    content: Content, update: BatchUpdate, newRows: Set<String> = [],
    records: [String: Record] = [:], removed: [String] = [], phase: LoadState, paging: FetchState,
    newer: FetchState = FetchState.exhausted, loadedCount: Int, isLettingGo: Bool = false
  ) {
    self.content = content
    self.update = update
    self.newRows = newRows
    self.records = records
    self.removed = removed
    self.phase = phase
    self.paging = paging
    self.newer = newer
    self.loadedCount = loadedCount
    self.isLettingGo = isLettingGo
  }

  /// Takes rows out of the new ones, because the user brings them back or imports them.
  ///
  /// O(rows).
  mutating func takeAsOwn(_ rows: Set<String>) {
    let before = newRows.count
    newRows.subtract(rows)
    ownCount += before - newRows.count
  }

  /// Returns the sections after the change, or nil if the change does not fit the sections before.
  ///
  /// O(sections), and O(t log n) in the t rows of an edit.
  package func sections(after old: [ListSection]) -> [ListSection]? {
    switch content {
    case .sections(let sections): sections
    case .edit(let edit): edit.sections(after: old)
    }
  }

  /// The change as an edit, or nil if it contradicts itself.
  package var edit: ListEdit? {
    switch content {
    case .sections(let sections): ListEdit(update, to: sections)
    case .edit(let edit): edit
    }
  }
}
