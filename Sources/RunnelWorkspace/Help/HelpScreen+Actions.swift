import RunnelBase
import RunnelTerminal
import RunnelTree

// The help: every command of the place, with its keys and its disabled reason.

extension HelpScreen {
  static func openHelp(_ state: inout AppState) {
    if case .help? = state.layers.last { return }
    if Question.explainQuestion(&state) { return }
    let contexts = state.contexts
    let bindings = Commands.bindings(in: state)
    var known: Set<String> = []
    var entries: [HelpScreen.Entry] = []
    for context in contexts {
      for binding in bindings where binding.context == context {
        let keys = state.settings.keymap.keys(for: binding.action, in: [context]).joined(
          separator: " ")
        let entry = HelpScreen.Entry(
          binding: binding, keys: keys, refusal: state.disabledReason(binding.action))
        if known.insert(entry.id).inserted { entries.append(entry) }
      }
    }
    // They can be typed where the palette opens.
    if Commands.command(.paletteOpen, in: contexts) != nil {
      entries += PaletteCommand.all.map { HelpScreen.Entry($0, refusal: $0.disabledReason(state)) }
    }
    state.input.matcher.reset()
    state.layers.append(.help(HelpScreen(entries, of: placeName(state), height: helpHeight(state))))
    // The text field of the layer below is hidden now, which leaves more room.
    state.fitLayers()
  }

  /// The number of lines of the help that list commands.
  static func helpHeight(_ state: AppState) -> Int {
    HelpDrawing.list(in: state.layout.body).height
  }

  /// The name of the place that the help is about.
  private static func placeName(_ state: AppState) -> String {
    state.layers.last?.component.helpTitle ?? state.tabs.name(of: state.tabs.front)
  }

  /// Runs the command under the cursor of the help; a command after `:` is put into the palette, where its
  /// argument is typed.
  static func runFromHelp(_ state: inout AppState) {
    guard case .help(let screen)? = state.layers.last, let entry = screen.cursorEntry else {
      return
    }
    if let action = entry.action {
      if let refusal = state.disabledReason(action) { return state.say(.info, refusal) }
      state.closeLayer()
      return state.perform(action, count: nil)
    }
    guard let line = entry.line else { return }
    let command = PaletteCommand.named(line.trimmingBlanks)
    if let refusal = command?.disabledReason(state) { return state.say(.info, refusal) }
    state.closeLayer()
    PaletteScreen.openPalette(&state, typed: line)
  }
}
