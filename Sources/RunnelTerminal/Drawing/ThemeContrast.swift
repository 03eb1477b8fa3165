/// The contrast of roles, and the contrast that the built-in themes guarantee.
///
/// Only colors that are the same for every user count: users choose the first 16.
package struct ThemeContrast: Sendable {
  /// The contrast that a theme must have on a kind of background.
  package struct Aim: Sendable {
    /// The built-in theme that has it.
    package var theme: ThemeName
    /// The kind of background.
    package var background: ThemeBackground
    /// The least contrast of its roles, from 1 to 21.
    package var contrast: Double
    /// The least contrast on the row of the cursor.
    package var cursorContrast: Double
    /// The possible background colors.
    var grounds: [RGB]
    /// The terminal's own text color.
    var ink: RGB
    /// Whether roles without text must have the contrast, too.
    var includesLines = false
  }

  /// A role that is harder to read than in the built-in themes.
  package struct Finding: Sendable {
    /// The role that was changed.
    package var role: ThemeRole
    /// Its contrast, from 1 to 21.
    package var contrast: Double
    /// The contrast that it should have.
    package var least: Double
    /// The background color.
    package var ground: RGB
    /// The built-in theme that has the contrast.
    package var theme: ThemeName
  }

  /// Roles without text.
  private static let lines: Set<StyleRole> = [.frame, .scrollbar]

  private static let dark = Aim(
    theme: .dark, background: .dark, contrast: 5.6, cursorContrast: 4.5,
    grounds: [RGB(0, 0, 0), RGB(0x1C, 0x1C, 0x1C)], ink: RGB(0xD0, 0xD0, 0xD0))
  private static let light = Aim(
    theme: .light, background: .light, contrast: 4.9, cursorContrast: 4.4,
    grounds: [RGB(255, 255, 255), RGB(0xEE, 0xEE, 0xEE)], ink: RGB(0x1C, 0x1C, 0x1C))

  /// The contrasts that a built-in theme, and those based on it, must have.
  ///
  /// A theme that depends on the background, or uses the terminal's colors, must have them on every
  /// kind of background.
  package static func aims(of theme: ThemeName?) -> [Aim] {
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

  /// The changed roles whose contrast is too low in the theme of some options, each with its lowest
  /// contrast.
  package static func findings(
    in options: TerminalOptions, changed: some Sequence<ThemeRole>
  ) -> [Finding] {
    let aims = aims(of: options.baseTheme)
    let changed = Array(changed)
    // If the cursor row was changed, a low contrast on it is reported for the row.
    let looksAtCursor = !changed.contains(.rowCursor)
    return changed.compactMap { role in
      aims.compactMap { aim in
        let theme = options.theme(on: aim.background, depth: .extended)
        return worst(of: role, in: theme, aim, looksAtCursor: looksAtCursor)
      }.min { $0.contrast - $0.least < $1.contrast - $1.least }
    }
  }

  /// The lowest contrast of a role of a theme; nil if it is high enough.
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

  /// The colors of a style; nil if the user chooses one of them.
  private static func colors(of style: Style, _ ink: RGB, _ ground: RGB) -> (RGB, RGB)? {
    if [style.foreground, style.background].contains(where: { ($0 ?? 16) < 16 }) { return nil }
    return (
      style.foreground.map { RGB(xterm: $0) } ?? ink,
      style.background.map { RGB(xterm: $0) } ?? ground
    )
  }
}
