import RunnelBase
import RunnelTerminal
import RunnelTree

// What the user does in the tree.

extension AppState {
  mutating func performInTree(_ action: ActionID) {
    switch (action, tree.cursorLine) {
    case (.recordAdd, let line): addChild(near: line)
    case (.rowOpen, .node(let path, let row, _)?): toggle(path, row, editsLeaf: true)
    case (.rowOpen, .paging(let path, _, _)?), (.sectionMore, .paging(let path, _, _)?):
      fetchMoreChildren(of: path)
    case (.rowOpen, .failed(let path, _, _)?): effects.append(.expand(path))
    case (.sectionMore, .node(let path, _, _)?):
      fetchMoreChildren(of: tree.expanded[path] == nil ? path.parent ?? .root : path)
    case (.rowIn, .node(let path, let row, _)?):
      if tree.expanded[path] == nil { toggle(path, row, editsLeaf: false) }
    case (.rowOut, .node(let path, _, _)?): goOut(of: path)
    case (.rowOut, .paging(let path, _, _)?), (.rowOut, .failed(let path, _, _)?): goTo(path)
    case (.recordEdit, .node(let path, let row, _)?): edit(path, row)
    case (.recordDelete, .node(let path, let row, _)?): confirmRemoval(of: path, row.summary)
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

  private mutating func goTo(_ path: Path) {
    let item: ListItem = path.isRoot ? .header("/") : .row(path.description)
    _ = tree.list.moveTo(item, in: tree.content, height: height)
  }

  private mutating func fetchMoreChildren(of path: Path) {
    guard var children = tree.expanded[path] else { return }
    switch children.paging {
    case .more, .failed:
      children.paging = .fetching
      tree.expanded[path] = children
      tree.rebuild(height: height)
      effects.append(.fetchMoreChildren(path))
    case .fetching: break
    case .exhausted: say(.info, "all children of \(path) are loaded")
    }
  }

  private mutating func edit(_ path: Path, _ row: TreeRow) {
    guard case .leaf(let leaf) = row.summary.kind else {
      return say(.info, "expand it to edit a value in it, or a adds a child")
    }
    let kind = FieldKind(leaf.json)
    let field = FormScreen.Field("value", kind: kind, text: FieldKind.text(of: leaf.json))
    layers.append(
      .form(FormScreen(purpose: .setLeaf(path), title: "Edit \(path)", fields: [field])))
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
    if isReadOnly { return say(.warning, "this database is open read-only") }
    layers.append(
      .form(
        FormScreen(
          purpose: .addChild(path), title: "Add to \(path)",
          fields: [
            FormScreen.Field("name", kind: .string), FormScreen.Field("value", kind: .json),
          ])))
  }
}
