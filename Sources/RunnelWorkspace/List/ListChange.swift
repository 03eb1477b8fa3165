package import RunnelBase
package import RunnelStreams

/// A list after a change, with the change.
///
/// It costs what changed: the rows are those that the streams keep.
package struct ListChange: Sendable {
  /// The rows after the change.
  package enum Content: Sendable {
    /// The sections, as the streams have them.
    case sections([ListSection])
    /// What leads to them from those before, as a recorded session has it.
    case edit(ListEdit)
  }

  /// The rows after the change.
  package var content: Content
  /// The change, starting from the state before.
  package var update: BatchUpdate
  /// The rows that arrived by themselves: neither loaded at first nor fetched as a page.
  var newRows: Set<String> = []
  /// The rows whose content is new or changed; after a reload, all.
  package var records: [String: Record] = [:]
  /// The ids of the rows that are gone, in their old order; empty after a reload.
  package var removed: [String] = []
  /// How far the list is loaded.
  package var phase: LoadState
  /// What the fetch-more row says.
  package var paging: FetchState
  /// What the row says that stands for rows towards the end where they arrive; `exhausted` if the list
  /// reaches it.
  package var newer = FetchState.exhausted
  /// How many rows of the paged source are loaded, whether the filter wants them or not.
  var loadedCount: Int
  /// True if the list lets go of the rows that go: they are still there, and not loaded any more.
  var isLettingGo = false

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

  /// The sections after the change; nil if it does not fit those before.
  ///
  /// O(sections), and O(t log n) in the t rows of an edit.
  package func sections(after old: [ListSection]) -> [ListSection]? {
    switch content {
    case .sections(let sections): sections
    case .edit(let edit): edit.sections(after: old)
    }
  }

  /// The change as an edit; nil if it contradicts itself.
  package var edit: ListEdit? {
    switch content {
    case .sections(let sections): ListEdit(update, to: sections)
    case .edit(let edit): edit
    }
  }
}
