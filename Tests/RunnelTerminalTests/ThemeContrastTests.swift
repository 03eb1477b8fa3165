import Testing

@testable import RunnelTerminal

/// What can be computed of how well people read the themes.
@Suite struct ThemeContrastTests {
  @Test(arguments: [
    (ThemeName.dark, 5.6, 4.5), (.light, 4.9, 4.4), (.darkColorBlind, 5.6, 4.5),
    (.lightColorBlind, 4.9, 4.4), (.darkHighContrast, 7, 7), (.lightHighContrast, 7, 7),
  ])
  func everyRoleIsReadable(name: ThemeName, contrast: Double, cursorContrast: Double) {
    let aims = ThemeContrast.aims(of: name)
    #expect(aims.map(\.contrast) == [contrast])
    #expect(aims.map(\.cursorContrast) == [cursorContrast])
    let theme = Theme(name, depth: .extended)
    for aim in aims {
      for role in ThemeRole.allCases where role != .rowCursorUnfocused {
        let worst = ThemeContrast.worst(of: role, in: theme, aim)
        #expect(worst == nil, "\(role.name): \(worst?.contrast ?? 0) on \(aim.background)")
      }
    }
  }

  @Test func linesAreHeldToHighContrastOnly() throws {
    let theme = Theme(.dark, depth: .extended)
    let dark = try #require(ThemeContrast.aims(of: .dark).first)
    let high = try #require(ThemeContrast.aims(of: .darkHighContrast).first)
    #expect(ThemeContrast.worst(of: .cell(.frame), in: theme, dark) == nil)
    #expect(ThemeContrast.worst(of: .cell(.frame), in: theme, high) != nil)
  }

  @Test func colorsOfTheUserAreNotComputed() throws {
    var options = TerminalOptions(theme: .named(.dark))
    options.roles[.cell(.error)] = .changed(StyleChange(foreground: .number(0)))
    #expect(ThemeContrast.findings(in: options, changed: [.cell(.error)]).isEmpty)
    options.roles[.cell(.error)] = .changed(StyleChange(foreground: .number(16)))
    let finding = try #require(
      ThemeContrast.findings(in: options, changed: [.cell(.error)]).first)
    #expect(finding.contrast < 1.3)
    #expect(finding.least == 5.6)
    #expect(finding.ground == RGB(xterm: 16))
  }

  @Test func themeForAnyBackgroundIsHeldToBoth() {
    var options = TerminalOptions()
    options.roles[.cell(.title)] = .changed(StyleChange(foreground: .number(229)))
    let findings = ThemeContrast.findings(in: options, changed: [.cell(.title)])
    #expect(findings.map(\.theme) == [.light])
    options.theme = .named(.dark)
    #expect(ThemeContrast.findings(in: options, changed: [.cell(.title)]).isEmpty)
  }

  @Test func rowOfTheCursorIsHeldToAllThatStandsInIt() throws {
    var options = TerminalOptions(theme: .named(.dark))
    options.roles[.rowCursor] = .changed(StyleChange(background: .number(247)))
    let finding = try #require(ThemeContrast.findings(in: options, changed: [.rowCursor]).first)
    #expect(finding.ground == RGB(xterm: 247))
    #expect(finding.contrast < 2)
  }

  /// Roles that say opposite things.
  private static let opposites: [(StyleRole, StyleRole)] = [
    (.ok, .error), (.live, .conflict), (.rowNew, .conflict), (.live, .connecting), (.ok, .warn),
    (.rowNew, .rowMarked),
  ]

  @Test(arguments: [ThemeName.darkColorBlind, .lightColorBlind], ColorBlindness.allCases)
  func oppositesDifferForTheColorBlind(name: ThemeName, blindness: ColorBlindness) {
    let theme = Theme(name, depth: .extended)
    for (one, other) in Self.opposites {
      let colors = [one, other].compactMap { theme.style(for: $0).foreground }
        .map { blindness.seen(RGB(xterm: $0)) }
      #expect(colors.count == 2)
      #expect(colors[0].distance(to: colors[1]) > 0.2, "\(one) \(other)")
    }
  }

  @Test(arguments: ColorBlindness.allCases)
  func simulationLeavesGreysAndJoinsGreenAndRed(blindness: ColorBlindness) {
    let grey = blindness.seen(RGB(128, 128, 128))
    #expect(grey.distance(to: LinearColor(RGB(128, 128, 128))) < 0.02)
    let standard = Theme(.light, depth: .extended)
    let (ok, error) = (standard.style(for: .ok).foreground, standard.style(for: .error).foreground)
    let colors = [ok, error].compactMap(\.self).map { RGB(xterm: $0) }
    #expect(colors.count == 2)
    let before = LinearColor(colors[0]).distance(to: LinearColor(colors[1]))
    #expect(blindness.seen(colors[0]).distance(to: blindness.seen(colors[1])) < before)
  }

  @Test func numbersOfXtermAreItsColors() {
    #expect(RGB(xterm: 16).hexText == "#000000")
    #expect(RGB(xterm: 231).hexText == "#ffffff")
    #expect(RGB(xterm: 110).hexText == "#87afd7")
    #expect(RGB(xterm: 232).hexText == "#080808")
    #expect(RGB(xterm: 255).hexText == "#eeeeee")
    #expect(RGB(xterm: 1).hexText == "#cd0000")
  }

  @Test func contrastOfBlackAndWhiteIsTheGreatest() {
    #expect(abs(RGB(0, 0, 0).contrast(to: RGB(255, 255, 255)) - 21) < 0.001)
    #expect(RGB(9, 9, 9).contrast(to: RGB(9, 9, 9)) == 1)
  }
}

/// A colour as light of three kinds, which simulations work on.
struct LinearColor {
  var parts: [Double]

  init(parts: [Double]) { self.parts = parts }

  init(_ color: RGB) { parts = [color.red, color.green, color.blue].map(RGB.linear) }

  func distance(to other: LinearColor) -> Double {
    zip(parts, other.parts).map { ($0 - $1) * ($0 - $1) }.reduce(0, +).squareRoot()
  }
}

/// How colours look to those who lack a kind of cone.
///
/// Source: Machado, Oliveira and Fernandes 2009, severity 1.
enum ColorBlindness: CaseIterable {
  case protanopia, deuteranopia

  private var matrix: [[Double]] {
    switch self {
    case .protanopia:
      [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
      ]
    case .deuteranopia:
      [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
      ]
    }
  }

  func seen(_ color: RGB) -> LinearColor {
    let light = LinearColor(color).parts
    return LinearColor(
      parts: matrix.map { row in
        min(max(zip(row, light).map { $0 * $1 }.reduce(0, +), 0), 1)
      })
  }
}
