import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// A refused value of a record in a list is the edit of a field, and what a refused write wrote is compared with what
// stands there now.

extension EarlierEdit {
  /// Returns the edit of the field that the write changed, with what was typed; nil for any other write.
  func field(_ state: AppState) -> (record: Path, edit: RecordScreen.Edit)? {
    guard let member = onlyTyped(state),
      let leaf = (try? RunnelTree.Node(json: member.value))?.leaf,
      let (place, present) = EarlierEdit.record(around: member.path, state), let present,
      let field = member.path.relative(to: place)
    else { return nil }
    // Where nothing is known of before, it is an edit of what is shown.
    let base = self.base(of: member.path) ?? present[field]
    // What stands there is no field, or the record is one no more.
    guard base.isEmpty || base.leaf != nil, present.leaf == nil, !present.isEmpty else {
      return nil
    }
    var rule: FieldRule?
    if field.keys.count == 1, let key = field.keys.first {
      rule = state.database.resources.record(at: place)?.definition.schema.rule(of: key)
    }
    var input = FieldInput(rule: rule, base.leaf?.json ?? .null)
    input.coding = state.database.coding
    input.keepLines()
    var edit = RecordScreen.Edit(
      field, input, original: base.leaf, in: present.replacing(field, with: base))
    if rule == nil { edit.input.kind = FieldKind(leaf.json) }
    edit.input.editor.replaceText(FieldKind.text(of: leaf.json))
    return (place, edit)
  }

  /// The record of a list, or the open one, in which a place is a field, and what is known of it.
  private static func record(
    around path: Path, _ state: AppState
  ) -> (place: Path, present: RunnelTree.Node?)? {
    for case .record(let screen) in state.layers.reversed() {
      if let field = path.relative(to: screen.path), !field.isRoot {
        return (screen.path, screen.node)
      }
    }
    var found: Path?
    let front = [state.tabs.front.view].compactMap(\.self)
    for view in front + Array(state.tabs.lists.indices) {
      let screen = state.tabs.lists[view]
      let collection = screen.definition.source.path
      guard let below = path.relative(to: collection), below.keys.count > 1 else { continue }
      let place = Path(unchecked: collection.keys + below.keys.prefix(1))
      if let node = screen.records[Record.id(of: place)]?.row.node { return (place, node) }
      found = found ?? place
    }
    return found.map { ($0, nil) }
  }

  // MARK: Comparing

  /// Returns what the write wrote, to be compared with what stands there now; nil if it wrote in places that are no
  /// part of one record.
  func comparison(_ state: AppState) -> CompareDraft? {
    let compared = members.filter { isCompared($0.path, $0.value, state.database.resources) }
    guard let first = compared.first else { return nil }
    if compared.count == 1 { return comparison(state, first.path, first.value) }
    var above = first.path.parent ?? .root
    while !compared.allSatisfy({ above.contains($0.path) }), let next = above.parent {
      above = next
    }
    // All records of a list, or the whole database, are too much to be one comparison.
    let isWide =
      above.isRoot || state.tabs.lists.contains { above.contains($0.definition.source.path) }
    if isWide { return nil }
    var (base, mine) = (RunnelTree.Node.empty, RunnelTree.Node.empty)
    var places: [Path] = []
    for member in compared {
      guard let place = member.path.relative(to: above),
        let value = try? RunnelTree.Node(json: member.value)
      else { return nil }
      base = base.replacing(place, with: self.base(of: member.path) ?? .empty)
      mine = mine.replacing(place, with: value)
      places.append(place)
    }
    var draft = CompareDraft(path: above, base: base.exportJSON, mine: mine.exportJSON)
    draft.places = places
    return draft
  }

  /// Returns the comparison of a single value; where nothing is known of before, there is a choice to be made.
  private func comparison(
    _ state: AppState, _ path: Path, _ value: JSONValue
  ) -> CompareDraft? {
    // What the origin computes in it is compared as it was estimated.
    let part = write.parts.first { $0.path == path }
    guard let mine = part?.shownNode ?? (try? RunnelTree.Node(json: value)) else { return nil }
    let base = self.base(of: path) ?? .empty
    var draft = CompareDraft(path: path, base: base.exportJSON, mine: mine.exportJSON)
    guard let (place, present) = EarlierEdit.record(around: path, state),
      let field = path.relative(to: place), !field.isRoot
    else { return draft }
    let around = present ?? .empty
    draft.record = CompareDraft.Whole(
      path: place, base: around.replacing(field, with: base).exportJSON,
      mine: around.replacing(field, with: mine).exportJSON)
    return draft
  }

  private func isCompared(_ path: Path, _ value: JSONValue, _ resources: ResourceBook) -> Bool {
    if value[ReservedName.serverValue] != nil { return false }
    switch resources.registry.place(of: path) {
    case .free: return true
    case .record(let identity, let field):
      return field.isRoot || resources.reasonNotEdited(field, of: identity.resource) == nil
    case .copy, .log, .above: return false
    }
  }
}

extension Assignment {
  /// The node that is written; nil for a priority.
  fileprivate var shownNode: RunnelTree.Node? {
    if case .node(let node) = target { node } else { nil }
  }
}

extension QueueScreen {
  /// Returns what a refused write wrote, to be compared with what stands there now; nil if it cannot be.
  static func comparison(_ state: AppState, _ item: WriteQueue.Refused) -> CompareDraft? {
    if let draft = item.draft { return draft }
    var draft = item.purpose.kind.comparison(state)
    draft?.queued = item.id
    return draft
  }
}
