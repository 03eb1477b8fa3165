public import RunnelTerminal

/// What a user wants of the program, whatever the database.
public struct Settings: Sendable {
  /// Theme, signs, mouse and colours.
  public var terminal = TerminalOptions()
  /// The table of keys.
  public var keymap = Commands.keymap
  /// How hours are counted.
  public var clock = LocalTime.Clock.hours24
  /// How many rows a page has where a view does not say.
  public var pageSize = 50
  /// The user's name, for new records; nil for the name that the system knows.
  public var me: String?
  /// The views of a database that has none beside it; nil to find collections.
  public var views: String?
  /// The text that these settings were read from; empty for none.
  package var source = ""

  /// Makes the settings of someone who wants nothing in particular.
  public init() {}

  /// The names of the themes that the user wrote.
  package var themes: [String] { terminal.customThemes.map(\.name) }

  /// The most rows of a page.
  package static let pageSizeMax = 10_000
}

/// What a command line asks of the terminal; it goes before what the settings say.
public struct TerminalWishes: Hashable, Sendable {
  /// The theme.
  public var theme: ThemeChoice?
  /// The most colours.
  public var colorDepth: ColorDepth?
  /// The signs to draw.
  public var signs: TerminalOptions.Signs?
  /// Whether the mouse is used.
  public var usesMouse: Bool?

  /// Asks for nothing.
  public init() {}

  /// The options with what is asked for.
  public func applied(to options: TerminalOptions) -> TerminalOptions {
    var applied = options
    applied.colorDepth = colorDepth ?? options.colorDepth
    applied.theme = theme ?? options.theme
    applied.signs = signs ?? options.signs
    applied.usesMouse = usesMouse ?? options.usesMouse
    return applied
  }
}
