import Testing

@testable import RunnelTerminal

/// What can be computed of how well people read the themes.
@Suite struct ThemeContrastTests {
  /// Roles that carry no text.
  private static let lines: Set<StyleRole> = [.frame, .scrollbar]

  /// A theme, the least contrast of its roles, and what may be behind them.
  struct Aim: CustomTestStringConvertible {
    var name: ThemeName
    var contrast: Double
    var cursorContrast: Double
    var grounds: [RGB]
    var ink: RGB
    var includesLines = false
    var testDescription: String { name.rawValue }
  }

  static let darkGrounds = [RGB(0, 0, 0), RGB(0x1C, 0x1C, 0x1C)]
  static let lightGrounds = [RGB(255, 255, 255), RGB(0xEE, 0xEE, 0xEE)]

  static let aims = [
    Aim(
      name: .dark, contrast: 5.6, cursorContrast: 4.5, grounds: darkGrounds,
      ink: RGB(0xD0, 0xD0, 0xD0)),
    Aim(
      name: .light, contrast: 4.9, cursorContrast: 4.4, grounds: lightGrounds,
      ink: RGB(0x1C, 0x1C, 0x1C)),
    Aim(
      name: .darkColorBlind, contrast: 5.6, cursorContrast: 4.5, grounds: darkGrounds,
      ink: RGB(0xD0, 0xD0, 0xD0)),
    Aim(
      name: .lightColorBlind, contrast: 4.9, cursorContrast: 4.4, grounds: lightGrounds,
      ink: RGB(0x1C, 0x1C, 0x1C)),
    Aim(
      name: .darkHighContrast, contrast: 7, cursorContrast: 7, grounds: darkGrounds,
      ink: RGB(0xD0, 0xD0, 0xD0), includesLines: true),
    Aim(
      name: .lightHighContrast, contrast: 7, cursorContrast: 7,
      grounds: [RGB(255, 255, 255), RGB(0xF5, 0xF5, 0xF5)],
      ink: RGB(0x1C, 0x1C, 0x1C), includesLines: true),
  ]

  @Test(arguments: aims) func everyRoleIsReadable(aim: Aim) {
    for (highlight, least) in [(RowHighlight.none, aim.contrast), (.focused, aim.cursorContrast)] {
      for ground in aim.grounds {
        for role in StyleRole.allCases where aim.includesLines || !Self.lines.contains(role) {
          let contrast = contrast(of: role, highlight, aim, on: ground)
          #expect(contrast >= least, "\(role) \(highlight) on \(ground.hexText)")
        }
      }
    }
  }

  private func contrast(
    of role: StyleRole, _ highlight: RowHighlight, _ aim: Aim, on ground: RGB
  ) -> Double {
    let style = Theme(aim.name, depth: .extended).style(for: role, highlight: highlight)
    let ink = style.foreground.map { RGB(xterm: $0) } ?? aim.ink
    return ink.contrast(to: style.background.map { RGB(xterm: $0) } ?? ground)
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
