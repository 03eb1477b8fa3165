// The events for the listeners of a view.

extension View {
  /// The events of a batch: removed, added, moved, changed, then the value, and what is known of it.
  ///
  /// `wantsValue` tells whether a listener wants the value, which costs O(rows) to build.
  func events(for changes: Changes, wantsValue: Bool) -> [TreeEvent] {
    var events: [TreeEvent] = changes.removed.map { .childRemoved($0) }
    events += changes.added.map { .childAdded($0, previous: previous(of: $0)) }
    events += changes.moved.map { .childMoved($0, previous: previous(of: $0)) }
    events += changes.changed.map { .childChanged($0, previous: previous(of: $0)) }
    if wantsValue, knowledge.isAnswer, changes.isAnswerNow || !changes.isContentSame {
      events.append(.value(value))
    }
    if changes.isAnswerNow { events.append(.answered) }
    if changes.hasMoreChanged { events.append(.page(hasMore: hasMore)) }
    return events
  }

  /// The events that tell a new listener the present state.
  ///
  /// Source: tree semantics, section 6.3.
  func initialEvents(wantsValue: Bool) -> [TreeEvent] {
    var events = addedEvents(for: rows)
    if wantsValue, knowledge.isAnswer { events.append(.value(value)) }
    if knowledge.isAnswer { events.append(.answered) }
    if request.paging != nil { events.append(.page(hasMore: hasMore)) }
    return events
  }

  /// The events for rows that an extension gained.
  func addedEvents(for rows: [TreeRow]) -> [TreeEvent] {
    rows.map { .childAdded($0, previous: previous(of: $0)) }
  }

  /// The whole content; a filtered view has no priority of its own, and no leaf.
  var value: Node {
    if case .leaf(let leaf) = head.kind { return Node(leaf, priority: head.priority) }
    let children = rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } }
    return Node(children: children, priority: head.priority)
  }

  private func previous(of row: TreeRow) -> Key? {
    let index = position(of: row.position)
    return index == 0 ? nil : rows[index - 1].key
  }
}
