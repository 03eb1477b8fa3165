import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Forms and questions.

extension AppState {
  // MARK: Forms

  mutating func performInForm(_ action: ActionID) {
    guard case .form(var form)? = layers.last else { return }
    switch action {
    case .inputCancel: return closeLayer()
    case .fieldNext, .inputNext: form.moveFocus(by: 1)
    case .fieldPrevious, .inputPrevious: form.moveFocus(by: -1)
    case .fieldType:
      form.fields[form.focus].input.changeKind()
      form.followFormat()
    case .inputAccept where form.focus < form.fields.count - 1: form.moveFocus(by: 1)
    case .inputAccept, .formSave:
      if save(&form) { return closeLayer() }
    default:
      _ = form.fields[form.focus].input.editor.perform(action)
      form.fields[form.focus].input.check()
      form.followFormat()
    }
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
    case .deleteMarked(let paths, let word):
      guard values.first?.value == .string(word) else {
        return form.refuse(0, "type `\(word)` to delete them, or \(cancelKeys)")
      }
      delete(paths)
      return true
    }
  }

  /// Asks for the write of a form; if it is refused before, its fields say why, and it is false.
  mutating func submit(
    _ form: inout FormScreen, _ make: (ResourceBook) throws(Refusal) -> WriteRequest
  ) -> Bool {
    do throws(Refusal) {
      let request = try make(resources)
      form.attempt = form.attempt ?? lastWrite + 1
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
    guard let parent = place.parent, let children = tree.expanded[parent] else { return false }
    return children.rows.contains { $0.key == place.lastKey }
  }

  // MARK: Questions

  /// Asks before a node is removed.
  mutating func confirmRemoval(of path: Path, _ summary: NodeSummary) {
    if refusesWriting() { return }
    let size =
      switch summary.kind {
      case .children(let count): count == 1 ? "1 child" : "\(count) children, and all below them"
      case .leaf(let leaf): leaf.json.jsonText()
      case .empty: "nothing"
      }
    var message = [StyledLine(path.description), StyledLine(size, .muted)]
    if let warning = resources.warning(onRemovalOf: path) {
      message.append(StyledLine(warning, .warn))
    }
    let dialog = ConfirmDialog(
      title: "Delete", message: message,
      hints: [hint(.dialogYes, "delete"), hint(.dialogNo, "keep")].compactMap(\.self),
      isDanger: true)
    layers.append(.confirm(ConfirmScreen(dialog: dialog, paths: [path], openedAt: now)))
  }

  private mutating func remove(_ path: Path) {
    do throws(Refusal) {
      submit(.delete(path), try resources.removing(path))
    } catch {
      say(.error, error.message)
    }
  }

  func hint(_ action: ActionID, _ words: String) -> Hint? {
    keymap.firstKeys(for: action, in: [.confirm]).map { Hint($0, words) }
  }

  mutating func performInConfirm(_ action: ActionID) {
    guard case .confirm(let question)? = layers.last else { return }
    switch action {
    case .dialogYes:
      // A key that was struck before the question could be read is no answer to it.
      guard now - question.openedAt >= ConfirmScreen.graceMilliseconds else { return }
      closeLayer()
      if let plan = question.plan { return startImport(plan) }
      if let number = question.drops { return drop(number) }
      if let id = question.dropsPending { return drop(pending: id) }
      if refusesWriting() { return }
      if let path = question.paths.first, question.paths.count == 1 { return remove(path) }
      delete(question.paths)
    case .dialogNo: closeLayer()
    default: break
    }
  }

  // MARK: Text

  /// True if typed text has somewhere to go.
  var hasEditor: Bool {
    switch layers.last {
    case .form, .compose, .filter, .search, .help, .palette, .menu: true
    case .record(let screen): screen.edit != nil
    case .confirm, .debug, .history, .compare, .queue, nil: false
    }
  }

  /// Puts typed or pasted text into the field with the keys.
  mutating func insert(_ text: String) {
    switch layers.last {
    case .form(var form):
      form.fields[form.focus].input.editor.insert(text)
      form.fields[form.focus].input.check()
      form.followFormat()
      layers[layers.count - 1] = .form(form)
    case .record(var screen):
      screen.edit?.input.editor.insert(text)
      screen.edit?.input.check()
      layers[layers.count - 1] = .record(screen)
    case .compose:
      updateComposer { $0.editor.insert(text) }
      showDraft()
    case .filter(var screen):
      screen.editor.insert(text)
      screen.candidates = []
      layers[layers.count - 1] = .filter(screen)
      refilter()
    case .search(var screen):
      screen.editor.insert(text)
      layers[layers.count - 1] = .search(screen)
      searchWhileTyping()
    case .palette: typeInPalette(text)
    case .menu: typeInMenu(text)
    case .help: typeInHelp(text)
    case .confirm, .debug, .history, .compare, .queue, nil: break
    }
  }
}
