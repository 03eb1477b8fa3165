import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// The actions on whole records, and those on records that a resource describes.

extension ResourceCommands {
  /// The place of the record that the keys act on, or nil if there is none.
  static func recordAtHand(_ state: AppState) -> Path? {
    if case .record(let screen)? = state.layers.last { return screen.path }
    guard state.layers.isEmpty else { return nil }
    if let list = state.tabs.frontList { return list.cursorRecord?.path }
    guard case .node(let path, _, _)? = state.tabs.tree.cursorLine else { return nil }
    return state.database.resources.place(ofRecordAround: path)
  }

  /// Whether the keys act on a record whose fields a form can have: one that a resource describes, or one
  /// that is no part of such a record.
  static func hasForm(_ state: AppState) -> Bool {
    recordAtHand(state).map { hasForm(state, $0) } == true
  }

  private static func hasForm(_ state: AppState, _ path: Path) -> Bool {
    let resources = state.database.resources
    return resources.record(at: path) != nil || resources.resources(at: path).described == nil
  }

  /// The record that the user toggles at the record under the cursor, or nil if there is none.
  static func toggledAtHand(_ state: AppState) -> ResourceIdentity? {
    recordAtHand(state).flatMap {
      state.database.resources.toggled(at: $0, by: state.database.me).first
    }
  }

  /// Creates the user's own record at the one under the cursor, such as a like, or deletes it.
  static func toggle(_ state: inout AppState) {
    guard let identity = toggledAtHand(state) else { return }
    state.submit(
      .toggle,
      .operation(
        state.database.resources.registry.operation(.toggle(), on: identity, value: .object([])))
    )
  }

  // MARK: Forms

  /// Opens the form for a new record of a resource; returns false if no resource describes the
  /// collection.
  ///
  /// `offersDraft` is false for a form that is filled in otherwise.
  static func openFormForNewRecord(
    _ state: inout AppState, in collection: Path, view: Int? = nil, offersDraft: Bool = true
  ) -> Bool {
    guard let form = formForNewRecord(state, in: collection, view: view) else { return false }
    if offersDraft { FormScreen.open(&state, form) } else { state.layers.append(.form(form)) }
    readChoices(&state)
    return true
  }

  /// Returns the form for a new record of a resource; nil if no resource describes the collection.
  static func formForNewRecord(
    _ state: AppState, in collection: Path, view: Int? = nil
  ) -> FormScreen? {
    guard
      let resource = state.database.resources.registry.resource(ofChildrenOf: collection)?
        .definition
    else {
      return nil
    }
    let template = view.map { state.tabs.lists[$0].definition.template } ?? []
    let filled = template.filter { !$0.isComputed && $0.path.keys.count == 1 }
      .map { JSONMember($0.path.text, $0.value) }
    let fields = FormScreen.newRecord(
      resource, in: state.database.resources, filled: .object(filled),
      without: template.filter(\.isComputed).map(\.path))
    return FormScreen(
      purpose: .addResource(resource.name, in: collection, view: view),
      title: "Add a \(resource.name) to \(collection)", fields: fields)
  }

  /// Opens the form with all fields of the record at hand, after the record is read.
  static func openFormAtHand(_ state: inout AppState) {
    if case .record(let screen)? = state.layers.last {
      guard let node = screen.node else { return }
      return openForm(&state, of: screen.path, node.exportJSON)
    }
    guard let path = recordAtHand(state), hasForm(state, path) else { return }
    if let node = state.tabs.frontList?.cursorRecord?.row.node {
      return openForm(&state, of: path, node.exportJSON)
    }
    ListScreen.open(&state, record: path, .form)
  }

