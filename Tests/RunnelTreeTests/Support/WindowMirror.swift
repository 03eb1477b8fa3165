import RunnelBase
import RunnelTree

/// A window as its listener knows it: nothing but what events told.
struct WindowMirror {
  let request: ListenRequest
  /// The part of what was requested that is shown, if the window is one of a replica and paged.
  var part: Query?
  private var rows: [TreeRow] = []
  private var value: Node?
  private var hasMore = true

  init(_ request: ListenRequest) { self.request = request }

  /// Takes in a batch; returns what is wrong with it, if anything.
  mutating func apply(
    _ events: [TreeEvent], _ tree: MemoryTree, isInitial: Bool = false
  ) -> String? {
    let before = rows
    if let fault = orderFault(events) ?? takeIn(events) { return fault }
    if let fault = rowsFault(tree) { return fault }
    for event in events {
      if let fault = previousFault(event) { return fault }
    }
    if isInitial { return nil }
    if events.isEmpty != (before == rows && !isValueTold(events)), request.paging == nil {
      return "Events \(events) for a window that changed from \(before) to \(rows)."
    }
    return valueFault(tree)
  }

  /// Takes in what one input came to, which may be several batches; returns what is wrong.
  ///
  /// `tree` holds what is known, and `isAnswer` says whether that is all that the query asks for.
  mutating func apply(
    batches events: [TreeEvent], _ tree: MemoryTree, isAnswer: Bool
  ) -> String? {
    let before = rows
    var rest = events[...]
    while !rest.isEmpty {
      let count = zip(rest, rest.dropFirst()).prefix { $0.rank <= $1.rank }.count + 1
      let batch = Array(rest.prefix(count))
      if let fault = takeIn(batch) { return fault }
      if count == rest.count, let fault = previousFault(last: batch) { return fault }
      rest = rest.dropFirst(count)
    }
    if let fault = rowsFault(tree) { return fault }
    if events.isEmpty, before != rows { return "The window changed without events." }
    return isAnswer ? valueFault(tree) : nil
  }

  /// What is wrong with the rows before those of the last batch, which may be two in a row.
  private func previousFault(last events: [TreeEvent]) -> String? {
    for (index, event) in events.enumerated() {
      let isRepeated = events.dropFirst(index + 1).contains {
        $0.rank == event.rank && $0.row?.key == event.row?.key
      }
      if !isRepeated, let fault = previousFault(event) { return fault }
    }
    return nil
  }

  /// What is wrong with the window as the one of a tree, if anything.
  ///
  /// Of a paged one: whether it is whole from its anchor on.
  func fault(in tree: MemoryTree) -> String? {
    rowsFault(tree, RowSlice(request.query)) ?? valueFault(tree)
  }

  private func rowsFault(_ tree: MemoryTree) -> String? {
    rowsFault(tree, RowSlice(part ?? request.query), isPart: part != nil)
  }

  private func rowsFault(
    _ tree: MemoryTree, _ slice: RowSlice, isPart: Bool = false
  ) -> String? {
    let expected = expectedRows(tree, slice, isPart: isPart)
    return rows == expected ? nil : "The window is \(rows), not \(expected)."
  }

  private func isValueTold(_ events: [TreeEvent]) -> Bool {
    events.contains { if case .value = $0 { true } else { false } }
  }

  private func orderFault(_ events: [TreeEvent]) -> String? {
    let ranks = events.map(\.rank)
    return ranks == ranks.sorted() ? nil : "The kinds are out of order: \(events)."
  }

  private mutating func takeIn(_ events: [TreeEvent]) -> String? {
    var placed: [(row: TreeRow, previous: Key?)] = []
    for event in events {
      switch event {
      case .childRemoved(let row):
        guard let index = rows.firstIndex(of: row) else { return "\(row) was not there." }
        rows.remove(at: index)
      case .childAdded(let row, let previous):
        if rows.contains(where: { $0.key == row.key }) { return "\(row.key) was there." }
        placed.append((row, previous))
      case .childMoved(let row, let previous):
        guard let index = rows.firstIndex(where: { $0.key == row.key }) else {
          return "\(row.key) moved and was not there."
        }
        rows.remove(at: index)
        placed.append((row, previous))
      case .childChanged(let row, _):
        if placed.contains(where: { $0.row == row }) { continue }
        guard let index = rows.firstIndex(where: { $0.key == row.key }), rows[index] != row else {
          return "\(row.key) did not change."
        }
        rows[index] = row
      case .value(let node): value = node
      case .page(let more): hasMore = more
      case .pending, .answered: break
      }
    }
    return place(placed)
  }

  /// Puts rows after those that come before them, which may be among them.
  private mutating func place(_ placed: [(row: TreeRow, previous: Key?)]) -> String? {
    var waiting = placed
    while !waiting.isEmpty {
      let ready = waiting.firstIndex { entry in
        entry.previous == nil || rows.contains { $0.key == entry.previous }
      }
      guard let ready else { return "No place for \(waiting)." }
      let (row, previous) = waiting.remove(at: ready)
      let index = previous.flatMap { key in rows.firstIndex { $0.key == key } }
      rows.insert(row, at: index.map { $0 + 1 } ?? 0)
    }
    return nil
  }

  private func expectedRows(
    _ tree: MemoryTree, _ slice: RowSlice, isPart: Bool
  ) -> [TreeRow] {
    let all = slice.rows(among: tree.root[request.query.path].children, detail: request.detail)
    guard let paging = request.paging, hasMore, !isPart else { return all }
    return paging.anchor == .last
      ? Array(all.suffix(rows.count)) : Array(all.prefix(rows.count))
  }

  private func previousFault(_ event: TreeEvent) -> String? {
    switch event {
    case .childAdded(let row, let previous), .childMoved(let row, let previous),
      .childChanged(let row, let previous):
      guard let index = rows.firstIndex(of: row) else { return "\(row.key) is not in the window." }
      let expected = index == 0 ? nil : rows[index - 1].key
      return previous == expected ? nil : "\(row.key) is after \(String(describing: expected))."
    case .childRemoved, .value, .page, .pending, .answered: return nil
    }
  }

  private func valueFault(_ tree: MemoryTree) -> String? {
    guard request.events.contains(.value), request.detail == .full else { return nil }
    let node = tree.root[request.query.path]
    let children = rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } }
    let query = part ?? request.query
    let isLeafShown = query.loadsAllData && node.leaf != nil
    let priority = query.loadsAllData ? node.priority : nil
    let expected = isLeafShown ? node : Node(children: children, priority: priority)
    return value == expected ? nil : "The value is \(String(describing: value))."
  }
}

extension TreeEvent {
  /// Removed, added, moved, changed, value, page.
  fileprivate var rank: Int {
    switch self {
    case .childRemoved: 0
    case .childAdded: 1
    case .childMoved: 2
    case .childChanged: 3
    case .value: 4
    case .page: 5
    case .pending: 6
    case .answered: 7
    }
  }
}
