package import RunnelBase
package import RunnelStreams
package import RunnelTree

/// The loaded children of an expanded node, ordered by key.
package struct TreeChildren: Equatable, Sendable {
  package var rows = Rows<Record>()
  package var phase = LoadState.loading
  package var paging = FetchState.exhausted
  /// What is known of children that a server listed; nil for those that the tree tells whole.
  package var listing: TreeListing?

  /// Returns the index of the child with a key, or the index where it would be.
  ///
  /// O(log² n).
  package func index(of key: RunnelTree.Key) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].row.key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the child with a key, or nil if it is not loaded or does not exist.
  package func child(_ key: RunnelTree.Key) -> TreeRow? {
    let index = index(of: key)
    guard index < rows.count, rows[index].row.key == key else { return nil }
    return rows[index].row
  }

  /// Whether a line below the children says that others are not loaded, or could not be.
  var hasTail: Bool {
    if case .failed = phase { return true }
    return paging != .exhausted
  }
}

/// A change of the children of an expanded node, with the children after it.
package struct TreeChange: Sendable {
  /// The children after the change.
  package enum Content: Sendable {
    /// The children of the stream, and the indices of new and changed ones.
    case rows(Rows<Record>, came: [Int])
    /// The new and changed children by index, from a recorded session.
    case edit([Int: Record])
  }

  package var content: Content
  /// The changes, in one section.
  package var update: BatchUpdate
  package var phase: LoadState
  package var paging: FetchState
  /// What is known of children that a server listed; nil for those that the tree tells whole.
  package var listing: TreeListing?

  package init(
    content: Content, update: BatchUpdate, phase: LoadState, paging: FetchState,
    listing: TreeListing? = nil
  ) {
    self.content = content
    self.update = update
    self.phase = phase
    self.paging = paging
    self.listing = listing
  }

  /// Returns the children after the change, or nil if the change does not fit the children before.
  ///
  /// O(1), and O(t log n) in the t rows of an edit.
  package func children(after old: TreeChildren?) -> TreeChildren? {
    switch content {
    case .rows(let rows, _):
      TreeChildren(rows: rows, phase: phase, paging: paging, listing: listing)
    case .edit(let came):
      (old?.rows ?? []).following(update, contents: came).map {
        TreeChildren(rows: $0, phase: phase, paging: paging, listing: listing)
      }
    }
  }

  /// The new and changed children by index; all children after a reload.
  ///
  /// O(t log n) in the t rows of the change.
  var came: [Int: Record] {
    switch content {
    case .edit(let came): return came
    case .rows(let rows, let came):
      let indices = update.isReload ? Array(rows.indices) : came
      return Dictionary(indices.map { ($0, rows[$0]) }, uniquingKeysWith: { first, _ in first })
    }
  }
}
