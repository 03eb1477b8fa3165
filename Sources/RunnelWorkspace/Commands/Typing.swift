import RunnelTerminal

// Typed and pasted text. It goes into the field that has the keys, as a whole or not at all.

/// Puts typed and pasted text into text fields.
enum Typing {
  // MARK: Pastes

  static func paste(_ state: inout AppState, _ text: String) {
    state.input.matcher.reset()
    state.input.awaited = nil
    guard let editor = state.editorInFront else { return Importing.pasteRecords(&state, text) }
    state.insert(text)
    let lineEnds =
      editor.isMultiline ? 0 : text.withoutLineEndsAtEnd.count(where: \.isNewline)
    if lineEnds > 0, state.editorInFront?.overflow == nil {
      let what = lineEnds == 1 ? "a line end" : "\(lineEnds) line ends"
      state.say(.info, "\(what) of the paste became blanks: this field has one line")
    }
  }

  /// Says that a paste was longer than is accepted.
  static func refusePaste(_ state: inout AppState, of count: Int) {
    state.input.matcher.reset()
    state.input.awaited = nil
    state.say(
      .error,
      "not pasted: \(count) characters, \(InputEvent.pasteScalarsMax) are taken at most"
        + " · `runnel import` takes JSON of any size, `runnel push --lines` lines of JSON")
  }

  /// Says how much text did not fit into the field that has the keys.
  static func sayOverflow(_ state: inout AppState) {
    guard let overflow = state.editorInFront?.overflow else { return }
    let what = overflow.count == 1 ? "a character does" : "\(overflow.count) characters do"
    let room = overflow.room == 0 ? "the field is full" : "there is room for \(overflow.room)"
    let message =
      "\(what) not fit, nothing of it was put in: \(room)"
      + " (\(LineEditor.characterCountMax) at most)"
    state.say(.error, message)
    state.changeTop { component, _ in
      component.textField?.forgetOverflow()
      component.showError(message)
    }
  }

  // MARK: Long texts

  /// The reason why a value is too long to be edited in a line, or nil if it is not.
  static func reasonTooLong(_ state: AppState, _ text: String) -> String? {
    guard LineEditor.isTooLong(text) else { return nil }
    return state.phrase(
      "too long to be edited here (\(text.count) characters, \(LineEditor.characterCountMax) at most)",
      .recordEditExternal, "opens it in your editor")
  }
}
