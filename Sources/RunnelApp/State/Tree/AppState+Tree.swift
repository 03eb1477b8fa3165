import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does in the tree.

extension AppState {
  // MARK: Opening

  /// Expands or collapses the node under the cursor, edits a value, or fetches what is not there.
  mutating func openLine() {
    switch tree.cursorLine {
    case .node(let path, let row, _)?: toggle(path, row, editsLeaf: true)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: fetch(below: path)
    case nil: toggleTree()
    }
  }

  mutating func toggleLine() {
    switch tree.cursorLine {
    case .node(let path, let row, _)?: toggle(path, row, editsLeaf: false)
    case .paging?, .failed?: break
    case nil: toggleTree()
    }
  }

  mutating func goIntoLine() {
    switch tree.cursorLine {
    case .node(let path, _, _)? where tree.expanded[path] != nil:
      if let line = tree.firstLine(below: path) {
        _ = tree.list.moveTo(.row(line), in: tree.content, height: height)
      }
    case nil where !tree.list.folded.contains(TreeScreen.section):
      tree.list.move(by: 1, in: tree.content, height: height)
    default: expandLine()
    }
  }

  mutating func expandLine() {
    switch tree.cursorLine {
    case .node(let path, let row, _)?: toggle(path, row, editsLeaf: false)
    case .paging?, .failed?: break
    case nil: tree.list.unfold(TreeScreen.section, in: tree.content, height: height)
    }
  }

  mutating func goOutOfLine() {
    switch tree.cursorLine {
    case .node(let path, _, _)?: goOut(of: path)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: goTo(path)
    case nil: foldTree()
    }
  }

  mutating func collapseLine() {
    switch tree.cursorLine {
    case .node(let path, _, _)?, .paging(let path, _, _)?, .failed(let path, _, _)?:
      collapseAround(path)
    case nil: foldTree()
    }
  }

  private mutating func toggleTree() {
    tree.list.toggleFold(TreeScreen.section, in: tree.content, height: height)
  }

  private mutating func foldTree() {
    tree.list.fold(TreeScreen.section, in: tree.content, height: height)
  }

  // MARK: Fetching

  /// Fetches the next page of the node under the cursor, or of the one that it is in.
  mutating func fetchMoreLines() {
    switch tree.cursorLine {
    case .node(let path, _, _)?:
      fetchMoreChildren(of: tree.expanded[path] == nil ? path.parent ?? .root : path)
    case .paging(let path, _, _)?, .failed(let path, _, _)?: fetch(below: path)
    case nil: fetchMoreChildren(of: .root)
    }
  }

  /// On a line that stands for children of a node which are not there.
  private mutating func fetch(below path: Path) {
    if case .failed? = tree.expanded[path]?.phase {
      effects.append(.expand(path))
    } else {
      fetchMoreChildren(of: path)
    }
  }

  // MARK: Writing

  mutating func editNode() {
    guard case .node(let path, let row, _)? = tree.cursorLine else { return }
    edit(path, row)
  }

  mutating func deleteNodes() {
    if tree.markCount > 0 { return deleteMarkedNodes() }
    guard case .node(let path, let row, _)? = tree.cursorLine else { return }
    confirmRemoval(of: path, row.summary)
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
      foldTree()
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
    tree.beginFetching(path, height: height)
    effects.append(.fetchMoreChildren(path))
  }

  private mutating func edit(_ path: Path, _ row: TreeRow) {
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
  mutating func addChild() {
    let path: Path
    switch tree.cursorLine {
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
