import RunnelBase
import RunnelTerminal
import RunnelTree

// The help: every command of the place, with its keys, and why it cannot be done if that is so.

extension AppState {
  mutating func openHelp() {
    if case .help? = layers.last { return }
    if explainQuestion() { return }
    let contexts = contexts
    let bindings = keymap.bindings(for: contexts)
    var known: Set<String> = []
    var entries: [HelpScreen.Entry] = []
    for context in contexts {
      for binding in bindings where binding.context == context {
        let keys = keymap.keys(for: binding.action, in: [context]).joined(separator: " ")
        let entry = HelpScreen.Entry(
          binding: binding, keys: keys, refusal: disabledReason(binding.action))
        if known.insert(entry.id).inserted { entries.append(entry) }
      }
    }
    matcher.reset()
    layers.append(.help(HelpScreen(entries, of: placeName, height: helpHeight)))
    // What was typed in below is not seen now, which leaves more room.
    fitLayers()
  }

  /// How many lines of the help show actions.
  var helpHeight: Int { HelpDrawing.list(in: layout.body).height }

  /// What the help calls the place that it is about.
  private var placeName: String {
    switch layers.last {
    case .record(let screen): screen.path.description
    case .form(let form): form.title
    default: tabs[active]
    }
  }

  /// Runs the command under the cursor of the help.
  mutating func runFromHelp() {
    guard case .help(let screen)? = layers.last, let entry = screen.cursorEntry else { return }
    if let refusal = disabledReason(entry.binding.action) { return say(.info, refusal) }
    closeLayer()
    perform(entry.binding.action, count: nil)
  }

  /// Changes what narrows the help as a text field does.
  mutating func editHelp(_ id: ActionID) {
    guard case .help(var screen)? = layers.last else { return }
    let old = screen.editor.text
    if screen.editor.perform(id), screen.editor.text != old { screen.narrow(height: helpHeight) }
    layers[layers.count - 1] = .help(screen)
  }

  /// Narrows the help.
  mutating func typeInHelp(_ text: String) {
    guard case .help(var screen)? = layers.last else { return }
    screen.editor.insert(text)
    screen.narrow(height: helpHeight)
    layers[layers.count - 1] = .help(screen)
  }
}
