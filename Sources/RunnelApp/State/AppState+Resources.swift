import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does with records that a resource describes, besides what is done with all records.

extension AppState {
  /// The place of the record that the keys are about; nil if they are about none.
  var recordAtHand: Path? {
    switch layers.last {
    case .record(let screen): return screen.path
    case .form, .confirm, .help, .compose, .filter, .search, .debug, .history, .compare, .queue,
      .palette, .menu:
      return nil
    case nil: break
    }
    if !isTree { return lists[active].cursorRecord?.path }
    guard case .node(let path, _, _)? = tree.cursorLine else { return nil }
    return resources.place(ofRecordAround: path)
  }

  /// True if the keys are about a record that a resource describes.
  var isOnResource: Bool { recordAtHand.flatMap { resources.record(at: $0) } != nil }

  /// What the user toggles at the record under the cursor; nil if nothing.
  var toggledAtHand: ResourceIdentity? {
    recordAtHand.flatMap { resources.toggled(at: $0, by: me).first }
  }

  /// Makes the user's record at the one under the cursor, or takes it back.
  mutating func toggle() {
    guard let identity = toggledAtHand else { return }
    submit(
      .toggle, .operation(resources.registry.operation(.toggle(), on: identity, value: .object([])))
    )
  }

  // MARK: Forms

  /// Opens the form for a new record of a resource; false if no resource describes the collection.
  mutating func openFormForNewRecord(in collection: Path, view: Int? = nil) -> Bool {
    guard let resource = resources.registry.resource(ofChildrenOf: collection)?.definition else {
      return false
    }
    let template = view.map { lists[$0].definition.template } ?? []
    let filled = template.filter { !$0.isComputed && $0.path.keys.count == 1 }
      .map { JSONMember($0.path.text, $0.value) }
    let fields = FormScreen.newRecord(
      resource, in: resources, filled: .object(filled),
      without: template.filter(\.isComputed).map(\.path))
    layers.append(
      .form(
        FormScreen(
          purpose: .addResource(resource.name, in: collection, view: view),
          title: "Add a \(resource.name) to \(collection)", fields: fields)))
    readChoices(of: fields.map(\.input))
    return true
  }

  /// Opens the form with all fields of the record at hand, once the record is there.
  mutating func openFormAtHand() {
    if case .record(let screen)? = layers.last {
      guard let node = screen.node else { return }
      return openForm(of: screen.path, node.exportJSON)
    }
    guard let path = recordAtHand, resources.record(at: path) != nil else { return }
    if !isTree, let node = lists[active].cursorRecord?.row.node {
      return openForm(of: path, node.exportJSON)
    }
    open(record: path, .form)
  }

  mutating func openForm(of path: Path, _ record: JSONValue) {
    guard let resource = resources.record(at: path)?.definition, case .object = record else {
      return say(.info, "\(path) has no fields to edit")
    }
    if refusesWriting() { return }
    let all = FormScreen.editing(resource, in: resources, record)
    let fields = all.filter { !LineEditor.isTooLong($0.input.editor.text) }
    // What is left out stays as it is.
    let long = all.first { LineEditor.isTooLong($0.input.editor.text) }
    let note = long.map { "\($0.label) is too long for a form" } ?? ""
    if fields.isEmpty {
      return say(.info, long == nil ? "\(path) has no fields to edit" : note)
    }
    layers.append(
      .form(
        FormScreen(
          purpose: .editResource(path, original: record), title: "Edit \(path)", fields: fields,
          note: note.isEmpty
            ? note : note + listKeys.hint(.recordEditExternal, "edits it", after: ": "))))
    readChoices(of: fields.map(\.input))
  }

