package import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// The line in which a record is composed. What is typed shows in the list as a row that is not saved.

extension ComposeScreen {
  static func openComposer(_ state: inout AppState) {
    var screen = ComposeScreen(view: state.tabs.index, editor: LineEditor(state.tabs.front.draft))
    // A draft may be what was refused, and came back.
    for case .send(state.tabs.index, screen.editor.text, let attempt) in state.writes.queue.refused
      .map(
        \.purpose)
    {
      screen.attempt = attempt
    }
    ListScreen.resume(&state, state.tabs.index)
    state.layers.append(.compose(screen))
    ListScreen.goToLiveEnd(&state, ofView: state.tabs.index)
    showDraft(&state)
  }

  /// Leaves the line; what is typed is kept as a draft.
  static func cancelComposer(_ state: inout AppState) {
    guard case .compose(let composer)? = state.layers.last else { return }
    if !composer.editor.isEmpty {
      state.say(
        .info,
        "kept as a draft" + KeyText.listKeys(state).hint(.recordAdd, "goes on with it", after: ": ")
      )
    }
    state.closeLayer()
    showComposed(&state, inView: composer.view, nil)
  }

  static func sendComposed(_ state: inout AppState) {
    if case .compose(let composer)? = state.layers.last { send(&state, composer) }
  }

  /// Asks for the write of what is in the line, which is free for the next record at once.
  private static func send(_ state: inout AppState, _ composer: ComposeScreen) {
    let definition = state.tabs.lists[composer.view].definition
    guard !composer.editor.isEmpty,
      let record = definition.record(composed: composer.editor.text, state.database.me)
    else { return }
    let text = composer.editor.text
    state.tabs.lists[composer.view].sent.add(text)
    do throws(Refusal) {
      let request = try state.database.resources.adding(record, to: definition.source.path)
      let attempt = composer.attempt ?? state.requests.newID()
      state.submit(.send(view: composer.view, text: text, attempt: attempt), request)
      updateComposer(&state) { composer in
        composer = ComposeScreen(view: composer.view, editor: LineEditor())
      }
      showDraft(&state)
    } catch {
      updateComposer(&state) { composer in
        composer.error = error.message
        composer.isReturned = true
      }
    }
  }

  /// A sent record is stored: the cursor goes along with it.
  static func finishSending(
    _ state: inout AppState, _ id: AppRequestID, _ key: RunnelTree.Key?, inView view: Int
  ) {
    let sent = state.tabs.lists[view].sentRow(id)
    let isUnderCursor = state.tabs.lists[view].list.cursor == .row(sent)
    showComposed(
      &state, inView: view, composer(state)?.view == view ? composer(state)?.editor.text : nil)
    guard let key else { return }
    let row = Path(unchecked: state.tabs.lists[view].definition.source.path.keys + [key])
      .description
    if isUnderCursor || state.tabs.lists[view].content.indexPath(ofRow: row) == nil {
      Writing.goTo(&state, key, inView: view)
    }
    guard isUnderCursor, state.tabs.lists[view].list.cursor != .row(row) else { return }
    // What was typed for the record is not done to another one.
    let words = TypeAhead.letGoOfInputForRow(&state)
    if !words.isEmpty { state.say(.warning, "the new record is not shown here" + words) }
  }

