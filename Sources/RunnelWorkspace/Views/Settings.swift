public import RunnelTerminal

/// The user's settings of the program, for all databases.
public struct Settings: Sendable {
  /// The options of the terminal: theme, signs, mouse and colors.
  public var terminal = TerminalOptions()
  /// The keymap.
  public var keymap: Keymap {
    get { ownKeymap ?? Commands.keymap }
    set { ownKeymap = newValue }
  }
  /// The style of hours.
  public var clock = LocalTime.Clock.hours24
  /// The number of rows of a page, for views that do not set it.
  public var pageSize = 50
  /// How the user is told of new rows in views that ask for it.
  public var notices = NoticeSettings()
  /// The seconds without a key after which others are no longer told that the user is typing.
  public var typingSeconds = 10
  /// The user's name, for new records; nil for the name that the system knows.
  public var me: String?
  /// The views file for a database without its own; nil to find collections.
  public var views: String?
  /// The text that these settings were read from; empty for none.
  package var source = ""

  /// The keymap, or nil for the standard one, which commands without a terminal never make.
  private var ownKeymap: Keymap?

  /// Creates the default settings.
  public init() {}

  /// The names of the user's own themes.
  package var themes: [String] { terminal.customThemes.map(\.name) }

  /// The greatest number of rows of a page.
  package static let pageSizeMax = 10_000
}

/// The terminal options of a command line, which override the settings; nil leaves an option.
public struct TerminalWishes: Hashable, Sendable {
  /// The theme.
  public var theme: ThemeChoice?
  /// The greatest number of colors.
  public var colorDepth: ColorDepth?
  /// The signs to draw.
  public var signs: TerminalOptions.Signs?
  /// Whether the mouse is used.
  public var usesMouse: Bool?

  /// Creates options that override nothing.
  public init() {}

  /// Returns the given options with those of the command line.
  public func applied(to options: TerminalOptions) -> TerminalOptions {
    var applied = options
    applied.colorDepth = colorDepth ?? options.colorDepth
    applied.theme = theme ?? options.theme
    applied.signs = signs ?? options.signs
    applied.usesMouse = usesMouse ?? options.usesMouse
    return applied
  }
}
