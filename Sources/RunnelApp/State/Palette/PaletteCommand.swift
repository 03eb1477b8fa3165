import RunnelTerminal
import RunnelTree

/// Something that is done by its name, with more words behind it: a row of the palette.
struct PaletteCommand: Sendable {
  /// What may stand behind the name.
  struct Choice: Hashable, Sendable {
    /// All that stands behind the name.
    var argument: String
    /// What else is to be said of it.
    var note = ""
    /// Whether it is what is in force now.
    var isChosen = false
    /// Why it cannot be chosen now; nil if it can.
    var refusal: String?
  }

  /// What the command takes behind its name.
  enum Argument: Sendable {
    /// Nothing.
    case none
    /// One of the choices: what is selected counts.
    case choice
    /// A text, for which the choices are proposals: what is typed counts.
    case text
  }

  let name: String
  /// What stands behind the name, in a word; empty for nothing.
  var hint = ""
  /// What it does, in a few words.
  let description: String
  var argument = Argument.none
  /// The reason why it is disabled; nil if it can be done.
  var disabledReason: Command.DisabledReason = { _ in nil }
  /// What may stand behind the name, given what does.
  var choices: @Sendable (AppState, _ argument: String) -> [Choice] = { _, _ in [] }
  /// Does it; returns what is wrong with what stands behind the name, if anything is.
  let run: @Sendable (inout AppState, _ argument: String) -> String?
}

extension PaletteCommand {
  /// All commands, in the order in which they are offered.
  static let all: [PaletteCommand] = [view, filter, sort, theme] + files

  /// The command with a name; nil if there is none.
  static func named(_ name: String) -> PaletteCommand? { all.first { $0.name == name } }

  private static let view = PaletteCommand(
    name: "view", hint: "NAME", description: "go to a view", argument: .choice,
    choices: { state, _ in
      state.tabs.enumerated().map { index, name in
        Choice(argument: name, note: "\(index + 1)", isChosen: index == state.active)
      }
    },
    run: { state, name in
      let wanted = name.lowercased()
      guard let tab = state.tabs.firstIndex(where: { $0.lowercased() == wanted }) else {
        return "there is no view called \(name)"
      }
      state.change(to: tab)
      return nil
    })

  private static let filter = PaletteCommand(
    name: "filter", hint: "TEXT", description: "show only the rows that fit; nothing shows all",
    argument: .text,
    disabledReason: {
      $0.isTree ? "the tree is not filtered" : $0.disabledReason(.filterEdit)
    },
    choices: { state, text in
      guard !state.isTree else { return [] }
      let completion = FilterCompletion(before: text, in: state.lists[state.active])
      let kept = text.dropLast(completion.wordLength)
      let ends = completion.candidates.map { Choice(argument: kept + $0) }
      let past = state.filterHistory.entries.reversed().filter { $0.hasPrefix(text) }
      return ends + past.map { Choice(argument: $0, note: "earlier") }
    },
    run: { state, text in
      do throws(FilterError) {
        let filter = try state.filter(text)
        state.filterHistory.add(text)
        state.show(filter.isEmpty ? nil : filter, inView: state.active)
        return nil
      } catch {
        return error.message
      }
    })

  private static let theme = PaletteCommand(
    name: "theme", hint: "NAME", description: "other colours; shown while they are selected",
    argument: .choice,
    choices: { state, _ in
      let custom = state.themes.map { ThemeChoice.custom($0) }
      return ThemeChoice.standard.map { Choice(argument: $0.name, isChosen: $0 == state.theme) }
        + custom.map { Choice(argument: $0.name, note: "yours", isChosen: $0 == state.theme) }
    },
    run: { state, name in
      guard let theme = ThemeChoice(name, custom: state.themes) else {
        return "there is no theme \(name)"
      }
      state.show(theme)
      return nil
    })
}

extension AppState {
  /// Draws in the colours of a theme, or in those of the configuration.
  mutating func show(_ theme: ThemeChoice?) {
    if self.theme == theme { return }
    self.theme = theme
    effects.append(.theme(theme))
  }
}
