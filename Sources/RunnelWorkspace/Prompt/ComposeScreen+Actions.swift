package import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// The line that composes a record. The typed text is shown in the list as a row that is not saved.

extension ComposeScreen {
  static func openComposer(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    takeUpDraft(&state)
    let draft = state.tabs.lists[view].line.draft
    var screen = ComposeScreen(view: view, editor: editor(draft))
    // The draft may be a refused text that came back.
    let refused = state.writes.queue.refused.map(\.purpose)
    let edited = state.writes.queue.edited.map(\.purpose)
    for case .send(view, screen.editor.text, let attempt) in refused + edited {
      screen.attempt = attempt
    }
    ListScreen.resume(&state, view)
    FilterScreen.fittingList(&state) { $0.layers.append(.compose(screen)) }
    ListScreen.goToLiveEnd(&state, ofView: view)
    showDraft(&state)
  }

  /// A text that is not sent, as a draft; nil if it is the draft of the list itself.
  static func draft(_ state: AppState, _ text: String, inView view: Int) -> Draft? {
    let screen = state.tabs.lists[view]
    if screen.line.draft == text || text.isEmpty { return nil }
    return Draft(
      Draft.Subject(.message, screen.definition.source.path),
      [Draft.Text("text", text, .string, base: "")])
  }

  /// Puts the oldest text that waits into an empty line: one that was refused before the program ended, or
  /// was typed in another window.
  private static func takeUpDraft(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    let subject = Draft.Subject(.message, state.tabs.lists[view].definition.source.path)
    var isTaken = false
    while state.tabs.lists[view].line.draft.isEmpty, let draft = state.writes.drafts.take(subject) {
      guard let text = draft.texts.first?.text else { continue }
      isTaken = true
      if let time = draft.time {
        state.tabs.lists[view].line.restore(text, time, draft.sentBefore)
        forgetStoredDraft(&state, inView: view)
      } else {
        state.tabs.lists[view].line.put(text)
      }
    }
    let rest = state.writes.drafts.all.count { $0.subject == subject }
    guard !state.tabs.lists[view].line.draft.isEmpty, isTaken || rest > 0 else { return }
    let more = rest == 0 ? "" : "; \(rest) more after it"
    state.say(.info, draftWords + more)
  }

  /// What is said of a draft in the line.
  private static let draftWords = "this is your draft"

  /// Leaves the line; the typed text is kept as a draft.
  static func cancelComposer(_ state: inout AppState) {
    guard case .compose(let composer)? = state.layers.last else { return }
    if !composer.editor.isEmpty {
      state.say(
        .info,
        state.session.wordsForDraft
          + KeyText.listKeys(state).hint(.recordAdd, "goes on with it", after: ": "))
    }
    state.closeLayer()
    showComposed(&state, inView: composer.view, nil)
  }

  static func sendComposed(_ state: inout AppState) {
    if case .compose(let composer)? = state.layers.last { send(&state, composer) }
  }

  /// Requests the write of the composed record, and frees the line for the next one.
  private static func send(_ state: inout AppState, _ composer: ComposeScreen) {
    let definition = state.tabs.lists[composer.view].definition
    guard !composer.editor.isEmpty,
      let record = definition.record(composed: composer.editor.text, state.database.me)
    else { return }
    let text = composer.editor.text
    state.tabs.lists[composer.view].line.sent.add(text)
    do throws(Refusal) {
      let request = try state.database.resources.adding(record, to: definition.source.path)
      let attempt = composer.attempt ?? state.requests.newID()
      if !isSending(state, inView: composer.view) {
        state.tabs.lists[composer.view].line.sentBefore.since =
          state.tabs.lists[composer.view].line.draftTime ?? state.now
      }
      // The line holds a draft no longer.
      if state.toast?.toast.text.hasPrefix(draftWords) == true { state.toast = nil }
      state.submit(.send(view: composer.view, text: text, attempt: attempt), request)
      updateComposer(&state) { composer in
        composer = ComposeScreen(view: composer.view, editor: ComposeScreen.editor())
      }
      showDraft(&state)
    } catch {
      updateComposer(&state) { composer in
        composer.error = error.message
        composer.isReturned = true
      }
    }
  }

