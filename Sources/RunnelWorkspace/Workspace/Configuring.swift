import RunnelBase
import RunnelTerminal

// What becomes of the workspace when the user's configuration is saved while it is open.

/// Takes a saved configuration over.
enum Configuring {
  /// Takes the configuration over.
  static func configure(_ state: inout AppState, _ settings: Settings, _ problem: String?) {
    let isSame = state.settings.configuration == settings.source
    state.input.matcher.reset()
    state.settings.keymap = settings.keymap
    state.settings.local.clock = settings.clock
    state.settings.configuration = settings.source
    state.settings.themes = settings.themes
    // Fetch-more rows name keys.
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

  /// From the next page that is fetched on, pages are so large.
  private static func usePages(_ state: inout AppState, of count: Int) {
    if state.settings.pageSize == count { return }
    state.settings.pageSize = count
    for index in state.tabs.lists.indices { state.tabs.lists[index].usePages(of: count) }
    state.effects.append(.resizePages)
  }
}

/// The settings that a change of the configuration does not take over while the workspace is open.
package struct StartSettings: Hashable, Sendable {
  private let colorDepth: ColorDepth?
  private let me: String?
  private let views: String?

  init(_ settings: Settings) {
    colorDepth = settings.terminal.colorDepth
    me = settings.me
    views = settings.views
  }

  /// The names of those that other settings have otherwise.
  package func changes(to now: StartSettings) -> [String] {
    let none: ColorDepth? = ColorDepth.none
    var names: [String] = []
    // A terminal that was opened without colours gets none.
    if colorDepth == none, now.colorDepth != none { names.append("colors") }
    if me != now.me { names.append("me") }
    if views != now.views { names.append("views") }
    return names
  }
}

extension ListScreen {
  /// From the next page that is fetched on, pages are so large, unless the view says how large they are.
  mutating func usePages(of count: Int) {
    if definition.source.hasOwnPage { return }
    definition.source.page = count
  }
}
