import Testing

@testable import RunnelTerminal

@Suite struct ThemeTests {
  @Test(arguments: ThemeName.allCases)
  func themeWithoutColorsNamesNone(name: ThemeName) {
    for theme in [Theme(name, depth: .none), Theme(.mono, depth: .extended)] {
      for role in StyleRole.allCases {
        for highlight in RowHighlight.allCases {
          let style = theme.style(for: role, highlight: highlight)
          #expect(style.foreground == nil && style.background == nil, "\(role)")
        }
      }
    }
  }

  @Test(arguments: ThemeName.allCases)
  func sixteenColorsNameOnlyTheFirstEight(name: ThemeName) {
    for theme in [Theme(name, depth: .sixteen), Theme(.terminal, depth: .extended)] {
      for role in StyleRole.allCases {
        let style = theme.style(for: role)
        #expect((style.foreground ?? 0) < 8 && (style.background ?? 0) < 8, "\(role)")
      }
    }
  }

  @Test(arguments: ThemeName.allCases.filter { $0 != .mono && $0 != .terminal })
  func everyRoleButTextLooksLikeSomethingIn256Colors(name: ThemeName) {
    let theme = Theme(name, depth: .extended)
    for role in StyleRole.allCases where role != .text && role != .toastInfo {
      #expect(theme.style(for: role) != Style(), "\(role)")
    }
  }

  @Test(arguments: ColorDepth.allCases, ThemeName.allCases)
  func cursorRowDiffersForEveryRole(depth: ColorDepth, name: ThemeName) {
    let theme = Theme(name, depth: depth)
    for role in StyleRole.allCases {
      let plain = theme.style(for: role)
      #expect(theme.style(for: role, highlight: .focused) != plain, "\(role)")
    }
  }

  @Test(arguments: ColorDepth.allCases, ThemeName.allCases)
  func valuesAreToldApartByTheirStyles(depth: ColorDepth, name: ThemeName) {
    let theme = Theme(name, depth: depth)
    let roles: [StyleRole] = [.value1, .value2, .value3, .value4, .value5, .value6]
    #expect(Set(roles.map { theme.style(for: $0) }).count == roles.count)
  }

  @Test func valueHasTheSameColorEverywhereAndAllColorsAreUsed() {
    #expect(StyleRole.color(ofValue: "ana") == StyleRole.color(ofValue: "ana"))
    let colors = Set((0..<100).map { StyleRole.color(ofValue: "user \($0)") })
    #expect(colors == [.value1, .value2, .value3, .value4, .value5, .value6])
  }

  @Test func mutedRolesAreReadableOnTheCursorRow() {
    let theme = Theme(.dark, depth: .extended)
    #expect(
      theme.style(for: .muted, highlight: .focused) == theme.style(for: .text, highlight: .focused))
  }

  @Test func reversedCellStandsOutOfAReversedRow() {
    let style = Theme(.dark, depth: .sixteen).style(for: .rowChanged, highlight: .focused)
    #expect(!style.attributes.contains(.reverse))
  }

  @Test func roleWithABackgroundKeepsItOnTheCursorRow() {
    let theme = Theme(.dark, depth: .extended)
    #expect(theme.style(for: .searchMatch, highlight: .focused).background == 221)
  }

  @Test func signsFollowTheLocaleAndTheTerminalUnlessAsked() {
    let standard = TerminalOptions()
    for term in ["xterm-256color", "tmux-256color", "foot", "xterm"] {
      #expect(standard.glyphs(isUTF8: true, term: term) == .unicode, "\(term)")
      #expect(standard.glyphs(isUTF8: false, term: term) == .ascii, "\(term)")
    }
    for term in ["linux", "linux-16color", "vt100", "vt220", "ansi"] {
      #expect(standard.glyphs(isUTF8: true, term: term) == .ascii, "\(term)")
    }
    let asked = TerminalOptions(signs: .unicode)
    #expect(asked.glyphs(isUTF8: false, term: "vt100") == .unicode)
    #expect(TerminalOptions(signs: .ascii).glyphs(isUTF8: true, term: "xterm") == .ascii)
  }

  @Test(arguments: [
    (RGB(0, 0, 0), ThemeBackground.dark), (RGB(255, 255, 255), .light), (RGB(28, 28, 28), .dark),
    (RGB(0xFD, 0xF6, 0xE3), .light), (RGB(0, 43, 54), .dark), (RGB(0, 0, 255), .dark),
    (RGB(0, 255, 0), .light),
  ])
  func colorBehindTheTextIsDarkOrLight(color: RGB, background: ThemeBackground) {
    #expect(ThemeBackground(of: color) == background)
  }

  @Test(arguments: [
    (nil, ThemeBackground.dark), ("", .dark), ("15;0", .dark), ("0;15", .light), ("0;7", .light),
    ("0;default;15", .light), ("15;8", .dark), ("x;y", .dark),
  ])
  func backgroundComesFromTheLastPart(value: String?, background: ThemeBackground) {
    #expect(ThemeBackground(colorFGBG: value) == background)
  }

  @Test func colorDepthIsTheLeastOfTerminalWishAndEnvironment() {
    let standard = TerminalOptions()
    #expect(standard.depth(colorCount: 256, noColor: nil) == .extended)
    #expect(standard.depth(colorCount: 8, noColor: "") == .sixteen)
    #expect(standard.depth(colorCount: 0, noColor: nil) == .none)
    #expect(standard.depth(colorCount: 256, noColor: "1") == .none)
    let wish = TerminalOptions(colorDepth: .sixteen)
    #expect(wish.depth(colorCount: 256, noColor: "1") == .sixteen)
    #expect(wish.depth(colorCount: 0, noColor: nil) == .none)
  }
}
