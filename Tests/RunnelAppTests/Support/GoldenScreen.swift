import Foundation
@testable import RunnelApp
@testable import RunnelTerminal
@testable import RunnelWorkspace

/// How a screen is drawn in one size and data: what `Screens/NAME.screen` holds for it.
enum GoldenPart: String, CaseIterable {
  case small = "40x10"
  case usual = "80x24"
  case large = "120x40"
  case ascii = "80x24 in ASCII"
  case wide = "80x24 with wide texts"
  case smallWide = "40x10 with wide texts"

  private static let rare = ["漢字", "👩‍👩‍👧 ", "e\u{301}", "שלום ", "🇩🇪", "한국어 "]

  var variant: ScenarioPlayer.Variant {
    let size =
      switch self {
      case .small, .smallWide: TerminalSize(columns: 40, rows: 10)
      case .usual, .ascii, .wide: TerminalSize(columns: 80, rows: 24)
      case .large: TerminalSize(columns: 120, rows: 40)
      }
    var variant = ScenarioPlayer.Variant(size: size, isASCII: self == .ascii)
    if self == .wide || self == .smallWide {
      // Names of people and roles are looked for by keys and sections, and stay.
      variant.text = { text in
        guard text.contains(" ") else { return text }
        let sum = text.utf8.reduce(0) { $0 + Int($1) }
        return GoldenPart.rare[sum % GoldenPart.rare.count] + text
      }
    }
    return variant
  }

  /// The text of the screen, the letters of its roles, and in the usual size what is left of them
  /// where there are no colours.
  func layers(of app: AppDriver) -> String {
    var layers = [("text", app.screen), ("roles", app.roles)]
    if self == .usual { layers.append(("without colours", app.canvas.colorlessLines())) }
    return layers.map { name, lines in
      "--- \(rawValue): \(name)\n" + lines.map { "|\($0)\n" }.joined()
    }.joined()
  }
}

extension Canvas {
  /// A letter for the attributes of each cell in a terminal without colours: bold, dim, italic,
  /// underline, reverse; a capital letter is bold too.
  fileprivate func colorlessLines() -> [String] {
    let theme = Theme(.dark, depth: .none)
    return (0..<size.rows).map { index in
      var line = self.line(index).cells.map { cell in
        Canvas.letter(theme.style(for: cell.role, highlight: cell.highlight).attributes)
      }
      while line.last == "." { line.removeLast() }
      return String(line)
    }
  }

  private static func letter(_ attributes: Style.Attributes) -> Character {
    let others: [(Style.Attributes, Character, Character)] = [
      (.reverse, "r", "R"), (.underline, "u", "U"), (.italic, "i", "I"), (.dim, "d", "D"),
    ]
    let isBold = attributes.contains(.bold)
    for (attribute, plain, bold) in others where attributes.contains(attribute) {
      return isBold ? bold : plain
    }
    return isBold ? "b" : "."
  }
}

/// The files that screens are compared with.
enum GoldenFile {
  /// True if the files are to be written anew instead of being compared.
  static let isUpdating = ProcessInfo.processInfo.environment["RUNNEL_UPDATE_SCREENS"] != nil

  /// The file of a scenario's screens.
  static func place(of scenario: ScenarioFile) -> URL {
    let name = scenario.name.replacingOccurrences(of: ".scenario", with: ".screen")
    return ScenarioFile.tests.appendingPathComponent("Screens/\(name)")
  }

  /// The first lines in which two texts differ, with what comes before; nil if they are equal.
  static func difference(_ expected: String, _ found: String) -> String? {
    let (old, new) = (expected.split(separator: "\n"), found.split(separator: "\n"))
    guard
      let first = (0..<max(old.count, new.count)).first(where: { index in
        index >= old.count || index >= new.count || old[index] != new[index]
      })
    else { return nil }
    let part = new.prefix(first + 1).last { $0.hasPrefix("---") } ?? ""
    func line(_ lines: [Substring]) -> Substring {
      first < lines.count ? lines[first] : "(nothing)"
    }
    return "\(part), line \(first + 1)\n  was \(line(old))\n  is  \(line(new))"
  }
}
