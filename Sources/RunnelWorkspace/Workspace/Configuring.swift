import RunnelBase
import RunnelTerminal

// A changed configuration: it is applied when the user saves it while the workspace is open.

/// Applies a saved configuration.
enum Configuring {
  /// Applies a saved configuration.
  static func configure(_ state: inout AppState, _ settings: Settings, _ problem: String?) {
    let isSame = state.settings.configuration == settings.source
    state.input.matcher.reset()
    state.settings.keymap = settings.keymap
    state.settings.local.clock = settings.clock
    state.settings.notices = settings.notices
    state.settings.typingSeconds = settings.typingSeconds
    state.settings.configuration = settings.source
    state.settings.themes = settings.themes
    // The text of fetch-more rows names keys.
    for index in state.tabs.lists.indices { state.tabs.lists[index].rowsRevision.note() }
    usePages(&state, of: settings.pageSize)
    if let problem { return state.say(.warning, problem) }
    if isSame, !state.settings.themes.isEmpty {
      return state.say(.info, "the themes were read again")
    }
    let waiting = state.settings.openedWith.changes(to: StartSettings(settings))
    let rest = waiting.isEmpty ? "" : "; from the next start on: \(waiting.joined(separator: ", "))"
    state.say(.info, "the configuration was read again\(rest)")
  }

  /// Sets the size of the pages that are fetched from now on.
  private static func usePages(_ state: inout AppState, of count: Int) {
    if state.settings.pageSize == count { return }
    state.settings.pageSize = count
    for index in state.tabs.lists.indices { state.tabs.lists[index].usePages(of: count) }
    state.effects.append(.resizePages)
  }
}

/// The settings whose changes take effect only at the next start.
package struct StartSettings: Hashable, Sendable {
  private let colorDepth: ColorDepth?
  private let me: String?
  private let views: String?

  init(_ settings: Settings) {
    colorDepth = settings.terminal.colorDepth
    me = settings.me
    views = settings.views
  }

  /// Returns the names of the settings that differ.
  package func changes(to now: StartSettings) -> [String] {
    let none: ColorDepth? = ColorDepth.none
    var names: [String] = []
    // A terminal that was opened without colors gets none.
    if colorDepth == none, now.colorDepth != none { names.append("colors") }
    if me != now.me { names.append("me") }
    if views != now.views { names.append("views") }
    return names
  }
}

extension ListScreen {
  /// Sets the size of the pages that are fetched from now on, unless the view sets its own.
  mutating func usePages(of count: Int) {
    if definition.source.hasOwnPage { return }
    definition.source.page = count
  }
}
