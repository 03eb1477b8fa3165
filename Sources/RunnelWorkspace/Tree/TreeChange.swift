package import RunnelBase
package import RunnelStreams
package import RunnelTree

/// The children of an expanded node as far as they are loaded, in the order of their keys.
package struct TreeChildren: Equatable, Sendable {
  package var rows = Rows<Record>()
  package var phase = LoadState.loading
  package var paging = FetchState.exhausted

  /// The index of the child with a key, or where it would be.
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

  /// The child with a key; nil if it is not loaded, or is not there.
  package func child(_ key: RunnelTree.Key) -> TreeRow? {
    let index = index(of: key)
    guard index < rows.count, rows[index].row.key == key else { return nil }
    return rows[index].row
  }

  /// True if a line below the children says that others are not loaded, or could not be.
  var hasTail: Bool {
    if case .failed = phase { return true }
    return paging != .exhausted
  }
}

/// The children of an expanded node after a change, with the change.
package struct TreeChange: Sendable {
  /// The children after the change.
  package enum Content: Sendable {
    /// As the stream has them; and the indices of those that came or have another content.
    case rows(Rows<Record>, came: [Int])
    /// Those that came or have another content, by their indices; from a recorded session.
    case edit([Int: Record])
  }

  package var content: Content
  /// What happened, in one section.
  package var update: BatchUpdate
  package var phase: LoadState
  package var paging: FetchState

  package init(content: Content, update: BatchUpdate, phase: LoadState, paging: FetchState) {
    self.content = content
    self.update = update
    self.phase = phase
    self.paging = paging
  }

  /// The children after the change; nil if it does not fit those before.
  ///
  /// O(1), and O(t log n) in the t rows of an edit.
  package func children(after old: TreeChildren?) -> TreeChildren? {
    switch content {
    case .rows(let rows, _): TreeChildren(rows: rows, phase: phase, paging: paging)
    case .edit(let came):
      (old?.rows ?? []).following(update, contents: came).map {
        TreeChildren(rows: $0, phase: phase, paging: paging)
      }
    }
  }

  /// What came or has another content, by its index; after a reload all.
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
