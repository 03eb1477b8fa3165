import RunnelBase
import TestSupport
import Testing

extension TerminalTests {
  /// Only what differs is sent, and rows that move are scrolled: what comes of it must be what all of it
  /// drawn anew is.
  @Suite struct FramesTests {
    private static let moves = [
      "j", "k", "C-e", "C-y", "C-d", "C-u", "5j", "5k", "gg", "G", "zt", "zz", "zb", "[[", "]]",
      "za",
    ]
    private static let wheel = ["64;10;10M", "65;10;10M"]
    private static let roundCount = LongRun.seeds == nil ? 10 : 25

    @Test(arguments: [(80, 24), (300, 30), (40, 10)])
    func whatMovesLeaveIsWhatARedrawShows(columns: Int, rows: Int) throws {
      var random = SeededRandom(seed: 22)
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal(columns: columns, rows: rows)
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "57")
      for round in 0..<FramesTests.roundCount {
        var keys: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          keys.append(FramesTests.moves.randomElement(using: &random) ?? "j")
        }
        try terminal.keys(contentsOf: keys)
        if Bool.random(using: &random) {
          try terminal.mouse(FramesTests.wheel.randomElement(using: &random) ?? "")
        }
        let moved = try screenWithPrompt(terminal)
        try terminal.keys("C-l")
        let drawn = try screenWithPrompt(terminal)
        for (line, (left, right)) in zip(moved, drawn).enumerated() where left != right {
          Issue.record("round \(round), \(keys), line \(line): \(left) is not \(right)")
        }
      }
    }

    /// The screen, once all keys so far have done what they do: the prompt of the search, which is closed
    /// again, shows that.
    private func screenWithPrompt(_ terminal: TmuxTerminal) throws -> [[PaintedCell]] {
      try terminal.keys("/")
      try terminal.wait("the search") { $0.lines.contains("/") }
      let screen = PaintedCell.lines(of: try terminal.coloredScreen())
      try terminal.keys("Escape")
      try terminal.wait("the end of the search") { !$0.lines.contains("/") }
      return screen
    }
  }
}

/// A cell with what is seen of its look.
private struct PaintedCell: Equatable, CustomStringConvertible {
  var character: Character
  /// The numbers of the look, by what they are about: 0 for all switches, 3 and 4 for colours.
  var look: [Int: String]

  var description: String { String(character) }

  /// Reads what tmux writes of a screen with its colours.
  static func lines(of text: String) -> [[PaintedCell]] {
    var look: [Int: String] = [:]
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var cells: [PaintedCell] = []
      var rest = line[...]
      while let character = rest.popFirst() {
        if character == "\u{1B}", let end = rest.firstIndex(of: "m") {
          take(rest[..<end].dropFirst(), into: &look)
          rest = rest[rest.index(after: end)...]
        } else {
          // Nobody sees the foreground of a blank.
          let seen = character == " " ? look.filter { $0.key != 3 } : look
          cells.append(PaintedCell(character: character, look: seen))
        }
      }
      while cells.last == PaintedCell(character: " ", look: [:]) { cells.removeLast() }
      return cells
    }
  }

  private static func take(_ numbers: Substring, into look: inout [Int: String]) {
    if let first = numbers.split(separator: ";").first.flatMap({ Int($0) }), first >= 30 {
      let kind = first / 10 > 9 ? first / 10 - 6 : first / 10
      look[kind] = first == 39 || first == 49 ? nil : String(numbers)
    } else if numbers.isEmpty || numbers == "0" {
      look = [:]
    } else {
      look[0, default: ""] += ";" + numbers
    }
  }
}
