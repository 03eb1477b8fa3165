import RunnelTerminal

/// The commands of text fields.
///
/// The table of the component in front is the inner one. It defines what accepting, canceling and
/// going to another field do.
package enum TypingCommands {
  package static let input = CommandTable(.input, "While typing", over: [.textField]) {
    accept
    cancel
    // If there is nothing else to save, this accepts the text.
    Command(.formSave, "save", "save", keys: ["C-s"], needs: .nothing) { state, count in
      state.perform(.inputAccept, count: count)
    }
    GlobalCommands.suspend.inner(keys: ["C-z"])
    GlobalCommands.redraw.inner(keys: ["C-l"])
    GlobalCommands.help.inner("help", "help", keys: ["F1", "C-x ?"])
  }

  static let accept = Command(.inputAccept, "accept", "accept", keys: ["Enter"], needs: .nothing) {
    _, _ in
  }
  package static let cancel = Command(
    .inputCancel, "cancel", "cancel", keys: ["Esc", "C-g", "C-c"], needs: .nothing
  ) { _, _ in }

  package static let fields = CommandTable(.fields, "Between fields", over: .belowText) {
    fieldNext
    fieldPrevious
    fieldType
    Command(
      .draftDrop, "begin anew", "take back all that was typed here", keys: ["M-r", "C-x C-u"],
      needs: .nothing,
      disabled: { Drafts.reasonNothingTyped($0) }
    ) { state, _ in Drafts.beginAnew(&state) }
    CalendarCommands.open
  }

  static let fieldNext = Command(
    .fieldNext, "next field", "next field", keys: ["Tab"], needs: .nothing
  ) { _, _ in }
  static let fieldPrevious = Command(
    .fieldPrevious, "previous field", "previous field", keys: ["S-Tab"], needs: .nothing
  ) { _, _ in }
  static let fieldType = Command(
    .fieldType, "type", "change the type of the field", keys: ["F2", "C-x C-t"], needs: .nothing
  ) { _, _ in }

  /// The hints of a field: the commands that help to fill it in.
  static func hints(of input: FieldInput) -> [CommandHint] {
    if input.editor.isSecret { return [CommandHint(.inputReveal, "show")] }
    return CalendarCommands.hints(of: input)
      + [CommandHint(.fieldType, input.choices.isEmpty ? nil : "choose")]
  }

  // MARK: Text

  static let textField = CommandTable(.textField, "Editing text", over: []) { text }

  /// The commands of the text field itself, made from its own table of keys.
  private static let text: [Command] = {
    var commands: [Command] = []
    for binding in TextFieldBindings.all where commands.last?.id != binding.action {
      let id = binding.action
      let keys = TextFieldBindings.all.filter { $0.action == id }.map(\.keys)
      commands.append(
        Command(id, binding.description, binding.description, keys: keys, needs: .nothing) {
          state, _ in
          state.editText(id)
        })
    }
    return commands
  }()

  /// The commands that go up and down in a text, with another effect.
  static func vertical(_ run: @escaping @Sendable (inout AppState, ActionID) -> Void) -> [Command] {
    text.filter { $0.id == .inputPrevious || $0.id == .inputNext }.map { command in
      command.inner { state, _ in run(&state, command.id) }
    }
  }
}
