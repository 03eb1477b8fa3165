import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The actions of a form.

extension FormScreen {
  /// Goes to the next field, and saves after the last one; a field with a wrong value keeps the keys.
  static func acceptFormField(_ state: inout AppState) {
    guard case .form(var form)? = state.layers.last else { return }
    form.take(state.database.coding)
    form.fields[form.focus].input.takeOnlyChoice()
    form.followFormat()
    state.layers[state.layers.count - 1] = .form(form)
    let input = form.fields[form.focus].input
    if !input.isEmpty {
      do throws(InputError) {
        _ = try input.value()
      } catch {
        _ = form.refuse(form.focus, error.message)
        state.layers[state.layers.count - 1] = .form(form)
        return
      }
    }
    if form.focus == form.fields.count - 1 { return saveForm(&state) }
    changeForm(&state) { $0.moveFocus(by: 1) }
  }

  /// Requests the write of the form in front, and closes the form if no field is wrong.
  static func saveForm(_ state: inout AppState) {
    guard case .form(var form)? = state.layers.last else { return }
    if save(&state, &form) { return state.closeLayer() }
    state.layers[state.layers.count - 1] = .form(form)
  }

  /// Closes the form in front, or asks first if something was typed that would be lost; stops the
  /// request for which a form for accounts waits instead.
  ///
  /// The name of a file is kept as a draft without a question.
  static func cancelForm(_ state: inout AppState) {
    if stopAccountRequest(&state) { return }
    guard case .form(let form)? = state.layers.last else { return }
    let changed = form.fields.filter(\.input.isChanged)
    if changed.isEmpty || isQueued(state, form) { return state.closeLayer() }
    if !form.writes { return form.draft(state) == nil ? state.closeLayer() : keepForm(&state) }
    let names = changed.map(\.label).joined(separator: ", ")
    let question = Question(
      .discardForm, title: "Discard what was typed?",
      message: [StyledLine("typed and not saved: \(names)", .warn)],
      explanation: [
        StyledLine("The form closes, and the database is not changed.", .muted),
        StyledLine("A draft is offered when the same form is opened again.", .muted),
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "discard", no: "go on typing")
  }

  /// Whether the queue has a refused write with all that is typed in the form.
  private static func isQueued(_ state: AppState, _ form: FormScreen) -> Bool {
    guard let attempt = form.attempt else { return false }
    return state.writes.queue.refused.contains { item in
      guard case .form(let refused) = item.purpose, refused.attempt == attempt else { return false }
      return refused.fields.map(\.input.editor.text) == form.fields.map(\.input.editor.text)
    }
  }

  /// The reason why the type of the field that has the keys cannot be changed, or nil if it can.
  static func reasonKindNotChanged(_ state: AppState) -> String? {
    guard case .form(let form)? = state.layers.last else { return nil }
    return switch form.purpose {
    case .callMethod where form.fields[form.focus].input.offersValues: nil
    case .account, .renameDevice, .callMethod: "this field has one type"
    default: nil
    }
  }

  /// Changes the form in front.
  static func changeForm(_ state: inout AppState, _ body: (inout FormScreen) -> Void) {
    guard case .form(var form)? = state.layers.last else { return }
    body(&form)
    state.layers[state.layers.count - 1] = .form(form)
  }

  /// The keys that leave a form.
  static func cancelKeys(_ state: AppState) -> String {
    KeyText.formKeys(state).keys(.inputCancel) ?? "cancel"
  }

  /// Requests the write of a form; if a field is wrong, marks the field and returns false.
  private static func save(_ state: inout AppState, _ form: inout FormScreen) -> Bool {
    form.take(state.database.coding)
    for index in form.fields.indices { form.fields[index].input.takeOnlyChoice() }
    guard let values = form.values() else { return false }
    let coding = state.database.coding
    if form.writes, let reason = state.reasonReadOnly { return form.refuse(form.focus, reason) }
    switch form.purpose {
    case .setLeaf(let path, let original):
      guard let value = values.first?.value else {
        return form.refuse(0, "type a value, or \(cancelKeys(state))")
      }
      return submitForm(&state, &form) { book throws(Refusal) in
        .guarded(
          try book.setting(coding.stored(value), at: path), [WriteCondition(path, original)])
      }
    case .choose(let index):
      CompareScreen.take(&state, choice: values.first?.value ?? .null, at: index)
      return true
    case .addChild(let path), .addField(let path):
      guard case .string(let name)? = values.first?.value else {
        return form.refuse(0, "type a name")
      }
      guard values.count == 2 else {
        return form.refuse(1, "a value is missing: put texts in \"quotes\"")
      }
      do {
        let place = try path.appending(Path(name))
        if place == path { return form.refuse(0, "type a name") }
        if isKnown(state, place) {
          return form.refuse(
            0,
            "\(place) is there already"
              + KeyText.treeKeys(state).hint(.recordEdit, "edits it", after: ": "))
        }
        let value = values[1].value
        return submitForm(&state, &form) { book throws(Refusal) in
          try book.setting(coding.stored(value), at: place)
        }
      } catch {
        return form.refuse(0, "\(error)")
      }
    case .addRecord(let view):
      let collection = state.tabs.lists[view].definition.source.path
      return ResourceCommands.addRecord(&state, &form, values, to: collection, view: view)
    case .addResource(_, let collection, let view):
      return ResourceCommands.addRecord(
        &state, &form, values.filter { !$0.path.isRoot }, to: collection, view: view)
    case .editResource(let path, let original):
      return ResourceCommands.changeRecord(&state, &form, values, at: path, original)
    case .editField(let edited): return BulkEdit.submit(&state, &form, edited)
    case .export(let choices, let replaces):
      return Exporting.startExport(&state, &form, choices, replaces: replaces)
    case .importFile: return Importing.readImport(&state, &form)
    case .renameDevice(let device):
      return DevicesScreen.rename(&state, &form, device, values)
    case .callMethod(let offer):
      MethodCalls.submit(&state, offer, values)
      return true
    case .account(let deed):
      submitAccount(&state, &form, deed, values)
      return false
    }
  }

  /// Requests the write of a form; if it cannot be requested, shows the reason in the fields and
  /// returns false.
  static func submitForm(
    _ state: inout AppState, _ form: inout FormScreen,
    _ make: (ResourceBook) throws(Refusal) -> WriteRequest
  ) -> Bool {
    do throws(Refusal) {
      let request = try make(state.database.resources)
      form.attempt = form.attempt ?? state.requests.newID()
      state.submit(.form(form), request)
      return true
    } catch {
      form.take(error)
      return false
    }
  }

  /// Whether something is known to stand at a place, which a new value there would replace.
  ///
  /// Limit: children that are not loaded are unknown; to refuse them would take a conditional
  /// write.
  static func isKnown(_ state: AppState, _ place: Path) -> Bool {
    for case .record(let screen) in state.layers {
      guard let node = screen.node, let field = place.relative(to: screen.path) else { continue }
      // A value below a leaf replaces the leaf.
      return field.keys.indices.contains { index in
        let above = node[Path(unchecked: Array(field.keys[...index]))]
        return index == field.keys.count - 1 ? !above.isEmpty : above.leaf != nil
      }
    }
    guard let parent = place.parent, let key = place.lastKey else { return false }
    return state.tabs.tree.expanded[parent]?.child(key) != nil
  }
}
