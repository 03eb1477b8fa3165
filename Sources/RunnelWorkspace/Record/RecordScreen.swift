package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// One record, field by field, live.
package struct RecordScreen: Hashable, Sendable {
  /// A field that is being edited in its place.
  package struct Edit: Hashable, Sendable {
    /// The field, relative to the record; the root for the record itself.
    package var field: Path
    package var input: FieldInput
    /// What the field held when the edit began; nil if nothing.
    let original: Leaf?
    private let untouched: FieldInput

    init(_ field: Path, _ input: FieldInput, original: Leaf?) {
      self.field = field
      self.input = input
      self.original = original
      untouched = input
    }

    /// True if nothing was typed, or it was taken back.
    var isUntouched: Bool {
      input.kind == untouched.kind && input.editor.text == untouched.editor.text
    }
  }

  /// A field of the record.
  package struct Field: Hashable, Sendable {
    /// Where it is, relative to the record; the root for the record itself.
    package var path: Path
    /// What it holds; nil for one that the schema knows and the record has not.
    package var leaf: Leaf?
    /// The rule that a resource has for it.
    var rule: FieldRule?
    /// The number of its children, if it is an object that is opened by itself.
    package var childCount: Int?

    /// What stands there; nil if nothing does.
    package var kind: NodeSummary.Kind? {
      leaf.map { .leaf($0) } ?? childCount.map { .children(count: $0) }
    }
  }

  /// An object in a record with more values than this is opened by itself.
  private static let valuesMax = 12

  /// What happens as soon as the record is there.
  package enum Start: Hashable, Sendable {
    /// A field is edited, if there is one at this path.
    case field(Path)
    /// An edit goes on.
    case edit(Edit)
    /// All fields are edited in a form.
    case form
  }

  /// The id of the only section.
  package static let section = "fields"

  package let path: Path
  /// The name of the view it was opened from.
  let viewName: String
  /// The resource that the record is one of; nil if none describes it.
  package let resource: ResourceDefinition?
  /// The record; nil until it is read.
  package var node: RunnelTree.Node?
  /// The record as it was last there; nil if it never was.
  private(set) var lastNode: RunnelTree.Node?
  /// The fields by row id.
  package var fields: [String: Field] = [:]
  package var content = ListContent()
  /// The heading of the section.
  var headings: [String: ListHeading] = [:]
  package var list = ListState()
  package var edit: Edit?
  /// The value that is read in full; nil if the fields are shown.
  package var reading: Reading?
  package private(set) var start: Start?

  init(path: Path, viewName: String, resource: ResourceDefinition? = nil, start: Start? = nil) {
    self.path = path
    self.viewName = viewName
    self.resource = resource
    self.start = start
  }

  /// The field under the cursor; nil on the header.
  var cursorField: Field? {
    guard case .row(let id)? = list.cursor else { return nil }
    return fields[id]
  }

  /// Takes the record's content over.
  package mutating func show(_ new: RunnelTree.Node, height: Int) {
    node = new
    if !new.isEmpty { lastNode = new }
    fields = [:]
    var ids: [String] = []
    append(new, at: .root, to: &ids)
    let count = ids.count
    appendMissingFields(of: new, to: &ids)
    keepEditedField(&ids)
    let old = content
    content = ListContent(sections: [
      ListSection(
        id: RecordScreen.section, rows: ids, emptyText: "this record is gone")
    ])
    headings = [
      RecordScreen.section: ListHeading(
        title: StyledLine(path.description, .sectionHeader),
        detail: StyledLine(count == 1 ? "1 field" : "\(count) fields", .muted))
    ]
    let update = SectionedDiff.update(
      from: old.sections.map { SectionIDs($0) },
      to: content.sections.map { SectionIDs($0) })
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
      fields[id] = Field(path: path, leaf: leaf, rule: rule(of: path))
      ids.append(id)
    case .children(let children):
      if !path.isRoot, node.hasMoreValues(than: RecordScreen.valuesMax) {
        fields[path.description] = Field(path: path, childCount: children.count)
        ids.append(path.description)
        return
      }
      for child in children {
        append(child.node, at: Path(unchecked: path.keys + [child.key]), to: &ids)
      }
    }
  }

  private func rule(of path: Path) -> FieldRule? {
    guard path.keys.count == 1, let key = path.keys.first else { return nil }
    return resource?.schema.rule(of: key)
  }

  /// The fields that the schema knows and the record has not: they are there to be filled in.
  private mutating func appendMissingFields(of node: RunnelTree.Node, to ids: inout [String]) {
    guard let resource, !node.isEmpty, node.leaf == nil else { return }
    for rule in resource.schema.fields where node[rule.field].isEmpty {
      if case .object = rule.kind { continue }
      let path = Path(unchecked: [rule.field])
      fields[path.description] = Field(path: path, leaf: nil, rule: rule)
      ids.append(path.description)
    }
  }

  /// A field that is being edited stays, with what was typed, whatever others do to it.
  private mutating func keepEditedField(_ ids: inout [String]) {
    guard let edit else { return }
    let id = edit.field.description
    if let leaf = fields[id]?.leaf {
      if leaf != edit.original {
        self.edit?.input.error = "changed elsewhere to \(leaf.json.jsonText())"
      }
    } else if let original = edit.original {
      if fields[id] == nil { ids.append(id) }
      fields[id] = Field(path: edit.field, leaf: original, rule: edit.input.rule)
      self.edit?.input.error =
        node?.isEmpty == true
        ? "the record was deleted elsewhere: saving writes all of it again"
        : "deleted elsewhere: saving writes it again"
    } else if fields[id] == nil {
      fields[id] = Field(path: edit.field, leaf: nil, rule: edit.input.rule)
      ids.append(id)
    }
  }
}

