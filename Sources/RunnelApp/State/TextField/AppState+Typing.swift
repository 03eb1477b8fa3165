import RunnelTerminal

// Text that is typed or pasted: it goes into the field with the keys, as a whole or not at all.

extension AppState {
  /// The field with the keys; nil if nothing is typed.
  var editorInFront: LineEditor? {
    get {
      switch layers.last {
      case .form(let form): form.fields[form.focus].input.editor
      case .record(let screen): screen.edit?.input.editor
      case .confirm(let question): question.word?.editor
      case .compose(let screen): screen.editor
      case .filter(let screen): screen.editor
      case .search(let screen): screen.editor
      case .help(let screen): screen.editor
      case .palette(let screen): screen.editor
      case .menu(let screen): screen.editor
      case .debug, .history, .compare, .queue, nil: nil
      }
    }
    set {
      guard let newValue, let last = layers.indices.last else { return }
      switch layers[last] {
      case .form(var form):
        form.fields[form.focus].input.editor = newValue
        layers[last] = .form(form)
      case .record(var screen):
        screen.edit?.input.editor = newValue
        layers[last] = .record(screen)
      case .confirm(var question):
        question.word?.editor = newValue
        layers[last] = .confirm(question)
      case .compose: updateComposer { $0.editor = newValue }
      case .filter(var screen):
        screen.editor = newValue
        layers[last] = .filter(screen)
      case .search(var screen):
        screen.editor = newValue
        layers[last] = .search(screen)
      case .help(var screen):
        screen.editor = newValue
        layers[last] = .help(screen)
      case .palette(var screen):
        screen.editor = newValue
        layers[last] = .palette(screen)
      case .menu(var screen):
        screen.editor = newValue
        layers[last] = .menu(screen)
      case .debug, .history, .compare, .queue: break
      }
    }
  }

  /// True if typed text has somewhere to go.
  var hasEditor: Bool { editorInFront != nil }

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
    case .confirm:
      editorInFront?.insert(text)
      editWord()
    case .compose: typeInComposer(text)
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
    case .debug, .history, .compare, .queue, nil: break
    }
  }

  // MARK: Pastes

  mutating func paste(_ text: String) {
    matcher.reset()
    awaited = nil
    guard let editor = editorInFront else { return pasteRecords(text) }
    insert(text)
    let lineEnds = editor.isMultiline ? 0 : text.count(where: \.isNewline)
    if lineEnds > 0, editorInFront?.overflow == nil {
      let what = lineEnds == 1 ? "a line end" : "\(lineEnds) line ends"
      say(.info, "\(what) of the paste became blanks: this field has one line")
    }
  }

  /// Says that more was pasted than is taken.
  mutating func refusePaste(of count: Int) {
    matcher.reset()
    awaited = nil
    say(
      .error,
      "not pasted: \(count) characters, \(InputEvent.pasteScalarsMax) are taken at most"
        + " · `runnel import` takes files of any size")
  }

  /// Says what the field with the keys had no room for.
  mutating func sayOverflow() {
    guard let overflow = editorInFront?.overflow else { return }
    editorInFront?.forgetOverflow()
    let what = overflow.count == 1 ? "a character does" : "\(overflow.count) characters do"
    let room = overflow.room == 0 ? "the field is full" : "there is room for \(overflow.room)"
    let message =
      "\(what) not fit, nothing of it was put in: \(room)"
      + " (\(LineEditor.characterCountMax) at most)"
    say(.error, message)
    switch layers.last {
    case .form(var form):
      form.fields[form.focus].input.error = message
      layers[layers.count - 1] = .form(form)
    case .record(var screen):
      screen.edit?.input.error = message
      layers[layers.count - 1] = .record(screen)
    case .compose: updateComposer { $0.error = message }
    default: break
    }
  }

  // MARK: Long texts

  /// Why a value is not edited in a line; nil if it is.
  func reasonTooLong(_ text: String) -> String? {
    guard LineEditor.isTooLong(text) else { return nil }
    return phrase(
      "too long to be edited here (\(text.count) characters, \(LineEditor.characterCountMax) at most)",
      .recordEditExternal, "opens it in your editor")
  }
}
