import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Forms.

extension AppState {
  /// Goes to the next field, and from the last one saves.
  mutating func acceptFormField() {
    guard case .form(let form)? = layers.last else { return }
    if form.focus == form.fields.count - 1 { return saveForm() }
    changeForm { $0.moveFocus(by: 1) }
  }

  /// Asks for the write of the form in front, and closes it if nothing is wrong with a field.
  mutating func saveForm() {
    guard case .form(var form)? = layers.last else { return }
    if save(&form) { return closeLayer() }
    layers[layers.count - 1] = .form(form)
  }

  /// Changes the form in front.
  mutating func changeForm(_ body: (inout FormScreen) -> Void) {
    guard case .form(var form)? = layers.last else { return }
    body(&form)
    layers[layers.count - 1] = .form(form)
  }

  /// The keys by which a form is left.
  var cancelKeys: String { formKeys.keys(.inputCancel) ?? "cancel" }

  /// Asks for the write of a form; if something is wrong with a field, marks it and returns false.
  private mutating func save(_ form: inout FormScreen) -> Bool {
    guard let values = form.values() else { return false }
    if form.writes, let reason = reasonReadOnly { return form.refuse(form.focus, reason) }
    switch form.purpose {
    case .setLeaf(let path, let original):
      guard let value = values.first?.value else {
        return form.refuse(0, "type a value, or \(cancelKeys)")
      }
      return submit(&form) { book throws(Refusal) in
        .guarded(try book.setting(value, at: path), [WriteCondition(path, original)])
      }
    case .choose(let index):
      take(choice: values.first?.value ?? .null, at: index)
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
        if isKnown(place) {
          return form.refuse(
            0, "\(place) is there already" + treeKeys.hint(.recordEdit, "edits it", after: ": "))
        }
        let value = values[1].value
        return submit(&form) { book throws(Refusal) in try book.setting(value, at: place) }
      } catch {
        return form.refuse(0, "\(error)")
      }
    case .addRecord(let view):
      if values.isEmpty { return form.refuse(0, "fill in a field, or \(cancelKeys)") }
      let definition = lists[view].definition
      let record = definition.record(filledWith: values, me: me, isForm: true)
      return submit(&form) { book throws(Refusal) in
        try book.adding(record, to: definition.source.path)
      }
    case .addResource(_, let collection, let view):
      return addRecord(&form, values.filter { !$0.path.isRoot }, to: collection, view: view)
    case .editResource(let path, let original):
      return changeRecord(&form, values, at: path, original)
    case .export(let choices, let replaces):
      return startExport(&form, choices, replaces: replaces)
    case .importFile: return readImport(&form)
    }
  }

  /// Asks for the write of a form; if it is refused before, its fields say why, and it is false.
  mutating func submit(
    _ form: inout FormScreen, _ make: (ResourceBook) throws(Refusal) -> WriteRequest
  ) -> Bool {
    do throws(Refusal) {
      let request = try make(resources)
      form.attempt = form.attempt ?? requests.newID()
      submit(.form(form), request)
      return true
    } catch {
      form.take(error)
      return false
    }
  }

  /// True if something is known to stand at a place: what is added there would replace it.
  ///
  /// Limit: children that are not loaded are not known; to refuse them takes a conditional write.
  func isKnown(_ place: Path) -> Bool {
    for case .record(let screen) in layers {
      guard let node = screen.node, let field = place.relative(to: screen.path) else { continue }
      // What is put below a value replaces the value.
      return field.keys.indices.contains { index in
        let above = node[Path(unchecked: Array(field.keys[...index]))]
        return index == field.keys.count - 1 ? !above.isEmpty : above.leaf != nil
      }
    }
    guard let parent = place.parent, let key = place.lastKey else { return false }
    return tree.expanded[parent]?.child(key) != nil
  }
}
