/// How to use a terminal.
public struct TerminalOptions: Hashable, Sendable {
  /// Which signs to draw.
  public enum Signs: String, Hashable, Sendable, CaseIterable {
    /// Those that the locale and the terminal allow.
    case automatic = "auto"
    /// Those of Unicode, whatever the locale.
    case unicode
    /// ASCII only.
    case ascii
  }

  /// The most colours to use; nil takes what the terminal has, and none when `NO_COLOR` is set.
  public var colorDepth: ColorDepth?
  /// The theme.
  public var theme: ThemeChoice
  /// The themes that the user wrote.
  public var customThemes: [CustomTheme] = []
  /// What is different in whatever theme is used.
  public var roles = RoleChanges()
  /// Which signs to draw.
  public var signs: Signs
  /// Whether to ask for mouse events; with them, selecting text needs Shift in most terminals.
  public var usesMouse: Bool

  /// Makes options; by default all is taken from the terminal and the environment.
  public init(
    colorDepth: ColorDepth? = nil, theme: ThemeChoice = .automatic, signs: Signs = .automatic,
    usesMouse: Bool = true
  ) {
    self.colorDepth = colorDepth
    self.theme = theme
    self.signs = signs
    self.usesMouse = usesMouse
  }

  /// The theme to draw with: the one that is wanted, with the roles that are different.
  ///
  /// - Parameters:
  ///   - background: what is behind the text, where the theme goes by it.
  ///   - depth: the colours to draw with.
  /// - Returns: the theme; the standard one in place of one that nobody wrote.
  public func theme(on background: ThemeBackground, depth: ColorDepth) -> Theme {
    let custom = customTheme
    let name = baseTheme ?? ThemeName(for: background)
    var result = Theme(name, depth: depth)
    if let custom { result.apply(custom.roles, depth: depth) }
    result.apply(roles, depth: depth)
    return result
  }

  /// The theme of the program that is the base of the one that is wanted; nil if that goes by what is
  /// behind the text.
  public var baseTheme: ThemeName? {
    switch theme {
    case .automatic: nil
    case .named(let name): name
    case .custom: customTheme?.base
    }
  }

  private var customTheme: CustomTheme? {
    guard case .custom(let name) = theme else { return nil }
    return customThemes.first { $0.name == name }
  }

  /// The depth to draw with.
  ///
  /// - Parameters:
  ///   - colorCount: The colours that the terminal has.
  ///   - noColor: The variable `NO_COLOR`; it counts when it is not empty, and yields to
  ///     `colorDepth`.
  /// - Returns: What is wanted, or less when the terminal has less.
  func depth(colorCount: Int, noColor: String?) -> ColorDepth {
    let available: ColorDepth =
      if colorCount >= 256 { .extended } else if colorCount >= 8 { .sixteen } else { .none }
    let wanted = colorDepth ?? ((noColor ?? "").isEmpty ? .extended : .none)
    return wanted.rawValue < available.rawValue ? wanted : available
  }

  /// The signs to draw with.
  ///
  /// The console of Linux has Unicode, but its fonts do not have the signs; terminals of old have
  /// neither.
  ///
  /// - Parameters:
  ///   - isUTF8: Whether the user's locale encodes in UTF-8.
  ///   - term: The variable `TERM`.
  /// - Returns: What is wanted, or what is safe.
  func glyphs(isUTF8: Bool, term: String) -> Glyphs {
    switch signs {
    case .unicode: return .unicode
    case .ascii: return .ascii
    case .automatic:
      let isPlain = ["linux", "vt", "ansi", "cons25"].contains { term.hasPrefix($0) }
      return isUTF8 && !isPlain ? .unicode : .ascii
    }
  }
}
