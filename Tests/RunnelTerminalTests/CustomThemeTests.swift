import Testing

@testable import RunnelTerminal

/// Themes that users write, in the colours that a terminal has.
@Suite struct CustomThemeTests {
  private func style(
    _ change: StyleChange, of role: StyleRole = .title, in base: ThemeName = .dark,
    _ depth: ColorDepth
  ) -> Style {
    var options = TerminalOptions(theme: .custom("mine"))
    var theme = CustomTheme(name: "mine", base: base)
    theme.roles[.cell(role)] = .changed(change)
    options.customThemes = [theme]
    return options.theme(on: .dark, depth: depth).style(for: role)
  }

  private func color(_ text: String) throws -> ThemeColor { try #require(ThemeColor(text)) }

  @Test func everyRoleHasANameOfItsOwn() {
    let names = ThemeRole.allCases.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count == StyleRole.allCases.count + 2)
    for role in ThemeRole.allCases { #expect(ThemeRole(name: role.name) == role) }
    #expect(ThemeRole(name: "titel") == nil)
    // A role may be named where a color may.
    for name in names { #expect(ThemeColor(name) == nil, "\(name)") }
  }

  @Test(arguments: ["", "256", "-1", "#fff", "#12345g", "#+12345", "1c1c1c", "pink", "Red"])
  func whatIsNoColorIsNotRead(text: String) { #expect(ThemeColor(text) == nil) }

  @Test func colorsAreReadByNumberNameAndParts() {
    #expect(ThemeColor("0") == .number(0))
    #expect(ThemeColor("255") == .number(255))
    #expect(ThemeColor("default") == .terminal)
    #expect(ThemeColor("red") == .number(1))
    #expect(ThemeColor("bright-white") == .number(15))
    #expect(ThemeColor("#fF8700") == .rgb(RGB(0xFF, 0x87, 0)))
  }

  @Test func colorsOfXtermAreFoundByTheirParts() {
    for number in UInt8(16)...255 {
      let found = ThemeColor.rgb(RGB(xterm: number)).extended
      #expect(found.map { RGB(xterm: $0) } == RGB(xterm: number))
    }
  }

  @Test(arguments: [
    ("#ff8705", 208), ("#1c1c1d", 234), ("#5f87b0", 67), ("#000001", 16), ("#fefefe", 231),
  ])
  func otherColorsGoToTheNearestOfXterm(text: String, number: UInt8) throws {
    #expect(try color(text).extended == number)
  }

  @Test(arguments: [
    ("#ff8700", 3), ("#d70000", 1), ("#5f0000", 1), ("#87ff87", 2), ("#875fff", 4),
    ("#5fafff", 4), ("#ff5fff", 5), ("#008787", 6), ("58", 3), ("88", 1),
  ])
  func hueDecidesAmongTheBasicColors(text: String, number: UInt8) throws {
    #expect(try color(text).basic == .named(number))
  }

  @Test func changeLeavesWhatItDoesNotName() throws {
    #expect(style(StyleChange(foreground: .number(120)), .extended) == Style(120, .bold))
    #expect(style(StyleChange(attributes: []), .extended) == Style(110))
    #expect(
      style(StyleChange(background: .number(17)), .extended) == Style(110, on: 17, .bold))
    #expect(style(StyleChange(foreground: .terminal), .extended) == Style(nil, .bold))
  }

  @Test func greysAreTheTerminalsOwnWithSixteenColors() throws {
    #expect(style(StyleChange(foreground: .number(255), attributes: []), .sixteen) == Style())
    #expect(
      style(StyleChange(foreground: .number(245), attributes: []), .sixteen) == Style(nil, .dim))
    #expect(
      style(StyleChange(foreground: .number(8), attributes: []), .sixteen) == Style(nil, .dim))
    #expect(style(StyleChange(foreground: .number(9), attributes: []), .sixteen) == Style(1, .bold))
    // What is behind the text is told by exchanging the two.
    let grey = StyleChange(foreground: .terminal, background: .number(237), attributes: [])
    #expect(style(grey, .sixteen) == Style(nil, .reverse))
    let colored = StyleChange(foreground: .number(114), background: .number(237), attributes: [])
    #expect(style(colored, .sixteen) == Style(2))
  }

  @Test func textOnABasicColorIsBlackOrWhite() throws {
    func both(_ foreground: ThemeColor?, _ background: UInt8) -> Style {
      style(
        StyleChange(foreground: foreground, background: .number(background)), of: .text, .sixteen)
    }
    #expect(both(nil, 58) == Style(0, on: 3))
    #expect(both(nil, 88) == Style(7, on: 1))
    #expect(both(.number(231), 58) == Style(7, on: 3))
    #expect(both(.number(16), 114) == Style(0, on: 2))
    #expect(both(.number(28), 114) == Style(0, on: 2))
    #expect(both(.number(196), 22) == Style(1, on: 2))
  }

