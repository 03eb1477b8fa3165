import RunnelTerminal

/// The commands of a form: it takes the keys of text fields.
enum FormCommands {
  static let table = CommandTable(.form, "In this form", hints: hints) {
    TypingCommands.accept.inner { state, _ in state.acceptFormField() }
    Command(.formSave, "save", "save") { state, _ in state.saveForm() }
    TypingCommands.cancel.inner { state, _ in state.closeLayer() }
    TypingCommands.fieldNext.inner { state, _ in state.changeForm { $0.moveFocus(by: 1) } }
    TypingCommands.fieldPrevious.inner { state, _ in state.changeForm { $0.moveFocus(by: -1) } }
    TypingCommands.fieldType.inner { state, _ in
      state.changeForm { form in
        form.fields[form.focus].input.changeKind()
        form.followFormat()
      }
    }
    TypingCommands.vertical { state, id in
      state.changeForm { $0.moveFocus(by: id == .inputNext ? 1 : -1) }
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.formSave), CommandHint(.inputCancel)]
  }
}
