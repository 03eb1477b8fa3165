/// How well roles can be read, and what the themes of the program hold.
///
/// Only colours that are the same for everybody count: the first 16 are the user's.
public struct ThemeContrast: Sendable {
  /// What is asked of a theme on a kind of background.
  public struct Aim: Sendable {
    /// The theme that holds it.
    public var theme: ThemeName
    /// The kind of background.
    public var background: ThemeBackground
    /// The least contrast of its roles, from 1 to 21.
    public var contrast: Double
    /// The least contrast on the row of the cursor.
    public var cursorContrast: Double
    /// What may be behind the text.
    var grounds: [RGB]
    /// The terminal's own colour of text.
    var ink: RGB
    /// Whether roles that carry no text are held to it.
    var includesLines = false
  }

  /// A role that is harder to read than the themes of the program.
  public struct Finding: Sendable {
    /// The role that is different.
    public var role: ThemeRole
    /// How well it is read, from 1 to 21.
    public var contrast: Double
    /// How well it should be read.
    public var least: Double
    /// What is behind it.
    public var ground: RGB
    /// The theme that holds so much.
    public var theme: ThemeName
  }

  /// Roles that carry no text.
  private static let lines: Set<StyleRole> = [.frame, .scrollbar]

  private static let dark = Aim(
    theme: .dark, background: .dark, contrast: 5.6, cursorContrast: 4.5,
    grounds: [RGB(0, 0, 0), RGB(0x1C, 0x1C, 0x1C)], ink: RGB(0xD0, 0xD0, 0xD0))
  private static let light = Aim(
    theme: .light, background: .light, contrast: 4.9, cursorContrast: 4.4,
    grounds: [RGB(255, 255, 255), RGB(0xEE, 0xEE, 0xEE)], ink: RGB(0x1C, 0x1C, 0x1C))

  /// What is asked of a theme of the program, and of those that are based on it; one that goes by the
  /// background, or takes the terminal's colours, has to do on every kind.
  public static func aims(of theme: ThemeName?) -> [Aim] {
    var aims: [Aim] =
      switch theme {
      case .dark, .darkColorBlind, .darkHighContrast: [dark]
      case .light, .lightColorBlind, .lightHighContrast: [light]
      case .mono, .terminal, nil: [dark, light]
      }
    if theme == .darkHighContrast || theme == .lightHighContrast {
      (aims[0].contrast, aims[0].cursorContrast, aims[0].includesLines) = (7, 7, true)
    }
    if theme == .lightHighContrast {
      aims[0].grounds = [RGB(255, 255, 255), RGB(0xF5, 0xF5, 0xF5)]
    }
    if aims.count == 1, let theme { aims[0].theme = theme }
    return aims
  }

  /// The roles among those that are different in which the theme that options ask for falls short, each
  /// with the worst that was found.
  public static func findings(
    in options: TerminalOptions, changed: some Sequence<ThemeRole>
  ) -> [Finding] {
    let aims = aims(of: options.baseTheme)
    let changed = Array(changed)
    // What is read badly on a row that is different is told of the row.
    let looksAtCursor = !changed.contains(.rowCursor)
    return changed.compactMap { role in
      aims.compactMap { aim in
        let theme = options.theme(on: aim.background, depth: .extended)
        return worst(of: role, in: theme, aim, looksAtCursor: looksAtCursor)
      }.min { $0.contrast - $0.least < $1.contrast - $1.least }
    }
  }

  /// The worst contrast of a role of a theme; nil if it holds what is asked for.
  static func worst(
    of role: ThemeRole, in theme: Theme, _ aim: Aim, looksAtCursor: Bool = true
  ) -> Finding? {
    var findings: [Finding] = []
    func look(_ cell: StyleRole, _ highlight: RowHighlight) {
      guard aim.includesLines || !lines.contains(cell) else { return }
      let least = highlight == .none ? aim.contrast : aim.cursorContrast
      let style = theme.style(for: cell, highlight: highlight)
      for ground in aim.grounds {
        guard let (ink, paper) = colors(of: style, aim.ink, ground) else { continue }
        let contrast = ink.contrast(to: paper)
        if contrast < least {
          findings.append(
            Finding(
              role: role, contrast: contrast, least: least, ground: paper, theme: aim.theme))
        }
      }
    }
    switch role {
    case .cell(let cell):
      look(cell, .none)
      if looksAtCursor { look(cell, .focused) }
    case .rowCursor: for cell in StyleRole.allCases { look(cell, .focused) }
    case .rowCursorUnfocused: for cell in StyleRole.allCases { look(cell, .unfocused) }
    }
    return findings.min { $0.contrast - $0.least < $1.contrast - $1.least }
  }

  /// The colours of a style; nil if one of them is the user's.
  private static func colors(of style: Style, _ ink: RGB, _ ground: RGB) -> (RGB, RGB)? {
    if [style.foreground, style.background].contains(where: { ($0 ?? 16) < 16 }) { return nil }
    return (
      style.foreground.map { RGB(xterm: $0) } ?? ink,
      style.background.map { RGB(xterm: $0) } ?? ground
    )
  }
}
