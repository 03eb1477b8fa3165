import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does in the tree.

extension AppState {
  mutating func performInTree(_ action: ActionID) {
    if action == .recordAdd { return addChild(near: tree.cursorLine) }
    if performWithBranches(action) { return }
    if action == .recordDelete, tree.markCount > 0 { return deleteMarkedNodes() }
    switch tree.cursorLine {
    case .node(let path, let row, _)?: perform(action, on: path, row)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: perform(action, below: path)
    case nil: performOnTreeHeader(action)
    }
  }

  private mutating func perform(_ action: ActionID, on path: Path, _ row: TreeRow) {
    switch action {
    case .rowOpen: toggle(path, row, editsLeaf: true)
    case .foldToggle: toggle(path, row, editsLeaf: false)
    case .rowIn where tree.expanded[path] != nil:
      if let line = tree.firstLine(below: path) {
        _ = tree.list.moveTo(.row(line), in: tree.content, height: height)
      }
    case .rowIn, .foldOpen: toggle(path, row, editsLeaf: false)
    case .rowOut: goOut(of: path)
    case .foldClose: collapseAround(path)
    case .recordEdit: edit(path, row)
    case .recordDelete: confirmRemoval(of: path, row.summary)
    case .recordForm: openForm()
    case .recordToggle: toggle()
    case .sectionMore:
      fetchMoreChildren(of: tree.expanded[path] == nil ? path.parent ?? .root : path)
    default: break
    }
  }

  /// On a line that stands for children of a node which are not there.
  private mutating func perform(_ action: ActionID, below path: Path) {
    switch action {
    case .rowOpen, .sectionMore:
      if case .failed? = tree.expanded[path]?.phase {
        effects.append(.expand(path))
      } else {
        fetchMoreChildren(of: path)
      }
    case .rowOut: goTo(path)
    case .foldClose: collapseAround(path)
    default: break
    }
  }

  private mutating func performOnTreeHeader(_ action: ActionID) {
    switch action {
    case .rowOpen, .foldToggle:
      tree.list.toggleFold(TreeScreen.section, in: tree.content, height: height)
    case .rowIn where !tree.list.folded.contains(TreeScreen.section):
      tree.list.move(by: 1, in: tree.content, height: height)
    case .rowIn, .foldOpen: tree.list.unfold(TreeScreen.section, in: tree.content, height: height)
    case .rowOut, .foldClose:
      tree.list.fold(TreeScreen.section, in: tree.content, height: height)
    case .sectionMore: fetchMoreChildren(of: .root)
    default: break
    }
  }

  private mutating func toggle(_ path: Path, _ row: TreeRow, editsLeaf: Bool) {
    switch row.summary.kind {
    case .children:
      if tree.expanded[path] == nil {
        effects.append(.expand(path))
      } else {
        collapse(path)
      }
    case .leaf: if editsLeaf { edit(path, row) }
    case .empty: break
    }
  }

  private mutating func collapse(_ path: Path) {
    for place in tree.collapse(path) { effects.append(.collapse(place)) }
    tree.rebuild(height: height)
  }

  private mutating func goOut(of path: Path) {
    if tree.expanded[path] != nil { collapse(path) } else { goTo(path.parent ?? .root) }
  }

  /// Collapses a node, or if it is not expanded the one that it is in.
  private mutating func collapseAround(_ path: Path) {
    var path = path
    while tree.expanded[path] == nil, let parent = path.parent { path = parent }
    if path.isRoot {
      tree.list.fold(TreeScreen.section, in: tree.content, height: height)
    } else {
      goTo(path)
      collapse(path)
    }
  }

  private mutating func goTo(_ path: Path) {
    let item: ListItem = path.isRoot ? .header(TreeScreen.section) : .row(path.description)
    _ = tree.list.moveTo(item, in: tree.content, height: height)
  }

  private mutating func fetchMoreChildren(of path: Path) {
    tree.expanded[path]?.paging = .fetching
    tree.rebuild(height: height)
    effects.append(.fetchMoreChildren(path))
  }

  private mutating func edit(_ path: Path, _ row: TreeRow) {
    // Enter on a value asks for this, too.
    if refuses(.recordEdit) { return }
    guard case .leaf(let leaf) = row.summary.kind else { return }
    let field = FormScreen.Field("value", input(for: leaf, at: path))
    layers.append(
      .form(
        FormScreen(
          purpose: .setLeaf(path, original: leaf.json), title: "Edit \(path)", fields: [field])))
    readChoices(of: [field.input])
  }

  /// The input of a value: typed where a resource has a rule for it.
  private func input(for leaf: Leaf, at path: Path) -> FieldInput {
    if case .record(_, let field) = resources.registry.place(of: path), field.keys.count == 1,
      let key = field.keys.first, let definition = resources.record(at: path)?.definition,
      let rule = definition.schema.rule(of: key)
    {
      return resources.input(of: rule, in: definition, value: leaf.json)
    }
    return FieldInput(kind: FieldKind(leaf.json), text: FieldKind.text(of: leaf.json))
  }

  /// A child goes into the node under the cursor, or beside the value under it.
  private mutating func addChild(near line: TreeScreen.Line?) {
    let path: Path
    switch line {
    case .node(let place, let row, _):
      if case .children = row.summary.kind { path = place } else { path = place.parent ?? .root }
    case .paging(let place, _, _), .failed(let place, _, _): path = place
    case nil: path = .root
    }
    if refusesWriting() { return }
    if openFormForNewRecord(in: path) { return }
    layers.append(
      .form(
        FormScreen(
          purpose: .addChild(path), title: "Add to \(path)", fields: FormScreen.nameAndValue)))
  }
}