  static func openForm(_ state: inout AppState, of path: Path, _ record: JSONValue) {
    guard hasForm(state, path), case .object = record else {
      return state.say(.info, "\(path) has no fields to edit")
    }
    if state.refusesWriting() { return }
    let resource = state.database.resources.record(at: path)?.definition
    let own =
      resource.map { FormScreen.editing($0, in: state.database.resources, record) }
      ?? ownFields(of: record, state)
    let computed = resource.map { state.database.resources.registry.ownedFields(of: $0.name) } ?? []
    let known = Set(own.compactMap(\.path.keys.first)).union(computed)
    // Services take a record's own fields only.
    let nested = NestedFields(
      of: record, areListed: resource == nil && state.database.coding == .tree,
      isField: known.contains)
    let nestedFields = nested.fields.map {
      FormScreen.Field($0.path.shownText, path: $0.path, FieldInput(rule: nil, $0.value))
    }
    let all =
      resource == nil ? fields(own + nestedFields, of: record, at: path, state) : own
    let fields = all.filter { !LineEditor.isTooLong($0.input.editor.text) }
    // Fields that are left out keep their values.
    let long = all.first { LineEditor.isTooLong($0.input.editor.text) }
    let longNote = long.map { "\($0.label) is too long for a form" } ?? ""
    let rest = nested.restWords(state)
    if fields.isEmpty {
      let words = longNote.isEmpty ? "\(path) has no fields to edit" : longNote
      return state.say(.info, rest.isEmpty ? words : "\(words): \(rest)")
    }
    let hint = KeyText.listKeys(state).hint(.recordEditExternal, "edits it", after: ": ")
    let notes = [longNote.isEmpty ? "" : longNote + hint, rest].filter { !$0.isEmpty }
    FormScreen.open(
      &state,
      FormScreen(
        purpose: .editResource(path, original: record), title: "Edit \(path)", fields: fields,
        note: notes.joined(separator: " · ")))
    readChoices(&state)
  }

  /// Returns the fields for the own values of a record that no resource describes.
  private static func ownFields(
    of record: JSONValue, _ state: AppState
  ) -> [FormScreen.Field] {
    (record.object ?? []).compactMap { member in
      let field = Path(unchecked: [RunnelTree.Key(unchecked: member.name)])
      if Leaf(member.value) != nil {
        return FormScreen.Field(
          field.shownText, path: field, FieldInput(rule: nil, member.value))
      }
      guard
        let value = (try? RunnelTree.Node(json: member.value)).flatMap(
          state.database.coding.codedValue)
      else { return nil }
      var input = FieldInput(rule: nil, value)
      // Mostly, a text takes the place of null.
      if value == .null { input.kind = .string }
      return FormScreen.Field(field.shownText, path: field, input)
    }
  }

  /// Returns the fields of a record with those that other records of its list have, in the order of the
  /// columns.
  private static func fields(
    _ own: [FormScreen.Field], of record: JSONValue, at path: Path, _ state: AppState
  ) -> [FormScreen.Field] {
    if own.isEmpty { return [] }
    let lists = [state.tabs.frontList].compactMap(\.self) + state.tabs.lists
    guard let list = lists.first(where: { $0.definition.source.path == path.parent }) else {
      return own
    }
    return list.fields(of: own, in: record)
  }

  /// Requests the creation of a record; if it is refused, shows the reason in the form and returns
  /// false.
  static func addRecord(
    _ state: inout AppState, _ form: inout FormScreen, _ values: [(path: Path, value: JSONValue)],
    to collection: Path,
    view: Int?
  ) -> Bool {
    if values.isEmpty {
      return form.refuse(0, "fill in a field, or \(FormScreen.cancelKeys(state))")
    }
    let record =
      view.map {
        state.tabs.lists[$0].definition.record(
          filledWith: values, me: state.database.me, isForm: true)
      }
      ?? .object(values.map { JSONMember($0.path.text, $0.value) })
    // The names of fields are keys already.
    let stored = state.database.coding.stored(record, keepsNames: true)
    guard let key = form.typedKey else {
      return FormScreen.submitForm(&state, &form) { book throws(Refusal) in
        try book.adding(stored, to: collection)
      }
    }
    let last = form.fields.count - 1
    do {
      let place = try collection.child(RunnelTree.Key(key))
      if FormScreen.isKnown(state, place) || isShown(state, place) {
        return form.refuse(last, "\(place) is there already: choose another key")
      }
      return FormScreen.submitForm(&state, &form) { book throws(Refusal) in
        let request = try book.setting(stored, at: place)
        // An operation that creates a record checks itself that there is none.
        if case .set = request { return .guarded(request, [WriteCondition(place, .null)]) }
        return request
      }
    } catch {
      return form.refuse(last, "\(error)")
    }
  }

