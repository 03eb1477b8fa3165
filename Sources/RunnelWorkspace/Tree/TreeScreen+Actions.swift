import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The actions of the tree.

extension TreeScreen {
  // MARK: Opening

  /// Expands or collapses the node under the cursor, edits a value, or fetches more children.
  static func openLine(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, let row, _)?: toggle(&state, path, row, editsLeaf: true)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: fetch(&state, below: path)
    case nil: toggleTree(&state)
    }
  }

  static func toggleLine(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, let row, _)?: toggle(&state, path, row, editsLeaf: false)
    case .paging?, .failed?: break
    case nil: toggleTree(&state)
    }
  }

  static func goIntoLine(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)? where state.tabs.tree.expanded[path] != nil:
      if let line = state.tabs.tree.firstLine(below: path) {
        _ = state.tabs.tree.list.moveTo(
          .row(line), in: state.tabs.tree.content, height: state.height)
      }
    case nil where !state.tabs.tree.list.folded.contains(TreeScreen.section):
      state.tabs.tree.list.move(by: 1, in: state.tabs.tree.content, height: state.height)
    default: expandLine(&state)
    }
  }

  static func expandLine(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, let row, _)?: toggle(&state, path, row, editsLeaf: false)
    case .paging?, .failed?: break
    case nil:
      state.tabs.tree.list.unfold(
        TreeScreen.section, in: state.tabs.tree.content, height: state.height)
    }
  }

  static func goOutOfLine(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)?: goOut(&state, of: path)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: goTo(&state, path)
    case nil: foldTree(&state)
    }
  }

  static func collapseLine(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)?, .paging(let path, _, _)?, .failed(let path, _, _)?:
      collapseAround(&state, path)
    case nil: foldTree(&state)
    }
  }

  private static func toggleTree(_ state: inout AppState) {
    state.tabs.tree.list.toggleFold(
      TreeScreen.section, in: state.tabs.tree.content, height: state.height)
  }

  private static func foldTree(_ state: inout AppState) {
    state.tabs.tree.list.fold(TreeScreen.section, in: state.tabs.tree.content, height: state.height)
  }

  // MARK: Fetching

  /// Fetches the next children of the node under the cursor, or of its parent if it is not
  /// expanded.
  static func fetchMoreLines(_ state: inout AppState) {
    switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)?:
      fetchMoreChildren(
        &state, of: state.tabs.tree.expanded[path] == nil ? path.parent ?? .root : path)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: fetch(&state, below: path)
    case nil: fetchMoreChildren(&state, of: .root)
    }
  }

  /// Fetches the missing children of a node, from the line that stands for them.
  private static func fetch(_ state: inout AppState, below path: Path) {
    if case .failed? = state.tabs.tree.expanded[path]?.phase {
      state.effects.append(.expand(path))
    } else {
      fetchMoreChildren(&state, of: path)
    }
  }

  // MARK: Writing

  static func editNode(_ state: inout AppState) {
    guard case .node(let path, let row, _)? = state.tabs.tree.cursorLine else { return }
    edit(&state, path, row)
  }

  static func deleteNodes(_ state: inout AppState) {
    if state.tabs.tree.markCount > 0 { return Deleting.deleteMarkedNodes(&state) }
    guard case .node(let path, let row, _)? = state.tabs.tree.cursorLine else { return }
    Deleting.confirmRemoval(&state, of: path, row.summary)
  }

  private static func toggle(_ state: inout AppState, _ path: Path, _ row: TreeRow, editsLeaf: Bool)
  {
    switch row.summary.kind {
    case .children:
      if state.tabs.tree.expanded[path] == nil {
        state.effects.append(.expand(path))
      } else {
        collapse(&state, path)
      }
    case .leaf: if editsLeaf { edit(&state, path, row) }
    case .empty: break
    }
  }

  private static func collapse(_ state: inout AppState, _ path: Path) {
    for place in state.tabs.tree.collapse(path) { state.effects.append(.collapse(place)) }
    state.tabs.tree.rebuild(height: state.height)
  }

  private static func goOut(_ state: inout AppState, of path: Path) {
    if state.tabs.tree.expanded[path] != nil {
      collapse(&state, path)
    } else {
      goTo(&state, path.parent ?? .root)
    }
  }

  /// Collapses a node, or if it is not expanded the nearest expanded one above it.
  private static func collapseAround(_ state: inout AppState, _ path: Path) {
    var path = path
    while state.tabs.tree.expanded[path] == nil, let parent = path.parent { path = parent }
    if path.isRoot {
      foldTree(&state)
    } else {
      goTo(&state, path)
      collapse(&state, path)
    }
  }

  private static func goTo(_ state: inout AppState, _ path: Path) {
    let item: ListItem = path.isRoot ? .header(TreeScreen.section) : .row(path.description)
    _ = state.tabs.tree.list.moveTo(item, in: state.tabs.tree.content, height: state.height)
  }

  private static func fetchMoreChildren(_ state: inout AppState, of path: Path) {
    state.tabs.tree.beginFetching(path, height: state.height)
    state.effects.append(.fetchMoreChildren(path))
  }

  private static func edit(_ state: inout AppState, _ path: Path, _ row: TreeRow) {
    guard case .leaf(let leaf) = row.summary.kind else { return }
    let field = FormScreen.Field("value", input(state, for: leaf, at: path))
    FormScreen.open(
      &state,
      FormScreen(
        purpose: .setLeaf(path, original: leaf.json), title: "Edit \(path.shownPath)",
        fields: [field]))
    ResourceCommands.readChoices(&state)
  }

  /// Returns the input for a value, with the rule of a resource if there is one.
  static func input(_ state: AppState, for leaf: Leaf, at path: Path) -> FieldInput {
    let resources = state.database.resources
    if let known = resources.rule(at: path) {
      return resources.input(of: known.rule, in: known.definition, value: leaf.json)
    }
    return FieldInput(kind: FieldKind(leaf.json), text: FieldKind.text(of: leaf.json))
  }

  /// Opens the form for a new child of the node under the cursor, or of the parent if the cursor is
  /// on a value.
  static func addChild(_ state: inout AppState) {
    let path: Path
    switch state.tabs.tree.cursorLine {
    case .node(let place, let row, _):
      if case .children = row.summary.kind { path = place } else { path = place.parent ?? .root }
    case .paging(let place, _, _), .failed(let place, _, _): path = place
    case nil: path = .root
    }
    if state.refusesWriting() { return }
    if ResourceCommands.openFormForNewRecord(&state, in: path) { return }
    FormScreen.open(
      &state,
      FormScreen(
        purpose: .addChild(path), title: "Add to \(path.shownPath)", fields: FormScreen.nameAndValue
      ))
  }
}
