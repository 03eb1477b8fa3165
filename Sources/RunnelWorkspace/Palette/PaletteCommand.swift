import RunnelTerminal
import RunnelTree

/// A command after `:`: it is run by its name followed by an argument.
///
/// Each fact about it is defined only here, for the palette, the help and the manual. If a command with
/// keys does the same after asking for the argument, title and disabled reason are defined there.
package struct PaletteCommand: Sendable {
  /// A choice for the argument.
  package struct Choice: Hashable, Sendable {
    /// The argument.
    var argument: String
    /// Another name by which it is found; empty for none.
    var name = ""
    /// A note about the choice.
    package var note = ""
    /// Whether the choice is in force now.
    var isChosen = false
    /// The reason why it cannot be chosen now, or nil if it can.
    package var refusal: String?

    package init(
      argument: String, name: String = "", note: String = "", isChosen: Bool = false,
      refusal: String? = nil
    ) {
      self.argument = argument
      self.name = name
      self.note = note
      self.isChosen = isChosen
      self.refusal = refusal
    }
  }

  /// The kind of argument that a command takes.
  package enum Argument: Sendable {
    /// No argument.
    case none
    /// One of the choices: the selected one is taken.
    case choice
    /// A text with choices as proposals: the typed text is taken.
    case text
    /// A text that may be left out.
    case optionalText
  }

  package let name: String
  /// The name of the argument, as a word; empty for none.
  var hint = ""
  /// The command with keys that does the same, or nil if there is none.
  var key: ActionID?
  /// The title, if no command with keys does the same.
  var ownTitle = ""
  /// A description in one line.
  package let description: String
  var argument = Argument.none
  /// The tabs in which the command can run.
  var tabs = TabScope.any
  /// The reason why the command is disabled besides that of the command with keys; nil if there is none.
  var ownReason: Command.DisabledReason = { _ in nil }
  /// The function that returns the choices for the argument typed so far.
  var choices: @Sendable (AppState, _ argument: String) -> [Choice] = { _, _ in [] }
  /// Runs the command; returns the error in the argument, or nil.
  package let run: @Sendable (inout AppState, _ argument: String) -> String?
}

extension PaletteCommand {
  /// The heading of these commands in the help and in the manual.
  package static let sectionTitle = "Commands after :"

  /// A title of a word or two.
  package var title: String { keyed?.title ?? ownTitle }

  /// The name and the arguments, as they are typed.
  package var usage: String { hint.isEmpty ? ":\(name)" : ":\(name) \(hint)" }

  /// The line of the help and of the manual: the description, after the title if that says something else.
  package var help: String {
    title == name || description.hasPrefix(title) ? description : "\(title): \(description)"
  }

  /// The command with keys that does the same, as the first table has it; nil if there is none.
  var keyed: Command? { key.flatMap { id in Commands.tables.lazy.compactMap { $0[id] }.first } }

  /// Returns the reason why the command is disabled, or nil if it can run; if a palette, a menu or the
  /// help is in front, it asks for the place below.
  func disabledReason(_ state: AppState) -> String? {
    if let layer = state.layers.last, layer.component.offersCommandsBelow {
      return disabledReason(state.below)
    }
    if let reason = tabs.reason(state) ?? ownReason(state) { return reason }
    let command = key.flatMap { Commands.command($0, in: state.contexts) } ?? keyed
    return command?.disabledReason(state)
  }

  /// All commands, in the order in which they are offered.
  package static let all: [PaletteCommand] =
    [view, filter, sort, group, go, saveView, theme] + files + [callMethod]

  /// Returns the command with a name, or nil if there is none.
  package static func named(_ name: String) -> PaletteCommand? { all.first { $0.name == name } }

  private static let view = PaletteCommand(
    name: "view", hint: "NAME", ownTitle: "view", description: "go to a view", argument: .choice,
    choices: { state, _ in
      state.tabs.names.enumerated().map { index, name in
        Choice(argument: name, note: "\(index + 1)", isChosen: index == state.tabs.position)
      }
    },
    run: { state, name in
      let wanted = name.lowercased()
      guard let tab = state.tabs.names.firstIndex(where: { $0.lowercased() == wanted }) else {
        return "there is no view called \(name)"
      }
      Input.change(&state, to: state.tabs.tab(atPosition: tab))
      return nil
    })

  private static let filter = PaletteCommand(
    name: "filter", hint: "TEXT", key: .filterEdit,
    description: "show only the rows that fit; nothing shows all", argument: .text,
    tabs: .lists(else: "the tree is not filtered"),
    choices: { state, text in
      guard let list = state.tabs.frontList else { return [] }
      let completion = FilterCompletion(before: text, in: list)
      let kept = text.dropLast(completion.wordLength)
      let ends = completion.candidates.map { Choice(argument: kept + $0) }
      let past = state.trail.filters.entries.reversed().filter { $0.hasPrefix(text) }
      return ends + past.map { Choice(argument: $0, note: "earlier") }
    },
    run: { state, text in
      do throws(FilterError) {
        let filter = try FilterScreen.filter(state, text)
        state.trail.filters.add(text)
        FilterScreen.showAndSearch(&state, filter.isEmpty ? nil : filter)
        return nil
      } catch {
        return error.message
      }
    })

  private static let theme = PaletteCommand(
    name: "theme", hint: "NAME", ownTitle: "theme",
    description: "other colors; shown while they are selected", argument: .choice,
    choices: { state, _ in
      let custom = state.settings.themes.map { ThemeChoice.custom($0) }
      return ThemeChoice.standard.map {
        Choice(argument: $0.name, isChosen: $0 == state.settings.theme)
      }
        + custom.map {
          Choice(argument: $0.name, note: "yours", isChosen: $0 == state.settings.theme)
        }
    },
    run: { state, name in
      guard let theme = ThemeChoice(name, custom: state.settings.themes) else {
        return "there is no theme \(name)"
      }
      PaletteCommand.show(&state, theme)
      return nil
    })
}

extension PaletteCommand {
  /// Draws in the colors of a theme, or of the configuration if `theme` is nil.
  static func show(_ state: inout AppState, _ theme: ThemeChoice?) {
    if state.settings.theme == theme { return }
    state.settings.theme = theme
    state.effects.append(.theme(theme))
  }
}
