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
    /// What the field held when the edit began.
    let original: Leaf

    init(_ field: Path, _ leaf: Leaf) {
      self.field = field
      kind = FieldKind(leaf.json)
      editor = LineEditor(FieldKind.text(of: leaf.json))
      original = leaf
    }

    /// True if nothing was typed, or it was taken back.
    var isUntouched: Bool {
      kind == FieldKind(original.json) && editor.text == FieldKind.text(of: original.json)
    }
  }

  /// What happens as soon as the record is there.
  enum Start: Hashable, Sendable {
    /// A field is edited, if there is one at this path.
    case field(Path)
    /// An edit goes on.
    case edit(Edit)
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
  /// What the header says.
  var headings: [String: ListHeading] = [:]
  var list = ListState()
  var edit: Edit?
  private var start: Start?

  init(path: Path, viewName: String, start: Start? = nil) {
    self.path = path
    self.viewName = viewName
    self.start = start
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
    keepEditedField(&ids)
    let old = content
    let count = ids.count
    content = ListContent(sections: [
      ListSection(
        id: RecordScreen.section, rows: ids, emptyText: "this record is gone · Esc goes back")
    ])
    headings = [
      RecordScreen.section: ListHeading(
        title: StyledLine(path.description, .sectionHeader),
        detail: StyledLine(count == 1 ? "1 field" : "\(count) fields", .muted))
    ]
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

  /// A field that is being edited stays, with what was typed, whatever others do to it.
  private mutating func keepEditedField(_ ids: inout [String]) {
    guard let edit else { return }
    let id = edit.field.description
    if let leaf = fields[id]?.leaf {
      if leaf != edit.original { self.edit?.error = "changed elsewhere to \(leaf.json.jsonText())" }
    } else {
      fields[id] = (edit.field, edit.original)
      ids.append(id)
      self.edit?.error = "deleted elsewhere: Enter writes it again"
    }
  }
}

// MARK: Editing

extension RecordScreen {
  /// Does what is to be done once the record is there.
  mutating func begin(height: Int) {
    guard let start else { return }
    self.start = nil
    self.start(start, height: height)
  }

  /// Starts to edit, or goes on with it.
  mutating func start(_ start: Start, height: Int) {
    switch start {
    case .field(let field):
      guard let leaf = fields[field.description]?.leaf else { return }
      edit = Edit(field, leaf)
    case .edit(let edit):
      self.edit = edit
      // The field may be gone; it is shown all the same.
      if let node { show(node, height: height) }
      self.edit?.error = edit.error
    }
    guard let field = edit?.field else { return }
    list.moveTo(.row(field.description), in: content, height: height)
  }

  /// Ends the edit; a field that is only there for it goes.
  mutating func endEdit(height: Int) {
    edit = nil
    if let node { show(node, height: height) }
  }

  /// True if a value is to be written for the edited field: the user changed it, or it is gone.
  func needsWrite(_ value: JSONValue) -> Bool {
    guard let edit, let node else { return false }
    let present = node[edit.field]
    if present.leaf == nil { return true }
    return !edit.isUntouched && present.json != value
  }
}