  /// Ends the sending of a record that was stored; the cursor moves to the stored row.
  static func finishSending(
    _ state: inout AppState, _ id: AppRequestID, _ key: RunnelTree.Key?, _ text: String,
    inView view: Int
  ) {
    let sent = state.tabs.lists[view].sentRow(id)
    let isUnderCursor = state.tabs.lists[view].list.cursor == .row(sent)
    let isAwaited =
      key.map { ListScreen.awaits(&state, $0, AwaitedRow.Sent(id: id, text: text), inView: view) }
      ?? false
    showComposedAgain(&state, inView: view)
    guard let key else { return }
    if isAwaited {
      state.tabs.lists[view].line.sentBefore.note(key)
      return state.say(.info, state.database.addedWords)
    }
    state.tabs.lists[view].line.sentBefore.note(key)
    let row = Record.id(
      of: Path(unchecked: state.tabs.lists[view].definition.source.path.keys + [key]))
    if isUnderCursor || state.tabs.lists[view].content.indexPath(ofRow: row) == nil {
      Writing.goTo(&state, key, inView: view)
    }
    guard isUnderCursor, state.tabs.lists[view].list.cursor != .row(row) else { return }
    // Input that waited for the record must not act on another one.
    let words = TypeAhead.letGoOfInputForRow(&state)
    if !words.isEmpty { state.say(.warning, "the new record is not shown here" + words) }
  }

  /// Handles a record that could not be sent: its text returns to the line if nothing else is typed
  /// there.
  ///
  /// The record is in the queue in any case, and text typed next does not become a part of it.
  static func giveBack(
    _ state: inout AppState, _ id: AppRequestID, _ text: String, _ attempt: AppRequestID,
    inView view: Int, _ refusal: Refusal
  ) {
    let message = refusal.message
    let sent = state.tabs.lists[view].sentRow(id)
    let isUnderCursor = state.tabs.lists[view].list.cursor == .row(sent)
    let dropped = isUnderCursor ? TypeAhead.letGoOfInputForRow(&state) : ""
    let isOpen = composer(state)?.view == view
    let isFree =
      isOpen ? composer(state)?.editor.isEmpty == true : state.tabs.lists[view].line.draft.isEmpty
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
      state.tabs.lists[view].line.put(text)
      return
    }
    // Once the file is gone, nothing more is sent: the text stays, to be edited or copied.
    let isGone = refusal.cause == .fileGone
    updateComposer(&state) { composer in
      composer.editor = ComposeScreen.editor(text)
      (composer.attempt, composer.isReturned) = (attempt, !isGone)
    }
    showDraft(&state)
    let words =
      isGone
      ? "not written, the file is gone · the text stays here"
      : message + " · Enter tries again, typing begins anew"
    updateComposer(&state) { $0.error = words }
  }

  /// Puts a text back into its line that the user does not want to send now; it is a draft, and in no queue.
  static func putBack(
    _ state: inout AppState, _ text: String, _ attempt: AppRequestID, inView view: Int
  ) {
    showComposedAgain(&state, inView: view)
    if let composer = composer(state), composer.view == view, composer.editor.isEmpty {
      updateComposer(&state) { composer in
        (composer.editor, composer.attempt) = (editor(text), attempt)
      }
      showDraft(&state)
    } else if state.tabs.lists[view].line.draft.isEmpty {
      state.tabs.lists[view].line.put(text)
    } else if let draft = draft(state, text, inView: view) {
      Drafts.keep(&state, draft, again: nil)
    }
  }

  /// Drops the draft with the text of a refused message that is sent again or dropped; otherwise it
  /// could be sent twice.
  static func forgetDraft(_ state: inout AppState, of purpose: WritePurpose) {
    guard case .send(let view, let text, _) = purpose, state.tabs.lists[view].line.draft == text
    else {
      return
    }
    state.tabs.lists[view].line.clear()
    guard composer(state)?.view == view else { return }
    updateComposer(&state) { $0 = ComposeScreen(view: view, editor: ComposeScreen.editor()) }
    showDraft(&state)
  }

  private static func composer(_ state: AppState) -> ComposeScreen? {
    for case .compose(let composer) in state.layers { return composer }
    return nil
  }

  static func updateComposer(_ state: inout AppState, _ body: (inout ComposeScreen) -> Void) {
    FilterScreen.fittingList(&state) { state in
      for (index, layer) in state.layers.enumerated() {
        guard case .compose(var composer) = layer else { continue }
        composer.error = nil
        body(&composer)
        state.layers[index] = .compose(composer)
      }
    }
  }

  /// Returns a field of several lines with a text.
  static func editor(_ text: String = "") -> LineEditor { LineEditor(text, isMultiline: true) }

  /// Shows the typed text as a row of the list, or removes the row if there is no text.
  static func showDraft(_ state: inout AppState) {
    for (index, layer) in state.layers.enumerated() {
      guard case .compose(var composer) = layer else { continue }
      composer.showDraft(in: &state)
      state.layers[index] = .compose(composer)
    }
  }

  /// Shows the records that are being sent in a view, and the text in the line; nil or an empty
  /// text for none.
  static func showComposed(_ state: inout AppState, inView view: Int, _ text: String?) {
    let definition = state.tabs.lists[view].definition
    // New records of a service keep their rows until they are among those that wait, or have got their ids.
    let waiting = state.writes.queue.places
    let awaited = state.tabs.lists[view].passing.awaited.compactMap { row in
      let isShown = definition.source.putsNewLast && waiting.touch(row.first)
      return row.hasID || isShown ? nil : row.sent.map { (id: $0.id, text: $0.text) }
    }
    let lines = awaited + state.requests.newestSent(ListScreen.sentRowsMax, inView: view)
    let sent = lines.suffix(ListScreen.sentRowsMax).compactMap { id, text in
      definition.record(composed: text, state.database.me).map { SentRecord(id: id, value: $0) }
    }
    let record = text.flatMap {
      $0.isEmpty ? nil : definition.record(composed: $0, state.database.me)
    }
    let isNamed = definition.showsUser(onScreenOf: state.size.columns)
    let typing = state.tabs.lists[view].passing.typing.compactMap { person in
      let words = isNamed ? TypingPerson.words : "\(person.name) \(TypingPerson.words)"
      return definition.record(composed: words, person.name).map {
        TypingRow(key: ListScreen.typingKey(person.id), value: $0)
      }
    }
    state.effects.append(.compose(view: view, sending: sent, record, typing: typing))
  }

  /// Shows again what is being sent and composed in a view, here and by others.
  static func showComposedAgain(_ state: inout AppState, inView view: Int) {
    let composer = composer(state)
    showComposed(&state, inView: view, composer?.view == view ? composer?.editor.text : nil)
  }

  /// Returns whether composed records of a view are being written.
  static func isSending(_ state: AppState, inView view: Int) -> Bool {
    state.requests.isSending(inView: view)
  }
}

