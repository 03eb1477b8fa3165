import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reasons why commands of the tree are disabled.

extension TreeCommands {
  // MARK: Opening

  static func reasonLineNotOpened(_ state: AppState) -> String? {
    switch state.tabs.tree.cursorLine {
    case .node(let path, let row, _)?:
      guard case .leaf = row.summary.kind else { return nil }
      return state.reasonReadOnly ?? reasonNotEdited(state, path, row)
    case .paging(let path, _, _)?, .failed(let path, _, _)?:
      return reasonNotFetched(state, below: path)
    case nil: return nil
    }
  }

  static func reasonNotIntoLine(_ state: AppState) -> String? {
    switch state.tabs.tree.cursorLine {
    case .node(let path, let row, _)?:
      if let reason = reasonIsValue(state, row) { return reason }
      return state.tabs.tree.expanded[path] == nil || !isLastLine(state, path)
        ? nil : "its children are being read"
    case .paging(let path, _, _)?, .failed(let path, _, _)?:
      return reasonNotThere(state, below: path)
    case nil:
      return isTreeFolded(state)
        || state.tabs.tree.content.firstRow(ofSection: TreeScreen.section) != nil
        ? nil : "there is nothing in it"
    }
  }

  static func reasonLineNotToggled(_ state: AppState) -> String? {
    switch state.tabs.tree.cursorLine {
    case .node(_, let row, _)?: return reasonIsValue(state, row)
    case .paging(let path, _, _)?, .failed(let path, _, _)?:
      return reasonNotThere(state, below: path)
    case nil: return nil
    }
  }

  static func reasonLineNotExpanded(_ state: AppState) -> String? {
    switch state.tabs.tree.cursorLine {
    case .node(let path, let row, _)?:
      return reasonIsValue(state, row)
        ?? (state.tabs.tree.expanded[path] == nil ? nil : "it is expanded")
    case .paging(let path, _, _)?, .failed(let path, _, _)?:
      return reasonNotThere(state, below: path)
    case nil: return isTreeFolded(state) ? nil : "it is expanded"
    }
  }

  /// The reason why the tree cannot be folded, or nil; nil on a line, where a node is collapsed.
  static func reasonTreeFolded(_ state: AppState) -> String? {
    state.tabs.tree.cursorLine == nil && isTreeFolded(state) ? "it is folded" : nil
  }

  static func reasonNoneExpanded(_ state: AppState) -> String? {
    let plan = TreeScreen.expansion(state)
    if !plan.opened.isEmpty { return nil }
    return plan.closedCount == 0
      ? "everything is expanded" : "\(plan.closedCount) more nodes would be over 1,000 lines"
  }

  static func reasonNoneCollapsed(_ state: AppState) -> String? {
    state.tabs.tree.expanded.keys.contains { !$0.isRoot } ? nil : "nothing is expanded"
  }

  private static func isTreeFolded(_ state: AppState) -> Bool {
    state.tabs.tree.list.folded.contains(TreeScreen.section)
  }

  private static func reasonIsValue(_ state: AppState, _ row: TreeRow) -> String? {
    if case .children = row.summary.kind { return nil }
    return state.phrase("this is a value: there is nothing below it", .recordEdit, "edits it")
  }

  /// Whether there is no line below a node, not even the one for more children.
  private static func isLastLine(_ state: AppState, _ path: Path) -> Bool {
    state.tabs.tree.firstLine(below: path) == nil
  }

  // MARK: Fetching

  static func reasonNoMoreLines(_ state: AppState) -> String? {
    switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)?:
      return reasonNoMoreChildren(
        state, of: state.tabs.tree.expanded[path] == nil ? path.parent ?? .root : path)
    case .paging(let path, _, _)?, .failed(let path, _, _)?:
      return reasonNotFetched(state, below: path)
    case nil: return reasonNoMoreChildren(state, of: .root)
    }
  }

  private static func reasonNotFetched(_ state: AppState, below path: Path) -> String? {
    isFailed(state, path) ? nil : reasonNoMoreChildren(state, of: path)
  }

  private static func reasonNotThere(_ state: AppState, below path: Path) -> String? {
    isFailed(state, path)
      ? state.phrase("they could not be read", .rowOpen, "tries again")
      : state.phrase("these children are not loaded", .rowOpen, "fetches them")
  }

  private static func isFailed(_ state: AppState, _ path: Path) -> Bool {
    if case .failed? = state.tabs.tree.expanded[path]?.phase { true } else { false }
  }

  private static func reasonNoMoreChildren(_ state: AppState, of path: Path) -> String? {
    guard let children = state.tabs.tree.expanded[path], children.phase == .loaded else {
      return "the children of \(path) are being read"
    }
    switch children.paging {
    case .unknown, .more, .failed: return nil
    case .fetching: return "more children of \(path) are being read"
    case .exhausted: return "all children of \(path) are loaded"
    }
  }

  // MARK: Writing

  private static let noNode = "move to a node to change it"

  static func reasonNoNodeEdited(_ state: AppState) -> String? {
    guard case .node(let path, let row, _)? = state.tabs.tree.cursorLine else { return noNode }
    return state.reasonReadOnly ?? reasonNotEdited(state, path, row)
  }

  static func reasonNoNodeDeleted(_ state: AppState) -> String? {
    if state.tabs.tree.markCount > 0 { return state.reasonReadOnly }
    guard case .node? = state.tabs.tree.cursorLine else { return noNode }
    return state.reasonReadOnly
  }

  private static func reasonNotEdited(_ state: AppState, _ path: Path, _ row: TreeRow) -> String? {
    guard case .leaf(let leaf) = row.summary.kind else {
      let way = state.tabs.tree.expanded[path] == nil ? "expand it" : "move to a value in it"
      let end = state.tabs.tree.expanded[path] == nil ? "to edit a value in it" : "to edit that"
      return "\(way) \(end), or \(state.keysOrName(.recordAdd)) adds a child"
    }
    do throws(Refusal) {
      _ = try state.database.resources.setting(leaf.json, at: path)
      return Typing.reasonTooLong(state, FieldKind.text(of: leaf.json))
    } catch {
      return error.message
    }
  }
}