  /// Asks for the creation of a record; false if it is refused, which the form then says.
  mutating func addRecord(
    _ form: inout FormScreen, _ values: [(path: Path, value: JSONValue)], to collection: Path,
    view: Int?
  ) -> Bool {
    if values.isEmpty { return form.refuse(0, "fill in a field, or \(cancelKeys)") }
    let record =
      view.map { lists[$0].definition.record(filledWith: values, me: me, isForm: true) }
      ?? .object(values.map { JSONMember($0.path.text, $0.value) })
    guard let key = form.typedKey else {
      return submit(&form) { book throws(Refusal) in try book.adding(record, to: collection) }
    }
    let last = form.fields.count - 1
    do {
      let place = try collection.child(RunnelTree.Key(key))
      if isKnown(place) || isShown(place) {
        return form.refuse(last, "\(place) is there already: choose another key")
      }
      return submit(&form) { book throws(Refusal) in try book.setting(record, at: place) }
    } catch {
      return form.refuse(last, "\(error)")
    }
  }

  /// True if a list shows a record at a place.
  private func isShown(_ place: Path) -> Bool {
    lists.contains { $0.content.indexPath(ofRow: Record.key(of: place)) != nil }
  }

  /// Asks for the write of the fields that were changed in a form.
  mutating func changeRecord(
    _ form: inout FormScreen, _ values: [(path: Path, value: JSONValue)], at path: Path,
    _ original: JSONValue
  ) -> Bool {
    guard let identity = resources.record(at: path)?.identity else {
      return form.refuse(form.focus, "no resource describes \(path) any more")
    }
    var members: [JSONMember] = []
    for field in form.fields {
      let old = original[field.path.text] ?? .null
      let new = values.first { $0.path == field.path }?.value ?? .null
      if new != old { members.append(JSONMember(field.path.text, new)) }
    }
    if members.isEmpty {
      say(.info, "nothing was changed")
      return true
    }
    let conditions = members.map { member in
      WriteCondition(
        Path(unchecked: path.keys + [RunnelTree.Key(unchecked: member.name)]),
        original[member.name] ?? .null)
    }
    return submit(&form) { book throws(Refusal) in
      .guarded(.operation(book.updating(identity, members)), conditions)
    }
  }

  // MARK: References

  /// Asks which records the references among some inputs may name.
  mutating func readChoices(of inputs: [FieldInput]) {
    let paths = Set(inputs.compactMap(\.choicesPath))
    for path in paths.sorted() {
      ask(.records(of: path, countMax: FieldInput.choicesMax), for: .choices(path))
    }
    if paths.isEmpty { return }
    updateInputs { input in
      if let path = input.choicesPath, paths.contains(path) { input.isReadingChoices = true }
    }
  }

  /// What a reference may name is not known, and is waited for no longer.
  mutating func giveUpChoices() { updateInputs { $0.isReadingChoices = false } }

  private mutating func updateInputs(_ body: (inout FieldInput) -> Void) {
    for (index, layer) in layers.enumerated() {
      switch layer {
      case .form(var form):
        for field in form.fields.indices { body(&form.fields[field].input) }
        layers[index] = .form(form)
      case .record(var screen):
        if var edit = screen.edit {
          body(&edit.input)
          screen.edit = edit
        }
        layers[index] = .record(screen)
      case .confirm, .help, .compose, .filter, .search, .debug, .history, .compare, .queue,
        .palette, .menu:
        break
      }
    }
  }

  /// Offers records where a reference may name them.
  mutating func show(choices rows: [TreeRow], in collection: Path) {
    let choices = rows.map { row in
      FieldInput.Choice(
        text: row.key.text,
        title: resources.title(of: (row.node ?? .empty).exportJSON, in: collection))
    }
    updateInputs { input in
      guard input.choicesPath == collection else { return }
      (input.choices, input.isReadingChoices) = (choices, false)
    }
  }
}

extension ResourceBook {
  /// The place of the record that a place is in; nil if it is in none.
  func place(ofRecordAround path: Path) -> Path? {
    guard case .record(_, let field) = registry.place(of: path) else { return nil }
    return Path(unchecked: Array(path.keys.dropLast(field.keys.count)))
  }
}
