import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Why an action cannot be done in the tree.

extension AppState {
  func reasonOffInTree(_ action: ActionID) -> String? {
    if let reason = reasonNoBranches(action) ?? reasonNotMarked(action) { return reason }
    if tree.markCount > 0, AppState.ofMarked.contains(action) {
      return reason(readOnlyFor: action) ?? reasonNotCopied(action)
    }
    switch tree.cursorLine {
    case .node(let path, let row, _)?:
      return reason(readOnlyFor: action) ?? reasonOffAtNode(action, path, row)
    case .paging(let path, _, _)?, .failed(let path, _, _)?:
      return reasonNoNode(action) ?? reasonOffBeside(action, path)
    case nil: return reasonNoNode(action) ?? reasonOffAtRoot(action)
    }
  }

  /// What is done with all marked nodes, if there are any.
  private static let ofMarked: Set<ActionID> = [
    .recordDelete, .copyKey, .copyPath, .copyLine, .copyString, .copyValue,
  ]

  /// Why many nodes are not expanded or collapsed; nil if they are, or the action is none of that.
  private func reasonNoBranches(_ action: ActionID) -> String? {
    switch action {
    case .foldOpenAll:
      let plan = expansion
      if !plan.opened.isEmpty { return nil }
      return plan.closedCount == 0
        ? "everything is expanded" : "\(plan.closedCount) more nodes would be over 1,000 lines"
    case .foldCloseAll:
      return tree.expanded.keys.contains { !$0.isRoot } ? nil : "nothing is expanded"
    default: return nil
    }
  }

  /// Why nothing is done that takes a node; nil if the action takes none.
  private func reasonNoNode(_ action: ActionID) -> String? {
    switch action {
    case .recordEditExternal: return "move to a record to edit it"
    case .recordEdit, .recordDelete, .recordForm, .recordToggle:
      return "move to a node to change it"
    case .copyKey, .copyPath, .copyLine, .copyString, .copyValue: return "move to a node to copy it"
    default: return reason(readOnlyFor: action)
    }
  }

  private func reasonOffAtNode(_ action: ActionID, _ path: Path, _ row: TreeRow) -> String? {
    switch action {
    case .recordEdit: return reasonNotEdited(path, row)
    case .recordEditExternal: return reasonNotEditable(path)
    case .recordForm: return reasonNoForm
    case .recordToggle: return toggledAtHand == nil ? "nothing is toggled here" : nil
    case .copyKey, .copyPath, .copyLine, .copyString, .copyValue: return reasonNotCopied(action)
    case .rowOpen:
      if case .leaf = row.summary.kind { return reasonReadOnly ?? reasonNotEdited(path, row) }
      return nil
    case .rowIn, .foldToggle, .foldOpen: return reasonNotExpanded(action, path, row)
    case .sectionMore:
      return reasonNoMoreChildren(of: tree.expanded[path] == nil ? path.parent ?? .root : path)
    default: return nil
    }
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

  private func reasonNotExpanded(
    _ action: ActionID, _ path: Path, _ row: TreeRow
  ) -> String? {
    guard case .children = row.summary.kind else {
      return phrase("this is a value: there is nothing below it", .recordEdit, "edits it")
    }
    switch action {
    case .foldOpen: return tree.expanded[path] == nil ? nil : "it is expanded"
    case .rowIn:
      return tree.expanded[path] == nil || !isLastLine(path) ? nil : "its children are being read"
    default: return nil
    }
  }

  /// True if nothing stands below a node in the tree, not even what stands for its children.
  private func isLastLine(_ path: Path) -> Bool { tree.firstLine(below: path) == nil }

  /// On a line that stands for children of a node which are not there.
  private func reasonOffBeside(_ action: ActionID, _ path: Path) -> String? {
    let isFailed = if case .failed? = tree.expanded[path]?.phase { true } else { false }
    switch action {
    case .rowOpen, .sectionMore: return isFailed ? nil : reasonNoMoreChildren(of: path)
    case .rowIn, .foldOpen, .foldToggle:
      return isFailed
        ? phrase("they could not be read", .rowOpen, "tries again")
        : phrase("these children are not loaded", .rowOpen, "fetches them")
    default: return nil
    }
  }

  private func reasonOffAtRoot(_ action: ActionID) -> String? {
    let isFolded = tree.list.folded.contains(TreeScreen.section)
    switch action {
    case .foldOpen: return isFolded ? nil : "it is expanded"
    case .foldClose, .rowOut: return isFolded ? "it is folded" : nil
    case .rowIn:
      return isFolded || tree.content.firstRow(ofSection: TreeScreen.section) != nil
        ? nil : "there is nothing in it"
    case .sectionMore: return reasonNoMoreChildren(of: .root)
    default: return nil
    }
  }

  private func reasonNoMoreChildren(of path: Path) -> String? {
    guard let children = tree.expanded[path], children.phase == .loaded else {
      return "the children of \(path) are being read"
    }
    switch children.paging {
    case .more, .failed: return nil
    case .fetching: return "more children of \(path) are being read"
    case .exhausted: return "all children of \(path) are loaded"
    }
  }
}