  /// Whether a list shows the record at a place.
  private static func isShown(_ state: AppState, _ place: Path) -> Bool {
    state.tabs.lists.contains { $0.content.indexPath(ofRow: Record.id(of: place)) != nil }
  }

  /// Requests the write of the fields that were changed in a form.
  static func changeRecord(
    _ state: inout AppState, _ form: inout FormScreen, _ values: [(path: Path, value: JSONValue)],
    at path: Path,
    _ original: JSONValue
  ) -> Bool {
    let identity = state.database.resources.record(at: path)?.identity
    if identity == nil, !hasForm(state, path) {
      return form.refuse(form.focus, "no resource describes \(path) any more")
    }
    var changed: [(path: Path, value: JSONValue)] = []
    for field in form.fields {
      let old = original[field.path] ?? .null
      let value = values.first { $0.path == field.path }?.value
      // What was not typed is as it is in the tree.
      let typed = field.input.isChanged ? value.map { state.database.coding.stored($0) } : value
      let new = typed ?? .null
      if new != old { changed.append((field.path, new)) }
    }
    if changed.isEmpty {
      state.say(.info, "nothing was changed")
      return true
    }
    // Of a nested field, only its own place is written.
    let members = changed.map { JSONMember($0.path.text, $0.value) }
    let plain = WriteRequest.update(path, members)
    let conditions = changed.map { field in
      WriteCondition(
        Path(unchecked: path.keys + field.path.keys), original[field.path] ?? .null)
    }
    return FormScreen.submitForm(&state, &form) { book throws(Refusal) in
      let request = identity.map { .operation(book.updating($0, members)) } ?? plain
      return .guarded(request, conditions)
    }
  }

  // MARK: References

  /// Reads the records that references may name which are edited, in a form or in place, and have no choices yet.
  static func readChoices(_ state: inout AppState) {
    let resources = state.database.resources
    var paths: Set<Path> = []
    updateInputs(&state) { input in
      if input.choicesPath == nil { input.choicesPath = input.rule.flatMap(resources.choicesPath) }
      guard let path = input.choicesPath, input.choices.isEmpty else { return }
      input.isReadingChoices = true
      paths.insert(path)
    }
    for path in paths.sorted() {
      state.ask(.records(of: path, countMax: FieldInput.choicesMax), for: .choices(path))
    }
  }

  /// Stops waiting for the records that references may name.
  static func giveUpChoices(_ state: inout AppState) {
    updateInputs(&state) { $0.isReadingChoices = false }
  }

  private static func updateInputs(_ state: inout AppState, _ body: (inout FieldInput) -> Void) {
    for index in state.layers.indices { state.layers[index].component.updateInputs(body) }
  }

  /// Takes the records that references may name, as choices.
  static func show(_ state: inout AppState, choices rows: [TreeRow], in collection: Path) {
    let choices = rows.map { row in
      FieldInput.Choice(
        text: row.key.text,
        title: state.database.resources.title(of: (row.node ?? .empty).exportJSON, in: collection))
    }
    updateInputs(&state) { input in
      guard input.choicesPath == collection else { return }
      (input.choices, input.isReadingChoices) = (choices, false)
    }
  }
}

extension ResourceBook {
  /// Returns the place of the record that contains a place, or nil if there is none.
  package func place(ofRecordAround path: Path) -> Path? {
    guard case .record(_, let field) = registry.place(of: path) else { return nil }
    return Path(unchecked: Array(path.keys.dropLast(field.keys.count)))
  }
}
