import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// One record, field by field, live.
struct RecordScreen: Sendable {
  /// A field that is being edited in its place.
  struct Edit: Hashable, Sendable {
    /// The field, relative to the record; the root for the record itself.
    var field: Path
    var kind: FieldKind
    var editor: LineEditor
    var error: String?
  }

  /// The id of the only section.
  static let section = "fields"

  let path: Path
  /// The name of the view it was opened from.
  let viewName: String
  /// The record; nil until it is read.
  var node: RunnelTree.Node?
  /// The fields by row id.
  var fields: [String: (path: Path, leaf: Leaf)] = [:]
  var content = ListContent()
  var list = ListState()
  var edit: Edit?
  /// A field to edit as soon as the record is there.
  var editsFirst: Path?

  init(path: Path, viewName: String, editsFirst: Path? = nil) {
    self.path = path
    self.viewName = viewName
    self.editsFirst = editsFirst
  }

  /// The field under the cursor; nil on the header.
  var cursorField: (path: Path, leaf: Leaf)? {
    guard case .row(let id)? = list.cursor else { return nil }
    return fields[id]
  }

  /// Takes the record's content over.
  mutating func show(_ new: RunnelTree.Node, height: Int) {
    node = new
    fields = [:]
    var ids: [String] = []
    append(new, at: .root, to: &ids)
    let old = content
    let count = ids.count
    content = ListContent(sections: [
      ListSection(
        id: RecordScreen.section, title: StyledLine(path.description, .sectionHeader),
        detail: StyledLine(count == 1 ? "1 field" : "\(count) fields", .muted), rows: ids,
        emptyText: "this record is gone · Esc goes back")
    ])
    let update = SectionedDiff.update(
      from: old.sections.map { KeyedSection(id: $0.id, keys: $0.rows) },
      to: content.sections.map { KeyedSection(id: $0.id, keys: $0.rows) })
    list.apply(update, from: old, to: content, height: height)
    if old.sections.isEmpty, let first = ids.first {
      _ = list.moveTo(.row(first), in: content, height: height)
    }
  }

  private mutating func append(
    _ node: RunnelTree.Node, at path: Path, to ids: inout [String]
  ) {
    switch node.content {
    case .empty: break
    case .leaf(let leaf):
      let id = path.description
      fields[id] = (path, leaf)
      ids.append(id)
    case .children(let children):
      for child in children {
        append(child.node, at: Path(unchecked: path.keys + [child.key]), to: &ids)
      }
    }
  }

  /// Starts to edit a field in its place.
  mutating func startEdit(_ field: Path, _ leaf: Leaf) {
    edit = Edit(
      field: field, kind: FieldKind(leaf.json), editor: LineEditor(FieldKind.text(of: leaf.json)))
  }
}
