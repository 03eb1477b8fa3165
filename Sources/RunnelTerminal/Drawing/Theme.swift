/// The number of colors of a terminal.
public enum ColorDepth: Int, Hashable, Sendable, CaseIterable {
  /// No colors: attributes only.
  case none = 0
  /// The eight basic colors, and their bright forms in bold; the user's palette decides how they
  /// look.
  case sixteen = 16
  /// The 256 colors of xterm.
  case extended = 256
}

/// The built-in themes, by their names in options and configuration files.
public enum ThemeName: String, Hashable, Sendable, CaseIterable {
  /// For light text on a dark background.
  case dark
  /// For dark text on a light background.
  case light
  /// Dark, with a contrast of at least 7:1 for every role.
  case darkHighContrast = "dark-high-contrast"
  /// Light, with a contrast of at least 7:1 for every role.
  case lightHighContrast = "light-high-contrast"
  /// Dark, with blue and orange where others have green and red.
  case darkColorBlind = "dark-color-blind"
  /// Light, with blue and orange where others have green and red.
  case lightColorBlind = "light-color-blind"
  /// Attributes only, regardless of the terminal's colors.
  case mono
  /// The basic colors only, which follow the user's palette.
  case terminal

  /// The standard theme for a background.
  public init(for background: ThemeBackground) {
    self = background == .light ? .light : .dark
  }

  /// The background that the theme is made for; nil for one that suits every background.
  public var background: ThemeBackground? {
    switch self {
    case .dark, .darkHighContrast, .darkColorBlind: .dark
    case .light, .lightHighContrast, .lightColorBlind: .light
    case .mono, .terminal: nil
    }
  }
}

/// The user's choice of a theme.
public enum ThemeChoice: Hashable, Sendable {
  /// The theme that suits the background, which the terminal is asked for.
  case automatic
  /// A built-in theme.
  case named(ThemeName)
  /// The user's theme with this name.
  case custom(String)

  /// The choices that every user has, in the order in which they are offered.
  public static let standard = [automatic] + ThemeName.allCases.map { named($0) }

  /// The choice with a name, given the names of the user's themes; nil if there is none.
  public init?(_ name: String, custom: some Sequence<String>) {
    if let choice = ThemeChoice.standard.first(where: { $0.name == name }) {
      self = choice
    } else if custom.contains(name) {
      self = .custom(name)
    } else {
      return nil
    }
  }

  /// The name, or `auto`.
  public var name: String {
    switch self {
    case .automatic: "auto"
    case .named(let name): name.rawValue
    case .custom(let name): name
    }
  }
}

/// Whether text is lighter or darker than its background.
public enum ThemeBackground: Hashable, Sendable, CaseIterable {
  /// Light text on a dark background.
  case dark
  /// Dark text on a light background.
  case light

  /// Reads the background from the variable COLORFGBG of some terminals; dark if it says nothing.
  ///
  /// Its last part is the number of the background's color among the sixteen.
  public init(colorFGBG value: String?) {
    let number = value?.split(separator: ";").last.flatMap { Int($0) }
    self = number == 7 || (number ?? 0) > 8 ? .light : .dark
  }
}

extension ThemeBackground {
  /// The kind of background that a color is.
  init(of color: RGB) {
    // Black and white have the same contrast on this luminance.
    self = color.luminance > 0.179 ? .light : .dark
  }
}

/// The look of a cell.
public struct Style: Hashable, Sendable {
  /// The attributes that a terminal can give to text besides color.
  public struct Attributes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Heavier, on some terminals brighter.
    public static let bold = Attributes(rawValue: 1)
    /// Fainter; not supported everywhere, so only for decoration.
    public static let dim = Attributes(rawValue: 2)
    /// Slanted; not supported everywhere, so only for decoration.
    public static let italic = Attributes(rawValue: 4)
    /// Underlined.
    public static let underline = Attributes(rawValue: 8)
    /// Foreground and background exchanged.
    public static let reverse = Attributes(rawValue: 16)
  }

  /// The number of the text color; nil for the terminal's own.
  public var foreground: UInt8?
  /// The number of the background color; nil for the terminal's own.
  public var background: UInt8?
  /// The other attributes of the text.
  public var attributes: Attributes

  /// Makes a style.
  public init(
    _ foreground: UInt8? = nil, on background: UInt8? = nil, _ attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

/// The style of each role.
public struct Theme: Hashable, Sendable {
  /// The colors that the theme is made for.
  public let depth: ColorDepth

  /// The styles by the raw value of the role.
  private var styles: [Style]
  private var rowCursor: Style
  private var rowCursorUnfocused: Style

  /// Makes a theme for a terminal with a number of colors.
  ///
  /// Whether the theme is for a dark or a light background matters only with 256 colors: with
  /// fewer, the user's palette decides.
  public init(_ name: ThemeName, depth: ColorDepth) {
    self.depth = name == .mono ? .none : name == .terminal && depth == .extended ? .sixteen : depth
    switch self.depth {
    case .none: styles = StyleRole.allCases.map(ThemeTable.colorless)
    case .sixteen: styles = StyleRole.allCases.map { ThemeTable.sixteen($0, name) }
    case .extended: styles = StyleRole.allCases.map { ThemeTable.extended($0, name) }
    }
    (rowCursor, rowCursorUnfocused) = ThemeTable.rowCursors(name, depth: self.depth)
  }

  /// Changes some roles, in the colors that the terminal has.
  ///
  /// A role that is like another one takes the other's style with its changes.
  package mutating func apply(_ changes: RoleChanges, depth: ColorDepth) {
    if changes.isEmpty { return }
    let before = self
    for role in ThemeRole.allCases {
      guard let source = changes.chain(from: role).last, changes[role] != nil else { continue }
      var style = before.style(of: source)
      if case .changed(let change)? = changes[source] {
        style = change.applied(to: style, depth: depth)
      }
      setStyle(style, of: role)
    }
  }

  /// The style of a role by itself.
  package func style(of role: ThemeRole) -> Style {
    switch role {
    case .cell(let role): styles[Int(role.rawValue)]
    case .rowCursor: rowCursor
    case .rowCursorUnfocused: rowCursorUnfocused
    }
  }

  private mutating func setStyle(_ style: Style, of role: ThemeRole) {
    switch role {
    case .cell(let role): styles[Int(role.rawValue)] = style
    case .rowCursor: rowCursor = style
    case .rowCursorUnfocused: rowCursorUnfocused = style
    }
  }

  /// The look of a cell: the style of its role, with the cursor row over it.
  ///
  /// On the cursor row muted roles look like ordinary text, a role with a background keeps it, and
  /// a reversed cell stands out of a reversed row by not being reversed.
  public func style(for role: StyleRole, highlight: RowHighlight = .none) -> Style {
    let plain = styles[Int(role.rawValue)]
    guard highlight != .none else { return plain }
    let row = highlight == .focused ? rowCursor : rowCursorUnfocused
    var style = role.isMuted ? styles[Int(StyleRole.text.rawValue)] : plain
    style.background = style.background ?? row.background
    style.foreground = style.foreground ?? row.foreground
    // Text in the color of the row would be invisible.
    if let ground = style.background, style.foreground == ground {
      style.foreground = row.foreground
    }
    let isReversed = style.attributes.contains(.reverse) != row.attributes.contains(.reverse)
    style.attributes.formUnion(row.attributes)
    if !isReversed { style.attributes.remove(.reverse) }
    return style
  }
}