extension RunnelTree.Node {
  /// True if there are more values in it than a number.
  ///
  /// O(that number).
  fileprivate func hasMoreValues(than count: Int) -> Bool {
    var left = count
    return !takeValues(&left)
  }

  private func takeValues(_ left: inout Int) -> Bool {
    switch content {
    case .empty: return true
    case .leaf:
      left -= 1
      return left >= 0
    case .children(let children):
      for child in children where !child.node.takeValues(&left) { return false }
      return true
    }
  }
}

// MARK: Editing

extension RecordScreen {
  /// Does what is to be done once the record is there; true if that is to open the form.
  package mutating func begin(height: Int) -> Bool {
    guard let start else { return false }
    self.start = nil
    if start == .form { return true }
    self.start(start, height: height)
    return false
  }

  /// Starts to edit, or goes on with it.
  package mutating func start(_ start: Start, height: Int) {
    switch start {
    case .field(let field):
      guard let present = fields[field.description] else { return }
      let json = present.leaf?.json ?? .null
      if LineEditor.isTooLong(FieldKind.text(of: json)) {
        list.moveTo(.row(field.description), in: content, height: height)
        return
      }
      edit = Edit(field, FieldInput(rule: present.rule, json), original: present.leaf)
    case .edit(let edit):
      self.edit = edit
      // The field may be gone; it is shown all the same.
      if let node { show(node, height: height) }
      self.edit?.input.error = edit.input.error
    case .form: return
    }
    guard let field = edit?.field else { return }
    list.moveTo(.row(field.description), in: content, height: height)
  }

  /// Ends the edit; a field that is only there for it goes.
  mutating func endEdit(height: Int) {
    edit = nil
    if let node { show(node, height: height) }
  }

  /// The whole record with a value for the edited field, if the record was deleted while that was edited.
  func restored(with value: JSONValue) -> JSONValue? {
    guard let edit, node?.isEmpty == true, let whole = lastNode, let new = try? Node(json: value)
    else { return nil }
    return whole.replacing(edit.field, with: new).exportJSON
  }

  /// True if a value is to be written for the edited field: the user changed it, or it is gone.
  func needsWrite(_ value: JSONValue) -> Bool {
    guard let edit, let node else { return false }
    let present = node[edit.field]
    if present.leaf == nil { return true }
    return !edit.isUntouched && present.json != value
  }
}
