import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The line in which a record is composed. What is typed shows in the list as a row that is not saved.

extension AppState {
  mutating func openComposer() {
    var screen = ComposeScreen(view: active, editor: LineEditor(lists[active].draft))
    // A draft may be what was refused, and came back.
    for case .send(active, screen.editor.text, let attempt) in queue.refused.map(\.purpose) {
      screen.attempt = attempt
    }
    resume(active)
    layers.append(.compose(screen))
    goToLiveEnd(ofView: active)
    showDraft()
  }

  /// Leaves the line; what is typed is kept as a draft.
  mutating func cancelComposer() {
    guard case .compose(let composer)? = layers.last else { return }
    if !composer.editor.isEmpty {
      say(.info, "kept as a draft" + listKeys.hint(.recordAdd, "goes on with it", after: ": "))
    }
    closeLayer()
    showComposed(inView: composer.view, nil)
  }

  mutating func sendComposed() {
    if case .compose(let composer)? = layers.last { send(composer) }
  }

  /// Changes the line as a text field does, or goes through what was sent before.
  mutating func editComposer(_ id: ActionID) {
    guard case .compose(let composer)? = layers.last else { return }
    let old = composer.editor.text
    var isPerformed = false
    updateComposer { composer in
      isPerformed = composer.editor.perform(id)
      composer.isReturned = false
      // Nothing is left of a text that came back: what is typed now is another one.
      if composer.editor.isEmpty { composer.attempt = nil }
    }
    if !isPerformed { recall(id, in: composer) }
    if self.composer?.editor.text != old { showDraft() }
  }

  /// Types text into the line; it takes the place of a text that came back and was not touched.
  mutating func typeInComposer(_ text: String) {
    updateComposer { composer in
      if composer.isReturned {
        (composer.editor, composer.attempt, composer.isReturned) = (LineEditor(), nil, false)
      }
      composer.editor.insert(text)
    }
    showDraft()
  }

  /// Goes through what was sent before.
  private mutating func recall(_ action: ActionID, in composer: ComposeScreen) {
    let text = composer.editor.text
    if let recalled = lists[composer.view].sent.recall(action, from: text) {
      updateComposer { $0.editor.replaceText(recalled) }
    }
  }

  /// Asks for the write of what is in the line, which is free for the next record at once.
  private mutating func send(_ composer: ComposeScreen) {
    let definition = lists[composer.view].definition
    guard !composer.editor.isEmpty,
      let record = definition.record(composed: composer.editor.text, me)
    else { return }
    let text = composer.editor.text
    lists[composer.view].sent.add(text)
    do throws(Refusal) {
      let request = try resources.adding(record, to: definition.source.path)
      let attempt = composer.attempt ?? requests.newID()
      submit(.send(view: composer.view, text: text, attempt: attempt), request)
      updateComposer { composer in
        composer = ComposeScreen(view: composer.view, editor: LineEditor())
      }
      showDraft()
    } catch {
      updateComposer { composer in
        composer.error = error.message
        composer.isReturned = true
      }
    }
  }

  /// A sent record is stored: the cursor goes along with it.
  mutating func finishSending(_ id: RequestID, _ key: RunnelTree.Key?, inView view: Int) {
    let sent = lists[view].sentRow(id)
    let isUnderCursor = lists[view].list.cursor == .row(sent)
    showComposed(inView: view, composer?.view == view ? composer?.editor.text : nil)
    guard let key else { return }
    let row = Path(unchecked: lists[view].definition.source.path.keys + [key]).description
    if isUnderCursor || lists[view].content.indexPath(ofRow: row) == nil {
      goTo(key, inView: view)
    }
  }

  /// A record could not be sent: its text comes back into the line if nothing else is typed there.
  ///
  /// It is in the queue in any case, and what is typed next does not become a part of it.
  mutating func giveBack(
    _ text: String, _ attempt: RequestID, inView view: Int, _ message: String
  ) {
    let isOpen = composer?.view == view
    let isFree = isOpen ? composer?.editor.isEmpty == true : lists[view].draft.isEmpty
    showComposed(inView: view, isOpen ? composer?.editor.text : nil)
    guard isFree else {
      let start = text.count > 40 ? text.prefix(40) + "…" : text[...]
      let words = "not sent: \(start): \(message) · it is kept"
      return say(.error, phrase(words, .syncOpen, "lists it"))
    }
    guard isOpen else { return lists[view].draft = text }
    updateComposer { composer in
      (composer.editor, composer.attempt, composer.isReturned) = (LineEditor(text), attempt, true)
    }
    showDraft()
    updateComposer { $0.error = message + " · Enter tries again, typing begins anew" }
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
    showComposed(inView: composer.view, composer.editor.text)
  }

  /// Shows the records that are being sent in a view, and what is in the line; nil or nothing for none.
  private mutating func showComposed(inView view: Int, _ text: String?) {
    let definition = lists[view].definition
    let sent = requests.writes.sorted { $0.key < $1.key }.compactMap { id, purpose -> SentRecord? in
      guard case .send(view, let text, _) = purpose else { return nil }
      return definition.record(composed: text, me).map { SentRecord(id: id, value: $0) }
    }
    let record = text.flatMap { $0.isEmpty ? nil : definition.record(composed: $0, me) }
    effects.append(.compose(view: view, sending: sent, record))
  }

  /// True while records that were composed in a view are being written.
  func isSending(inView view: Int) -> Bool {
    requests.writes.values.contains { if case .send(view, _, _) = $0 { true } else { false } }
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
  /// A new record with a text in the composed field; nil if the view has none.
  fileprivate func record(composed text: String, _ me: String) -> JSONValue? {
    compose.map { record(filledWith: [(path: $0, value: .string(text))], me: me) }
  }

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
