package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// An open record, shown field by field and kept up to date.
package struct RecordScreen: Hashable, Sendable {
  /// An edit of a field in its place.
  package struct Edit: Hashable, Sendable {
    /// The path of the field below the record; the root for the record itself.
    package var field: Path
    package var input: FieldInput
    /// The value of the field when the text was begun, or nil if it had none.
    private(set) var original: Leaf?
    /// The value of the field when the edit was opened, or nil if it had none.
    private let present: Leaf?
    private let untouched: FieldInput
    /// The record when the edit was opened.
    let record: RunnelTree.Node

    init(
      _ field: Path, _ input: FieldInput, original: Leaf?, in record: RunnelTree.Node
    ) {
      self.field = field
      self.input = input
      self.original = original
      self.record = record
      present = original
      untouched = input
    }

    /// Takes up a draft.
    ///
    /// If the field had another value when that was typed, the write of the edit will be refused, and
    /// compared with what others wrote.
    mutating func resume(_ draft: Draft.Text) {
      if draft.base != input.firstText { original = Leaf(draft.baseValue(as: input.kind)) }
      input.restore(draft, isStored: true)
    }

    /// Puts back the text that the edit was opened with.
    mutating func takeBack() {
      input.takeBack()
      original = present
    }

    /// Whether the text and the kind are as they were at the start.
    var isUntouched: Bool {
      input.kind == untouched.kind && input.editor.text == untouched.editor.text
    }
  }

  /// A field of the record.
  package struct Field: Hashable, Sendable {
    /// The path of the field below the record; the root for the record itself.
    package var path: Path
    /// The value of the field, or nil if it is an object, or known from the schema only.
    package var leaf: Leaf?
    /// The rule of a resource for the field, or nil.
    var rule: FieldRule?
    /// The value of the field if it is null, an array or an empty object of a service; nil for all else.
    var coded: JSONValue?
    /// The number of children of an object that is opened as a record of its own, otherwise nil.
    package var childCount: Int?

    /// The kind of content of the field, or nil if it is empty.
    package var kind: NodeSummary.Kind? {
      leaf.map { .leaf($0) } ?? childCount.map { .children(count: $0) }
        ?? coded.map { .children(count: $0.array?.count ?? 0) }
    }
  }

  /// The greatest number of values of an object that is shown inside the record; a larger object is
  /// opened by itself.
  private static let valuesMax = 12

  /// The action to run as soon as the record is read.
  package enum Start: Hashable, Sendable {
    /// Edit the field at this path. A field that the record lacks is edited as one like that of another
    /// record.
    case field(Path, like: Leaf? = nil)
    /// Continue an edit.
    case edit(Edit)
    /// Edit all fields in a form.
    case form
  }

  /// The id of the section of the fields.
  package static let section = "fields"

  package internal(set) var path: Path
  /// The name of the view from which the record was opened.
  let viewName: String
  /// The resource that describes the record, or nil if none does.
  package let resource: ResourceDefinition?
  /// The order of the fields.
  let order: FieldOrder
  /// How values that a tree does not hold stand in the record.
  let coding: ValueCoding
  /// The record, or nil until it is read.
  package var node: RunnelTree.Node?
  /// The fields by row id.
  package var fields: [String: Field] = [:]
  package var content = ListContent()
  /// What belongs to the record besides its fields, in the order of its rows.
  package var related: [Related] = []
  /// The headings of the sections.
  var headings: [String: ListHeading] = [:]
  package var list = ListState()
  package var edit: Edit?
  /// Whether only a cell of the list below is edited: the list stays visible, and the end of the edit
  /// closes the record.
  var isCell = false
  /// The fields with a draft, which have rows even if the record lacks them.
  var draftFields: Set<Path> = []
  /// The value shown in full, or nil while the fields are shown.
  package var reading: Reading?
  package private(set) var start: Start?
  /// The row that the cursor goes to as soon as the record is read, or nil for the first field.
  var firstRow: String?

  init(
    path: Path, viewName: String, resource: ResourceDefinition? = nil,
    order: FieldOrder = FieldOrder(), coding: ValueCoding = .tree,
    start: Start? = nil
  ) {
    self.coding = coding
    self.path = path
    self.viewName = viewName
    self.resource = resource
    self.order = order
    self.start = start
  }

  /// The field under the cursor, or nil on the header.
  var cursorField: Field? {
    guard case .row(let id)? = list.cursor else { return nil }
    return fields[id]
  }

  /// Takes a new content of the record.
  package mutating func show(_ new: RunnelTree.Node, height: Int) {
    node = new
    fields = [:]
    var ids: [String] = []
    append(new, at: .root, to: &ids)
    ids = order.sorted(ids) { fields[$0]?.path ?? .root }
    let count = ids.count
    appendMissingFields(of: new, to: &ids)
    appendDraftFields(to: &ids)
    keepEditedField(&ids)
    let isFirst = content.sections.isEmpty
    let section = ListSection(
      id: RecordScreen.section, rows: ids, emptyText: "this record is gone")
    let sections = [section] + [relatedListSection].compactMap(\.self)
    headings = [
      RecordScreen.section: ListHeading(
        title: StyledLine(path.shownPath, .sectionHeader),
        detail: StyledLine(count == 1 ? "1 field" : "\(count) fields", .muted)),
      RecordScreen.relatedSection: ListHeading(
        title: StyledLine("Lists and references", .sectionHeader)),
    ]
    list.apply(changeOf: &content, to: ListContent(sections: sections), height: height)
    if isFirst, let first = ids.first {
      if let firstRow, list.moveTo(.row(firstRow), in: content, height: height) { return }
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
      if !path.isRoot, let value = coding.codedValue(node) {
        fields[path.description] = Field(path: path, rule: rule(of: path), coded: value)
        ids.append(path.description)
        return
      }
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

  /// Appends the fields that the schema knows and the record lacks, so that they can be filled in.
  private mutating func appendMissingFields(of node: RunnelTree.Node, to ids: inout [String]) {
    guard let resource, !node.isEmpty, node.leaf == nil else { return }
    for rule in resource.schema.fields where node[rule.field].isEmpty {
      if case .object = rule.kind { continue }
      let path = Path(unchecked: [rule.field])
      fields[path.description] = Field(path: path, leaf: nil, rule: rule)
      ids.append(path.description)
    }
  }

  /// Appends the fields that the record lacks and that have a draft.
  private mutating func appendDraftFields(to ids: inout [String]) {
    for path in draftFields.sorted() where fields[path.description] == nil && lacks(path) {
      fields[path.description] = Field(path: path, leaf: nil, rule: rule(of: path))
      ids.append(path.description)
    }
  }

  /// Keeps the row of an edited field with the typed text, even if others change or delete the
  /// field.
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
        ? "the record was deleted elsewhere: saving asks first"
        : "deleted elsewhere: saving asks first"
    } else if fields[id] == nil {
      fields[id] = Field(path: edit.field, leaf: nil, rule: edit.input.rule)
      ids.append(id)
    }
  }
}

