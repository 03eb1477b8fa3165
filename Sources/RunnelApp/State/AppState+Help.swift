import RunnelBase
import RunnelTerminal
import RunnelTree

// The help: every action of the place, with its keys, and why it cannot be done if that is so.

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
          binding: binding, keys: keys, refusal: reasonOff(binding.action))
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

  mutating func performInHelp(_ action: ActionID, count: Int?) {
    guard case .help(var screen)? = layers.last else { return }
    let height = helpHeight
    switch action {
    case .stepBack, .inputCancel: return closeLayer()
    case .rowOpen, .inputAccept: return runFromHelp(screen)
    case .helpWrite: return openExport(.markdown, file: "keys.md")
    default:
      let old = screen.editor.text
      if !AppState.move(&screen.list, screen.content, height, action, count),
        screen.editor.perform(action), screen.editor.text != old
      {
        screen.narrow(height: height)
      }
    }
    layers[layers.count - 1] = .help(screen)
  }

  private mutating func runFromHelp(_ screen: HelpScreen) {
    guard let entry = screen.cursorEntry else { return }
    if let refusal = reasonOff(entry.binding.action) { return say(.info, refusal) }
    closeLayer()
    perform(entry.binding.action, count: nil)
  }

  /// Narrows the help.
  mutating func typeInHelp(_ text: String) {
    guard case .help(var screen)? = layers.last else { return }
    screen.editor.insert(text)
    screen.narrow(height: helpHeight)
    layers[layers.count - 1] = .help(screen)
  }
}
