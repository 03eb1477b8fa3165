package import RunnelStreams

/// The filter of a list, and what it hides and has searched.
package struct ListFiltering: Hashable, Sendable {
  /// The greatest number of rows hidden by a filter that are remembered.
  private static let hiddenMax = 1000

  /// The filter of the rows, or nil to show all.
  @Boxed package var filter: Filter?
  /// What a reference shows here, or showed last; nil if none was opened.
  @Boxed var reference: ReferenceFilter?
  /// Records that the filter hides, as sources of completions in the filter bar.
  package private(set) var hidden: [String: Record] = [:]
  /// Whether the rows that are not loaded are searched for the filter as soon as the list is loaded.
  var searchesWhenLoaded = false
  /// The number of rows beyond the loaded ones that were looked through for the filter.
  package private(set) var searchedCount = 0
  /// Where the filter runs, on a server's services; nil elsewhere.
  private(set) var filterPlace: FilterPlace?

  /// Whether the filter was looked for among other rows than the loaded ones.
  var isSearchedBeyond: Bool { searchedCount > 0 || isServers }

  /// Whether a server has found the rows, or a part of them.
  var isServers: Bool { filterPlace == .server || filterPlace == .both }

  /// Shows the rows that match a filter, or all rows if it is nil.
  mutating func show(_ filter: Filter?) {
    self.filter = filter
    searchesWhenLoaded = false
  }

  /// Takes where a change found its rows.
  mutating func take(_ change: ListChange) {
    (searchedCount, filterPlace) = (change.searchedCount, change.filterPlace)
    if filter == nil, !hidden.isEmpty { hidden = [:] }
  }

  /// Remembers a record that the filter hides, up to a number.
  mutating func hide(_ id: String, _ record: Record?) {
    if hidden.count < ListFiltering.hiddenMax { hidden[id] = record }
  }

  /// Notes that a record is shown again.
  mutating func unhide(_ id: String) { hidden[id] = nil }
}
