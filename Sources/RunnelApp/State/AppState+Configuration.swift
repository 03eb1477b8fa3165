import RunnelBase
import RunnelTerminal

// What becomes of the workspace when the user's configuration is saved while it is open.

extension AppState {
  /// Takes the configuration over.
  mutating func configure(_ settings: Settings, _ problem: String?) {
    let isSame = configuration == settings.source
    matcher.reset()
    keymap = settings.keymap
    local.clock = settings.clock
    configuration = settings.source
    themes = settings.themes
    usePages(of: settings.pageSize)
    if let problem { return say(.warning, problem) }
    if isSame, !themes.isEmpty { return say(.info, "the themes were read again") }
    let waiting = waitingForTheNextStart
    let rest = waiting.isEmpty ? "" : "; from the next start on: \(waiting.joined(separator: ", "))"
    say(.info, "the configuration was read again\(rest)")
  }

  /// From the next page that is fetched on, pages are so large.
  private mutating func usePages(of count: Int) {
    if pageSize == count { return }
    pageSize = count
    for index in lists.indices { lists[index].usePages(of: count) }
    effects.append(.resizePages)
  }

  /// The settings that differ from those that the workspace was opened with, and are not taken over while
  /// it is open.
  private var waitingForTheNextStart: [String] {
    let (opened, now) = (Settings(source: openedConfiguration), Settings(source: configuration))
    let none: ColorDepth? = ColorDepth.none
    var names: [String] = []
    // A terminal that was opened without colours gets none.
    if opened.terminal.colorDepth == none, now.terminal.colorDepth != none {
      names.append("colors")
    }
    if opened.me != now.me { names.append("me") }
    if opened.views != now.views { names.append("views") }
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
