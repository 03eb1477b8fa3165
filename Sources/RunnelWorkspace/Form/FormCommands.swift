import RunnelTerminal

/// The commands of a form, which has the keys of text fields.
package enum FormCommands {
  package static let table = CommandTable(
    .form, "In this form", over: [.fields] + .belowText, hints: hints
  ) {
    TypingCommands.accept.inner { state, _ in FormScreen.acceptFormField(&state) }
    Command(.formSave, "save", "save", needs: .nothing) { state, _ in FormScreen.saveForm(&state) }
    TypingCommands.cancel.inner { state, _ in FormScreen.cancelForm(&state) }
    TypingCommands.fieldNext.inner { state, _ in
      FormScreen.changeForm(&state) { form in
        if form.fields[form.focus].input.takeChoice() { return form.followFormat() }
        form.moveFocus(by: 1)
      }
    }
    TypingCommands.fieldPrevious.inner { state, _ in
      FormScreen.changeForm(&state) { $0.moveFocus(by: -1) }
    }
    TypingCommands.fieldType.inner(disabled: { FormScreen.reasonKindNotChanged($0) }) { state, _ in
      FormScreen.changeForm(&state) { form in
        form.fields[form.focus].input.changeKind()
        form.followFormat()
      }
    }
    TypingCommands.vertical { state, id in
      FormScreen.changeForm(&state) { form in
        // Within a text of several lines, the cursor goes from line to line.
        if form.fields[form.focus].input.editor.perform(id) { return }
        form.moveFocus(by: id == .inputNext ? 1 : -1)
      }
    }
  }

  @Sendable
  private static func hints(_ state: AppState, _: AtHand) -> [CommandHint] {
    guard case .form(let form)? = state.layers.last else { return [] }
    return form.hints
  }
}

extension FormScreen {
  /// The hints of the form, in its box and in the line of hints: on the last field, the key that goes
  /// on is the one that saves.
  var hints: [CommandHint] {
    if focus == fields.count - 1 {
      return [CommandHint(.inputAccept, doneWord), CommandHint(.inputCancel)]
    }
    return [
      CommandHint(.inputAccept, "next"), CommandHint(.formSave, doneWord),
      CommandHint(.inputCancel),
    ]
  }
}
