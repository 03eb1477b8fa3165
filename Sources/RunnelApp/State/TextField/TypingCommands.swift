import RunnelTerminal

/// The commands of whatever is typed into.
///
/// What accepting, cancelling and going to another field do is said by the table of the component in
/// front, which is the inner one.
enum TypingCommands {
  static let input = CommandTable(.input, "While typing") {
    accept
    cancel
    // Where there is nothing to save besides, it accepts.
    Command(.formSave, "save", "save", keys: ["C-s"]) { state, count in
      state.perform(.inputAccept, count: count)
    }
    GlobalCommands.suspend.inner(keys: ["C-z"])
    GlobalCommands.redraw.inner(keys: ["C-l"])
    GlobalCommands.help.inner("help", "help", keys: ["F1", "C-x ?"])
  }

  static let accept = Command(.inputAccept, "accept", "accept", keys: ["Enter"]) { _, _ in }
  static let cancel = Command(
    .inputCancel, "cancel", "cancel", keys: ["Esc", "C-g", "C-c"]
  ) { _, _ in }

  static let fields = CommandTable(.fields, "Between fields") {
    fieldNext
    fieldPrevious
    fieldType
  }

  static let fieldNext = Command(.fieldNext, "next field", "next field", keys: ["Tab"]) { _, _ in }
  static let fieldPrevious = Command(
    .fieldPrevious, "previous field", "previous field", keys: ["S-Tab"]
  ) { _, _ in }
  static let fieldType = Command(
    .fieldType, "type", "change the type of the field", keys: ["F2", "C-x C-t"]
  ) { _, _ in }

  // MARK: Text

  static let textField = CommandTable(.textField, "Editing text") { text }

  /// What a text field does itself, from its own table of keys.
  private static let text: [Command] = {
    var commands: [Command] = []
    for binding in TextFieldBindings.all where commands.last?.id != binding.action {
      let id = binding.action
      let keys = TextFieldBindings.all.filter { $0.action == id }.map(\.keys)
      commands.append(
        Command(id, binding.description, binding.description, keys: keys) { state, _ in
          state.editText(id)
        })
    }
    return commands
  }()

  /// The commands that go up and down in a text, where they go somewhere else.
  static func vertical(_ run: @escaping @Sendable (inout AppState, ActionID) -> Void) -> [Command] {
    text.filter { $0.id == .inputPrevious || $0.id == .inputNext }.map { command in
      command.inner { state, _ in run(&state, command.id) }
    }
  }
}

extension AppState {
  /// Changes the text of the field with the keys as a text field does.
  mutating func editText(_ id: ActionID) {
    switch layers.last {
    case .form:
      changeForm { form in
        _ = form.fields[form.focus].input.editor.perform(id)
        form.fields[form.focus].input.check()
        form.followFormat()
      }
    case .record:
      changeEdit { edit in
        _ = edit.input.editor.perform(id)
        edit.input.check()
      }
    case .confirm: editWord(id)
    case .compose: editComposer(id)
    case .filter:
      _ = editorInFront?.perform(id)
      refilter()
    case .search:
      let old = editorInFront?.text
      _ = editorInFront?.perform(id)
      if editorInFront?.text != old { searchWhileTyping() }
    case .help: editHelp(id)
    case .palette: editPalette(id)
    case .menu: editMenu(id)
    case .debug, .history, .compare, .queue, nil: break
    }
  }
}
