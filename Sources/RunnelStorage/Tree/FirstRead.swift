package import RunnelTree

/// What a tree asks its store for first when it reads the children of a split node.
///
/// A store that is far away can fetch it together with other things. A read asks for more when the node
/// has few children, or many that do not pass a filter.
package struct FirstRead {
  package enum Part {
    case rows(KeyRange, isDescending: Bool)
    case entries(EntryOrder, EntryRange, isDescending: Bool)
    /// Whether there are entries in the order of priorities.
    case hasPriorities
    /// The head of the node.
    case head
  }

  package private(set) var parts: [Part] = []

  /// What the children of a place in a slice are read from.
  package init(_ slice: RowSlice, at path: Path, indexes: [StoredIndex]) {
    let kept = slice.reversed ?? slice
    let isDescending = kept.limit?.side == .last
    switch kept.index {
    case .key: add(KeyRange(start: kept.start, end: kept.end), isDescending, kept)
    case .priority:
      parts.append(.hasPriorities)
      add(kept.keysWithoutPriority, isDescending, kept)
    case .value, .child, .compound:
      guard let index = indexes.first(where: { $0.order == kept.index && $0.covers(path.keys) })
      else { return }
      parts += [
        .head, .entries(.index(index.id), EntryRange(kept), isDescending: isDescending),
      ]
    }
  }

  private mutating func add(_ range: KeyRange?, _ isDescending: Bool, _ slice: RowSlice) {
    guard var range else { return }
    range.wantedCount = slice.wantedCount
    parts.append(.rows(range, isDescending: isDescending))
    // Rows that may be all of them are counted.
    if slice.start == nil, slice.end == nil { parts.append(.head) }
  }
}

extension RowSlice {
  /// The number of rows after which a reading of the slice ends; nil if that depends on the rows.
  var wantedCount: Int? { filter == nil ? limit?.count : nil }

  /// The keys of the slice of an order by priority if no child has one; nil if there are none.
  var keysWithoutPriority: KeyRange? {
    guard start.map({ $0.position.value == .null }) ?? true else { return nil }
    // An end above null includes every key.
    return KeyRange(start: start, end: end.flatMap { $0.position.value == .null ? $0 : nil })
  }
}
