import RunnelBase
import RunnelStreams
import RunnelTree

// Records that others add far from the loaded rows are only counted. The history tells which they are.

extension ListScreen {
  /// Whether new rows are counted that may be anywhere in the order, and are not loaded.
  private var hasNewSomewhere: Bool {
    definition.source.anchor != .last && filtering.filter == nil && arrivedUnloaded > 0
  }

  /// The number of entries of the history among which the newest record is looked for.
  private static let entriesMax = 100

  /// Looks for the newest record beyond the loaded rows, to go there; returns false if none is counted.
  static func seekNewest(_ state: inout AppState, inView view: Int) -> Bool {
    guard state.tabs.front == .view(view), state.tabs.lists[view].hasNewSomewhere else {
      return false
    }
    let path = state.tabs.lists[view].definition.source.path
    state.ask(.history(path, before: nil, count: entriesMax), for: .newest(view: view))
    return true
  }

  /// Goes to the newest record beyond the loaded rows that the entries of the history name, or to where the
  /// pages with the new rows will come.
  static func take(_ state: inout AppState, newest page: HistoryPage?, inView view: Int) {
    // The user may have gone elsewhere meanwhile.
    guard let screen = state.tabs.frontList, state.tabs.front == .view(view), state.layers.isEmpty
    else { return }
    let source = screen.definition.source
    let added = page?.entries.lazy.flatMap { $0.added(to: source.path).reversed() }.first { child in
      !screen.hasRow(Record.id(of: Path(unchecked: source.path.keys + [child.key])))
    }
    guard let added else { return goToEndOfNewest(&state, inView: view) }
    let jump = Jump.record(added.key, source.order.value(of: added), isNamed: false)
    if !Jump.start(&state, jump, inView: view) { goToEndOfNewest(&state, inView: view) }
  }
}

extension HistoryEntry {
  /// The children that the write added to a place, as far as the entry has their values.
  fileprivate func added(to place: Path) -> [Child] {
    parts.flatMap { part -> [Child] in
      guard !part.isPriority, let values = part.values else { return [] }
      if part.path == place { return HistoryEntry.added(from: values.old, to: values.new) }
      guard part.path.parent == place, let key = part.path.lastKey, values.old == .null,
        let node = try? Node(json: values.new), !node.isEmpty
      else { return [] }
      return [Child(key: key, node: node)]
    }
  }

  private static func added(from old: JSONValue, to new: JSONValue) -> [Child] {
    guard case .object(let members) = new else { return [] }
    return members.compactMap { member in
      guard old[member.name] == nil, let key = try? Key(member.name),
        let node = try? Node(json: member.value), !node.isEmpty
      else { return nil }
      return Child(key: key, node: node)
    }
  }
}