extension RunnelTree.Node {
  /// Returns whether the node has more values than a number.
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
  /// Runs the start action after the record was read; returns true if a form is to be opened.
  package mutating func begin(height: Int) -> Bool {
    guard let start else { return false }
    self.start = nil
    if start == .form { return true }
    self.start(start, height: height)
    return false
  }

  /// Gives up what was to be done after the record was read.
  mutating func giveUpStart() {
    start = nil
    isCell = false
  }

  /// Starts or continues an edit.
  package mutating func start(_ start: Start, height: Int) {
    switch start {
    case .field(let field, let example):
      // A line that is there only for a draft has neither a value nor a rule.
      guard let present = fields[field.description], present.kind != nil || present.rule != nil
      else {
        if lacks(field) { startMissing(field, like: example, height: height) }
        break
      }
      let json = present.leaf?.json ?? present.coded ?? .null
      if LineEditor.isTooLong(FieldKind.text(of: json)) {
        list.moveTo(.row(field.description), in: content, height: height)
        return
      }
      var input = FieldInput(rule: present.rule, json)
      // What an empty text is to hold, other records tell.
      if json == .string(""), let example { input.hold([example.json]) }
      // Mostly, a text takes the place of null.
      if present.coded == .null, present.rule == nil { input.kind = .string }
      input.coding = coding
      input.keepLines()
      edit = Edit(field, input, original: present.leaf, in: node ?? .empty)
    case .edit(let edit):
      self.edit = edit
      // The field is shown even if it was deleted.
      if let node { show(node, height: height) }
      self.edit?.input.error = edit.input.error
    case .form: return
    }
    guard let field = edit?.field else { return }
    list.moveTo(.row(field.description), in: content, height: height)
  }

  /// Whether the record has no value at a path, and could get one there.
  func lacks(_ field: Path) -> Bool {
    guard let node, !field.isRoot, !node.isEmpty else { return false }
    // A value below a leaf would replace the leaf.
    return node[field].isEmpty
      && field.keys.indices.allSatisfy {
        node[Path(unchecked: Array(field.keys[..<$0]))].leaf == nil
      }
  }

  /// Starts to edit a field that the record lacks.
  private mutating func startMissing(_ field: Path, like example: Leaf?, height: Int) {
    var input =
      example.map { FieldInput(kind: FieldKind($0.json), like: $0) } ?? FieldInput(kind: .string)
    input.coding = coding
    edit = Edit(field, input, original: nil, in: node ?? .empty)
    // The field gets a row.
    if let node { show(node, height: height) }
  }

  /// Ends the edit; a row that was kept only for the edit is removed, unless the field has a draft.
  mutating func endEdit(drafts: Set<Path>, height: Int) {
    edit = nil
    draftFields = drafts
    if let node { show(node, height: height) }
  }

  /// Returns whether a value of the edited field is to be written: the user changed it.
  func needsWrite(_ value: JSONValue) -> Bool {
    guard let edit, let node else { return false }
    let present = node[edit.field]
    if value == .null { return !edit.isUntouched && coding.codedValue(present) != .null }
    return !edit.isUntouched && coding.shown(present) != value
  }

  /// Whether the edited field has no place any more: others removed it, or its record, or put a
  /// value in place of what is around it.
  var isEditGone: Bool {
    guard let edit, let node else { return false }
    return edit.original != nil && node[edit.field].leaf == nil
      || WriteCondition.keeping(edit.field, in: node, at: path) == nil
  }
}