  @Test func sixteenColorsNameOnlyTheFirstEightWhateverIsAskedFor() {
    for number in UInt8.min...UInt8.max {
      for role in StyleRole.allCases {
        let one = style(StyleChange(foreground: .number(number)), of: role, .sixteen)
        let both = style(
          StyleChange(foreground: .number(number), background: .number(255 - number)), of: role,
          .sixteen)
        for style in [one, both] {
          #expect((style.foreground ?? 0) < 8 && (style.background ?? 0) < 8)
          #expect(style.background == nil || style.background != style.foreground)
        }
      }
    }
  }

  @Test func attributesAreOnlyAddedWithoutColors() {
    let change = StyleChange(
      foreground: .number(1), background: .number(2), attributes: [.italic])
    #expect(style(change, of: .error, .none) == Style(nil, [.reverse, .italic]))
    #expect(style(StyleChange(attributes: []), of: .error, .none) == Style(nil, .reverse))
    #expect(style(change, of: .error, in: .mono, .none) == Style(nil, [.reverse, .italic]))
  }

  @Test func themesWithoutColorsTakeThoseThatAreNamed() {
    let red = StyleChange(foreground: .number(196))
    #expect(style(red, of: .error, in: .mono, .extended) == Style(196, .reverse))
    #expect(style(red, of: .error, in: .terminal, .extended) == Style(196, .bold))
  }

  @Test func roleIsLikeAnotherOneWithItsChanges() {
    var options = TerminalOptions(theme: .named(.dark))
    options.roles[.cell(.link)] = .like(.cell(.hintKey))
    options.roles[.cell(.hintKey)] = .like(.cell(.title))
    options.roles[.cell(.title)] = .changed(StyleChange(foreground: .number(120)))
    options.roles[.rowCursorUnfocused] = .like(.rowCursor)
    let theme = options.theme(on: .dark, depth: .extended)
    for role in [StyleRole.link, .hintKey, .title] {
      #expect(theme.style(for: role) == Style(120, .bold))
    }
    #expect(theme.style(for: .text, highlight: .unfocused) == Style(nil, on: 237, .bold))
    options.roles[.cell(.title)] = .like(.cell(.link))
    let standard = Theme(.dark, depth: .extended)
    #expect(
      options.theme(on: .dark, depth: .extended).style(for: .link) == standard.style(for: .link))
  }

  @Test func rowOfTheCursorHasColorsOfItsOwn() {
    var options = TerminalOptions(theme: .named(.dark))
    options.roles[.rowCursor] = .changed(
      StyleChange(foreground: .number(16), background: .number(221), attributes: []))
    let theme = options.theme(on: .dark, depth: .extended)
    #expect(theme.style(for: .text, highlight: .focused) == Style(16, on: 221))
    #expect(theme.style(for: .muted, highlight: .focused) == Style(16, on: 221))
    #expect(theme.style(for: .error, highlight: .focused) == Style(210, on: 221))
    #expect(theme.style(for: .rowMarked, highlight: .focused) == Style(16, on: 221))
    let sixteen = options.theme(on: .dark, depth: .sixteen)
    #expect(sixteen.style(for: .text, highlight: .focused) == Style(0, on: 3))
    #expect(sixteen.style(for: .rowPending, highlight: .focused) == Style(0, on: 3))
  }

  @Test func cursorRowDiffersForEveryRoleOfAThemeThatChangesIt() {
    for depth in ColorDepth.allCases {
      for number in UInt8.min...UInt8.max {
        var options = TerminalOptions(theme: .named(.dark))
        options.roles[.rowCursor] = .changed(StyleChange(background: .number(number)))
        let theme = options.theme(on: .dark, depth: depth)
        #expect(theme.style(for: .text) != theme.style(for: .text, highlight: .focused))
      }
    }
  }

  @Test func ownRolesHoldInEveryTheme() {
    var options = TerminalOptions(theme: .custom("mine"))
    options.customThemes = [CustomTheme(name: "mine", base: .light)]
    options.customThemes[0].roles[.cell(.title)] = .changed(StyleChange(foreground: .number(88)))
    options.roles[.cell(.title)] = .changed(StyleChange(attributes: [.underline]))
    #expect(
      options.theme(on: .dark, depth: .extended).style(for: .title) == Style(88, .underline))
    options.theme = .named(.light)
    #expect(
      options.theme(on: .dark, depth: .extended).style(for: .title) == Style(24, .underline))
  }

  @Test func themeWithoutABaseGoesByTheBackground() {
    var options = TerminalOptions(theme: .custom("mine"))
    options.customThemes = [CustomTheme(name: "mine")]
    #expect(options.theme(on: .light, depth: .extended) == Theme(.light, depth: .extended))
    #expect(options.theme(on: .dark, depth: .extended) == Theme(.dark, depth: .extended))
    options.theme = .custom("gone")
    #expect(options.theme(on: .light, depth: .extended) == Theme(.light, depth: .extended))
  }
}
