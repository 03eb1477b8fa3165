import RunnelBase
import RunnelStreams
import RunnelTree

/// The children of an expanded node as far as they are loaded, in the order of their keys.
struct TreeChildren: Equatable, Sendable {
  var rows = Rows<Record>()
  var phase = LoadState.loading
  var paging = FetchState.exhausted

  /// The index of the child with a key, or where it would be.
  ///
  /// O(log² n).
  func index(of key: RunnelTree.Key) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].row.key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The child with a key; nil if it is not loaded, or is not there.
  func child(_ key: RunnelTree.Key) -> TreeRow? {
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
struct TreeChange: Sendable {
  /// The children after the change.
  enum Content: Sendable {
    /// As the stream has them; and the indices of those that came or have another content.
    case rows(Rows<Record>, came: [Int])
    /// Those that came or have another content, by their indices; from a recorded session.
    case edit([Int: Record])
  }

  var content: Content
  /// What happened, in one section.
  var update: BatchUpdate
  var phase: LoadState
  var paging: FetchState

  /// The children after the change; nil if it does not fit those before.
  ///
  /// O(1), and O(t log n) in the t rows of an edit.
  func children(after old: TreeChildren?) -> TreeChildren? {
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
