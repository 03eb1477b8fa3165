import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The line in which a record is composed. What is typed shows in the list as a row that is not saved.

extension AppState {
  mutating func openComposer() {
    let screen = ComposeScreen(view: active, editor: LineEditor(lists[active].draft))
    resume(active)
    layers.append(.compose(screen))
    lists[active].goToLiveEnd(height: height)
    showDraft()
  }

  mutating func performInComposer(_ action: ActionID) {
    guard case .compose(let composer)? = layers.last else { return }
    if composer.sending != nil { return }
    switch action {
    case .inputCancel:
      if !composer.editor.isEmpty {
        say(.info, "kept as a draft" + listKeys.hint(.recordAdd, "goes on with it", after: ": "))
      }
      closeLayer()
      effects.append(.compose(view: composer.view, nil))
    case .inputAccept, .formSave: send(composer)
    default:
      let old = composer.editor.text
      var isPerformed = false
      updateComposer { isPerformed = $0.editor.perform(action) }
      if !isPerformed { recall(action, in: composer) }
      if self.composer?.editor.text != old { showDraft() }
    }
  }

  /// Goes through what was sent before.
  private mutating func recall(_ action: ActionID, in composer: ComposeScreen) {
    let text = composer.editor.text
    if let recalled = lists[composer.view].sent.recall(action, from: text) {
      updateComposer { $0.editor.replaceText(recalled) }
    }
  }

  private mutating func send(_ composer: ComposeScreen) {
    let definition = lists[composer.view].definition
    guard let field = definition.compose, !composer.editor.isEmpty else { return }
    let text = composer.editor.text
    lists[composer.view].sent.add(text)
    let values: [(path: Path, value: JSONValue)] = [(field, .string(text))]
    let record = definition.record(filledWith: values, me: me)
    do throws(Refusal) {
      let request = try resources.adding(record, to: definition.source.path)
      let number = submit(.send(view: composer.view, text: text), request)
      updateComposer { composer in
        composer.sending = number
        // What is typed until the answer comes belongs to the next record.
        _ = composer.editor.perform(.inputLineEnd)
      }
    } catch {
      updateComposer { $0.error = error.message }
    }
  }

  /// A sent record is saved: what was typed since then is left in the line for the next one.
  mutating func closeComposer(_ number: Int, _ sent: String) {
    updateComposer { composer in
      guard composer.sending == number else { return }
      composer.sending = nil
      composer.editor = LineEditor(String(composer.editor.text.dropFirst(sent.count)))
    }
    showDraft()
  }

  /// A record could not be sent: the line says why, and has what was typed.
  mutating func reopenComposer(_ number: Int, _ message: String) {
    updateComposer { composer in
      guard composer.sending == number else { return }
      composer.sending = nil
      composer.error = message
    }
  }

  private var composer: ComposeScreen? {
    for case .compose(let composer) in layers { return composer }
    return nil
  }

  mutating func updateComposer(_ body: (inout ComposeScreen) -> Void) {
    for (index, layer) in layers.enumerated() {
      guard case .compose(var composer) = layer else { continue }
      composer.error = nil
      body(&composer)
      layers[index] = .compose(composer)
    }
  }

  /// Shows what is typed as a row of the list, or takes the row away if nothing is.
  mutating func showDraft() {
    guard let composer else { return }
    lists[composer.view].draft = composer.editor.text
    let definition = lists[composer.view].definition
    checkComposer(definition)
    guard let field = definition.compose, !composer.editor.isEmpty else {
      effects.append(.compose(view: composer.view, nil))
      return
    }
    let values: [(path: Path, value: JSONValue)] = [(field, .string(composer.editor.text))]
    let record = definition.record(filledWith: values, me: me)
    effects.append(.compose(view: composer.view, record))
  }

  /// Says while it is typed what a resource will refuse.
  private mutating func checkComposer(_ definition: ViewDefinition) {
    guard let field = definition.compose, field.keys.count == 1, let key = field.keys.first,
      let resource = resources.registry.resource(ofChildrenOf: definition.source.path),
      let rule = resource.definition.schema.rule(of: key)
    else { return }
    updateComposer { composer in
      var input = FieldInput(rule: rule, .string(composer.editor.text))
      input.check()
      composer.error = input.error
    }
  }
}

extension ViewDefinition {
  /// A new record: the template with the user's name, and what was filled in.
  ///
  /// In a form the user saw the fields of the template, and so emptied those without a value.
  func record(
    filledWith values: [(path: Path, value: JSONValue)], me: String, isForm: Bool = false
  ) -> JSONValue {
    if let only = values.first, values.count == 1, only.path.isRoot { return only.value }
    var members: [JSONMember] = []
    for field in template where field.isComputed || !isForm {
      members.put(
        field.value == .string("$me") ? .string(me) : field.value, at: field.path.keys[...])
    }
    for value in values { members.put(value.value, at: value.path.keys[...]) }
    return .object(members)
  }
}

extension [JSONMember] {
  /// Puts a value at a path of names, making the objects on the way.
  mutating func put(_ value: JSONValue, at keys: ArraySlice<RunnelTree.Key>) {
    guard let key = keys.first else { return }
    let index = firstIndex { $0.name == key.text } ?? count
    if index == count { append(JSONMember(key.text, .null)) }
    if keys.count == 1 {
      self[index].value = value
      return
    }
    var below: [JSONMember] = []
    if case .object(let members) = self[index].value { below = members }
    below.put(value, at: keys.dropFirst())
    self[index].value = .object(below)
  }
}
