import Testing

@testable import RunnelTerminal

@Suite struct ThemeTests {
  @Test func themeWithoutColorsNamesNone() {
    let theme = Theme(depth: .none)
    for role in StyleRole.allCases {
      for highlight in RowHighlight.allCases {
        let style = theme.style(for: role, highlight: highlight)
        #expect(style.foreground == nil && style.background == nil, "\(role)")
      }
    }
  }

  @Test func sixteenColorsNameOnlyTheFirstEight() {
    let theme = Theme(depth: .sixteen)
    for role in StyleRole.allCases {
      let style = theme.style(for: role)
      #expect((style.foreground ?? 0) < 8 && (style.background ?? 0) < 8, "\(role)")
    }
  }

  @Test(arguments: ThemeBackground.allCases)
  func everyRoleButTextLooksLikeSomethingIn256Colors(background: ThemeBackground) {
    let theme = Theme(depth: .extended, background: background)
    for role in StyleRole.allCases where role != .text && role != .toastInfo {
      #expect(theme.style(for: role) != Style(), "\(role)")
    }
  }

  @Test(arguments: ColorDepth.allCases, ThemeBackground.allCases)
  func cursorRowDiffersForEveryRole(depth: ColorDepth, background: ThemeBackground) {
    let theme = Theme(depth: depth, background: background)
    for role in StyleRole.allCases {
      let plain = theme.style(for: role)
      #expect(theme.style(for: role, highlight: .focused) != plain, "\(role)")
    }
  }

  @Test func mutedRolesAreReadableOnTheCursorRow() {
    let theme = Theme(depth: .extended)
    #expect(
      theme.style(for: .muted, highlight: .focused) == theme.style(for: .text, highlight: .focused))
  }

  @Test func reversedCellStandsOutOfAReversedRow() {
    let style = Theme(depth: .sixteen).style(for: .rowChanged, highlight: .focused)
    #expect(!style.attributes.contains(.reverse))
  }

  @Test func roleWithABackgroundKeepsItOnTheCursorRow() {
    #expect(
      Theme(depth: .extended).style(for: .searchMatch, highlight: .focused).background == 221)
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