  /// A record could not be sent: its text comes back into the line if nothing else is typed there.
  ///
  /// It is in the queue in any case, and what is typed next does not become a part of it.
  static func giveBack(
    _ state: inout AppState, _ id: AppRequestID, _ text: String, _ attempt: AppRequestID,
    inView view: Int, _ message: String
  ) {
    let sent = state.tabs.lists[view].sentRow(id)
    let isUnderCursor = state.tabs.lists[view].list.cursor == .row(sent)
    let dropped = isUnderCursor ? TypeAhead.letGoOfInputForRow(&state) : ""
    let isOpen = composer(state)?.view == view
    let isFree =
      isOpen ? composer(state)?.editor.isEmpty == true : state.tabs.lists[view].draft.isEmpty
    showComposed(&state, inView: view, isOpen ? composer(state)?.editor.text : nil)
    guard isFree else {
      let start = text.count > 40 ? text.prefix(40) + "…" : text[...]
      let words = "not sent: \(start): \(message) · it is kept\(dropped)"
      return state.say(.error, state.phrase(words, .syncOpen, "lists it"))
    }
    guard isOpen else {
      if !dropped.isEmpty {
        state.say(.error, "not sent: \(message)\(dropped) · the text is kept as a draft")
      }
      return state.tabs.lists[view].draft = text
    }
    updateComposer(&state) { composer in
      (composer.editor, composer.attempt, composer.isReturned) = (LineEditor(text), attempt, true)
    }
    showDraft(&state)
    updateComposer(&state) { $0.error = message + " · Enter tries again, typing begins anew" }
  }

  /// A refused message is sent again or dropped: it is not a draft besides, which would send it twice.
  static func forgetDraft(_ state: inout AppState, of purpose: WritePurpose) {
    guard case .send(let view, let text, _) = purpose, state.tabs.lists[view].draft == text else {
      return
    }
    state.tabs.lists[view].draft = ""
    guard composer(state)?.view == view else { return }
    updateComposer(&state) { $0 = ComposeScreen(view: view, editor: LineEditor()) }
    showDraft(&state)
  }

  private static func composer(_ state: AppState) -> ComposeScreen? {
    for case .compose(let composer) in state.layers { return composer }
    return nil
  }

  static func updateComposer(_ state: inout AppState, _ body: (inout ComposeScreen) -> Void) {
    for (index, layer) in state.layers.enumerated() {
      guard case .compose(var composer) = layer else { continue }
      composer.error = nil
      body(&composer)
      state.layers[index] = .compose(composer)
    }
  }

  /// Shows what is typed as a row of the list, or takes the row away if nothing is.
  static func showDraft(_ state: inout AppState) {
    for (index, layer) in state.layers.enumerated() {
      guard case .compose(var composer) = layer else { continue }
      composer.showDraft(in: &state)
      state.layers[index] = .compose(composer)
    }
  }

  /// Shows the records that are being sent in a view, and what is in the line; nil or nothing for none.
  static func showComposed(_ state: inout AppState, inView view: Int, _ text: String?) {
    let definition = state.tabs.lists[view].definition
    let sent = state.requests.newestSent(ListScreen.sentRowsMax, inView: view).compactMap {
      id, text in
      definition.record(composed: text, state.database.me).map { SentRecord(id: id, value: $0) }
    }
    let record = text.flatMap {
      $0.isEmpty ? nil : definition.record(composed: $0, state.database.me)
    }
    state.effects.append(.compose(view: view, sending: sent, record))
  }

  /// True while records that were composed in a view are being written.
  static func isSending(_ state: AppState, inView view: Int) -> Bool {
    state.requests.isSending(inView: view)
  }
}

extension ComposeScreen {
  /// Shows what is typed as a row of the list, or takes the row away if nothing is.
  mutating func showDraft(in state: inout AppState) {
    state.tabs.lists[view].draft = editor.text
    check(state.tabs.lists[view].definition, state.database.resources)
    ComposeScreen.showComposed(&state, inView: view, editor.text)
  }

  /// Says while it is typed what a resource will refuse.
  private mutating func check(_ definition: ViewDefinition, _ resources: ResourceBook) {
    guard let field = definition.compose, field.keys.count == 1, let key = field.keys.first,
      let resource = resources.registry.resource(ofChildrenOf: definition.source.path),
      let rule = resource.definition.schema.rule(of: key)
    else { return }
    var input = FieldInput(rule: rule, .string(editor.text))
    input.check()
    error = input.error
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
  package func record(
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
