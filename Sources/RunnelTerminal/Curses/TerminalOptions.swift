/// Options for the use of a terminal.
public struct TerminalOptions: Hashable, Sendable {
  /// The signs to draw.
  public enum Signs: String, Hashable, Sendable, CaseIterable {
    /// The signs that the locale and the terminal allow.
    case automatic = "auto"
    /// The Unicode signs, regardless of the locale.
    case unicode
    /// ASCII only.
    case ascii
  }

  /// The greatest number of colors; nil takes all colors of the terminal, and none if `NO_COLOR` is
  /// set.
  public var colorDepth: ColorDepth?
  /// The theme.
  public var theme: ThemeChoice
  /// The themes that the user wrote.
  package var customThemes: [CustomTheme] = []
  /// The changed roles, which apply to all themes.
  package var roles = RoleChanges()
  /// The signs to draw.
  public var signs: Signs
  /// Whether to ask for mouse events; with them, selecting text needs Shift in most terminals.
  public var usesMouse: Bool

  /// Makes options; by default everything follows the terminal and the environment.
  public init(
    colorDepth: ColorDepth? = nil, theme: ThemeChoice = .automatic, signs: Signs = .automatic,
    usesMouse: Bool = true
  ) {
    self.colorDepth = colorDepth
    self.theme = theme
    self.signs = signs
    self.usesMouse = usesMouse
  }

  /// The theme to draw with: the chosen one, with the roles that differ.
  ///
  /// - Parameters:
  ///   - background: the background of the text, for a theme that depends on it.
  ///   - depth: the colors to draw with.
  /// - Returns: the theme; the standard one if the chosen one does not exist.
  public func theme(on background: ThemeBackground, depth: ColorDepth) -> Theme {
    let custom = customTheme
    let name = baseTheme ?? ThemeName(for: background)
    var result = Theme(name, depth: depth)
    if let custom { result.apply(custom.roles, depth: depth) }
    result.apply(roles, depth: depth)
    return result
  }

  /// The built-in theme on which the chosen one is based; nil if that depends on the background.
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

  /// Returns the colors of the user's that are drawn exactly, by the numbers of those that take their
  /// places elsewhere.
  ///
  /// - Parameter colorTerm: The variable `COLORTERM`, by which terminals tell that they can do so.
  /// - Returns: The colors; none if the terminal cannot.
  func directColors(colorTerm: String?) -> [UInt8: RGB] {
    guard colorTerm == "truecolor" || colorTerm == "24bit" else { return [:] }
    let own = customTheme?.roles.directColors ?? [:]
    return own.merging(roles.directColors) { _, later in later }
  }

  /// The depth to draw with.
  ///
  /// - Parameters:
  ///   - colorCount: The number of colors that the terminal has.
  ///   - noColor: The variable `NO_COLOR`; it counts if it is not empty, and `colorDepth` overrides
  ///     it.
  /// - Returns: The wanted depth, or less if the terminal has less.
  func depth(colorCount: Int, noColor: String?) -> ColorDepth {
    let available: ColorDepth =
      if colorCount >= 256 { .extended } else if colorCount >= 8 { .sixteen } else { .none }
    let wanted = colorDepth ?? ((noColor ?? "").isEmpty ? .extended : .none)
    return wanted.rawValue < available.rawValue ? wanted : available
  }

  /// The signs to draw with.
  ///
  /// The Linux console supports Unicode, but its fonts lack the signs; old terminals support
  /// neither.
  ///
  /// - Parameters:
  ///   - isUTF8: Whether the user's locale encodes in UTF-8.
  ///   - term: The variable `TERM`.
  /// - Returns: The wanted signs, or those that are safe.
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
