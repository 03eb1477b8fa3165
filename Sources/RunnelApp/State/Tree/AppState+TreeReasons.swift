import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reasons why commands of the tree are disabled.

extension AppState {
  // MARK: Opening

  var reasonLineNotOpened: String? {
    switch tree.cursorLine {
    case .node(let path, let row, _)?:
      guard case .leaf = row.summary.kind else { return nil }
      return reasonReadOnly ?? reasonNotEdited(path, row)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: return reasonNotFetched(below: path)
    case nil: return nil
    }
  }

  var reasonNotIntoLine: String? {
    switch tree.cursorLine {
    case .node(let path, let row, _)?:
      if let reason = reasonIsValue(row) { return reason }
      return tree.expanded[path] == nil || !isLastLine(path) ? nil : "its children are being read"
    case .paging(let path, _, _)?, .failed(let path, _, _)?: return reasonNotThere(below: path)
    case nil:
      return isTreeFolded || tree.content.firstRow(ofSection: TreeScreen.section) != nil
        ? nil : "there is nothing in it"
    }
  }

  var reasonLineNotToggled: String? {
    switch tree.cursorLine {
    case .node(_, let row, _)?: return reasonIsValue(row)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: return reasonNotThere(below: path)
    case nil: return nil
    }
  }

  var reasonLineNotExpanded: String? {
    switch tree.cursorLine {
    case .node(let path, let row, _)?:
      return reasonIsValue(row) ?? (tree.expanded[path] == nil ? nil : "it is expanded")
    case .paging(let path, _, _)?, .failed(let path, _, _)?: return reasonNotThere(below: path)
    case nil: return isTreeFolded ? nil : "it is expanded"
    }
  }

  /// The reason why the tree is not folded; nil on a line, where a node is collapsed.
  var reasonTreeFolded: String? {
    tree.cursorLine == nil && isTreeFolded ? "it is folded" : nil
  }

  var reasonNoneExpanded: String? {
    let plan = expansion
    if !plan.opened.isEmpty { return nil }
    return plan.closedCount == 0
      ? "everything is expanded" : "\(plan.closedCount) more nodes would be over 1,000 lines"
  }

  var reasonNoneCollapsed: String? {
    tree.expanded.keys.contains { !$0.isRoot } ? nil : "nothing is expanded"
  }

  private var isTreeFolded: Bool { tree.list.folded.contains(TreeScreen.section) }

  private func reasonIsValue(_ row: TreeRow) -> String? {
    if case .children = row.summary.kind { return nil }
    return phrase("this is a value: there is nothing below it", .recordEdit, "edits it")
  }

  /// True if nothing stands below a node in the tree, not even what stands for its children.
  private func isLastLine(_ path: Path) -> Bool { tree.firstLine(below: path) == nil }

  // MARK: Fetching

  var reasonNoMoreLines: String? {
    switch tree.cursorLine {
    case .node(let path, _, _)?:
      return reasonNoMoreChildren(of: tree.expanded[path] == nil ? path.parent ?? .root : path)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: return reasonNotFetched(below: path)
    case nil: return reasonNoMoreChildren(of: .root)
    }
  }

  private func reasonNotFetched(below path: Path) -> String? {
    isFailed(path) ? nil : reasonNoMoreChildren(of: path)
  }

  private func reasonNotThere(below path: Path) -> String? {
    isFailed(path)
      ? phrase("they could not be read", .rowOpen, "tries again")
      : phrase("these children are not loaded", .rowOpen, "fetches them")
  }

  private func isFailed(_ path: Path) -> Bool {
    if case .failed? = tree.expanded[path]?.phase { true } else { false }
  }

  private func reasonNoMoreChildren(of path: Path) -> String? {
    guard let children = tree.expanded[path], children.phase == .loaded else {
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

  var reasonNoNodeEdited: String? {
    guard case .node(let path, let row, _)? = tree.cursorLine else { return AppState.noNode }
    return reasonReadOnly ?? reasonNotEdited(path, row)
  }

  var reasonNoNodeDeleted: String? {
    if tree.markCount > 0 { return reasonReadOnly }
    guard case .node? = tree.cursorLine else { return AppState.noNode }
    return reasonReadOnly
  }

  private func reasonNotEdited(_ path: Path, _ row: TreeRow) -> String? {
    guard case .leaf(let leaf) = row.summary.kind else {
      return "expand it to edit a value in it, or \(keysOrName(.recordAdd)) adds a child"
    }
    do throws(Refusal) {
      _ = try resources.setting(leaf.json, at: path)
      return reasonTooLong(FieldKind.text(of: leaf.json))
    } catch {
      return error.message
    }
  }
}
