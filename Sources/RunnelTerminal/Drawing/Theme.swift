/// How many colours a terminal has.
public enum ColorDepth: Int, Hashable, Sendable, CaseIterable {
  /// None: attributes only.
  case none = 0
  /// The eight basic ones, bright when bold; whatever the user's palette makes of them.
  case sixteen = 16
  /// The 256 of xterm.
  case extended = 256
}

/// The themes that come with the program, by their names in options and configuration files.
public enum ThemeName: String, Hashable, Sendable, CaseIterable {
  /// For light text on a dark background.
  case dark
  /// For dark text on a light background.
  case light
  /// Dark, and every role at least 7:1 against what is behind it.
  case darkHighContrast = "dark-high-contrast"
  /// Light, and every role at least 7:1 against what is behind it.
  case lightHighContrast = "light-high-contrast"
  /// Dark, with blue and orange where others have green and red.
  case darkColorBlind = "dark-color-blind"
  /// Light, with blue and orange where others have green and red.
  case lightColorBlind = "light-color-blind"
  /// Attributes only, whatever colours there are.
  case mono
  /// The basic colours only, which follow the user's palette.
  case terminal

  /// The standard theme for a background.
  public init(for background: ThemeBackground) {
    self = background == .light ? .light : .dark
  }

  /// The background that the theme is made for; nil for one that does on every kind.
  public var background: ThemeBackground? {
    switch self {
    case .dark, .darkHighContrast, .darkColorBlind: .dark
    case .light, .lightHighContrast, .lightColorBlind: .light
    case .mono, .terminal: nil
    }
  }
}

/// Which theme a user wants.
public enum ThemeChoice: Hashable, Sendable {
  /// The one for what is behind the text, which the terminal is asked.
  case automatic
  /// This one of the program's.
  case named(ThemeName)
  /// The one that the user wrote under this name.
  case custom(String)

  /// The choices that everybody has, in the order in which to offer them.
  public static let standard = [automatic] + ThemeName.allCases.map { named($0) }

  /// The choice with a name, given the names of the themes that the user wrote; nil if there is none.
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

/// Whether text is lighter or darker than what is behind it.
public enum ThemeBackground: Hashable, Sendable, CaseIterable {
  /// Light text on a dark background.
  case dark
  /// Dark text on a light background.
  case light

  /// What the variable COLORFGBG of some terminals tells; dark when it tells nothing.
  ///
  /// Its last part is the number of the background's colour among the sixteen.
  public init(colorFGBG value: String?) {
    let number = value?.split(separator: ";").last.flatMap { Int($0) }
    self = number == 7 || (number ?? 0) > 8 ? .light : .dark
  }
}

extension ThemeBackground {
  /// What a colour behind the text makes of it.
  init(of color: RGB) {
    // Where black and white are read equally well.
    self = color.luminance > 0.179 ? .light : .dark
  }
}

/// How a cell looks.
public struct Style: Hashable, Sendable {
  /// What a terminal can do to text beside colour.
  public struct Attributes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Heavier, on some terminals brighter.
    public static let bold = Attributes(rawValue: 1)
    /// Fainter; not everywhere, so only decoration.
    public static let dim = Attributes(rawValue: 2)
    /// Slanted; not everywhere, so only decoration.
    public static let italic = Attributes(rawValue: 4)
    /// Underlined.
    public static let underline = Attributes(rawValue: 8)
    /// Foreground and background exchanged.
    public static let reverse = Attributes(rawValue: 16)
  }

  /// The number of the colour of the text; nil is the terminal's own.
  public var foreground: UInt8?
  /// The number of the colour behind the text; nil is the terminal's own.
  public var background: UInt8?
  /// What else is done to the text.
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
  /// The colours the theme is made for.
  public let depth: ColorDepth

  /// By the raw value of the role.
  private var styles: [Style]
  private var rowCursor: Style
  private var rowCursorUnfocused: Style

  /// Makes a theme for a terminal with so many colours.
  ///
  /// Whether the theme is for a dark or a light background matters only with 256 colours: with
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

  /// Changes some roles, in as many colours as the terminal has.
  ///
  /// A role that is like another one is like that one with its changes.
  public mutating func apply(_ changes: RoleChanges, depth: ColorDepth) {
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

  /// How a role looks by itself.
  public func style(of role: ThemeRole) -> Style {
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

  /// How a cell looks: the style of its role, with the cursor row over it.
  ///
  /// On the cursor row muted roles look like ordinary text, a role with a background keeps it, and a
  /// reversed cell stands out of a reversed row by not being reversed.
  public func style(for role: StyleRole, highlight: RowHighlight = .none) -> Style {
    let plain = styles[Int(role.rawValue)]
    guard highlight != .none else { return plain }
    let row = highlight == .focused ? rowCursor : rowCursorUnfocused
    var style = role.isMuted ? styles[Int(StyleRole.text.rawValue)] : plain
    style.background = style.background ?? row.background
    style.foreground = style.foreground ?? row.foreground
    // Text in the colour of the row would be gone.
    if let ground = style.background, style.foreground == ground {
      style.foreground = row.foreground
    }
    let isReversed = style.attributes.contains(.reverse) != row.attributes.contains(.reverse)
    style.attributes.formUnion(row.attributes)
    if !isReversed { style.attributes.remove(.reverse) }
    return style
  }
}