extension ComposeScreen {
  /// Shows the typed text as a row of the list, or removes the row if there is no text.
  mutating func showDraft(in state: inout AppState) {
    if state.tabs.lists[view].line.draft != editor.text {
      state.tabs.lists[view].line.type(editor.text, now: state.now)
    }
    check(state.tabs.lists[view].definition, state.database.resources)
    ComposeScreen.showComposed(&state, inView: view, editor.text)
  }

  /// Checks the text against the resource while it is typed, and shows the error.
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
  /// Whether a column on a screen of a width shows the field that new records have the user's name in.
  fileprivate func showsUser(onScreenOf width: Int) -> Bool {
    let own = template.filter { $0.value == .string("$me") }.map { FieldPath.path($0.path) }
    return columns.contains { $0.minimumScreen <= width && own.contains($0.field) }
  }

  /// Returns a new record with a text in the composed field, or nil if the view has no such field.
  fileprivate func record(composed text: String, _ me: String) -> JSONValue? {
    compose.map { record(filledWith: [(path: $0, value: .string(text))], me: me) }
  }

  /// Returns a new record: the template with the user's name, and the given values.
  ///
  /// In a form, the user saw the fields of the template, so fields without a value stay empty.
  package func record(
    filledWith values: [(path: Path, value: JSONValue)], me: String, isForm: Bool = false
  ) -> JSONValue {
    if let only = values.first, values.count == 1, only.path.isRoot {
      // A value without fields stands alone, and so does a server value.
      guard let own = only.value.object, !own.isEmpty,
        !own.contains(where: { $0.name.hasPrefix(".") })
      else { return only.value }
      let fields = own.map { member in
        (path: Path(unchecked: [RunnelTree.Key(unchecked: member.name)]), value: member.value)
      }
      return record(filledWith: fields, me: me, isForm: isForm)
    }
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
  /// Puts a value at a path of names, creating the objects above it.
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
