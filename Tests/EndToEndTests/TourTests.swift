import Foundation
import Testing

/// The tour in `Resources/docs`, step by step, on the demo: what it tells a newcomer to strike is there
/// to be struck, and does what it says.
extension TerminalTests {
  @Suite struct TourTests {
    @Test func theTourGoesAsItIsTold() throws {
      let tour = try Tour()
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "● live")
      try move(tour.step(1), terminal)
      try pageBack(tour.step(2), terminal)
      try write(tour.step(3), terminal)
      try change(tour.step(4), terminal)
      try find(tour.step(5), terminal)
      try followTheData(tour.step(6), terminal)
      try count(tour.step(7), terminal)
      try seeTheTree(tour.step(8), terminal)
      try findBack(tour.step(10), terminal)
      try leave(tour, terminal)
    }

    private func move(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try step.strike("gg", on: terminal)
      try terminal.wait("the first row") { $0.body.first?.hasPrefix(">") == true }
      try step.strike("]]", on: terminal)
      try terminal.wait("the next section") { $0.cursorLine?.hasPrefix("▾") == true }
      try step.strike("za", on: terminal)
      try terminal.wait("a folded section") { $0.cursorLine?.hasPrefix("▸") == true }
      try step.strike("za", on: terminal)
      try step.strike("G", on: terminal)
      try step.strike("k", on: terminal)
      try step.strike("j", on: terminal)
      try terminal.wait("the last row") { $0.body.last?.hasPrefix(">") == true }
    }

    private func pageBack(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      let before = try terminal.screen().lines[1]
      try step.strike("gg", on: terminal)
      #expect(step.text.contains("older rows not loaded"))
      try terminal.wait(for: "older rows not loaded")
      try step.strike("gm", on: terminal)
      try terminal.wait("another page") { $0.lines[1] != before }
    }

    private func write(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try step.strike("a", on: terminal)
      try terminal.wait(for: "send")
      try terminal.type("The tour was here")
      try terminal.wait("the draft in the list") { screen in
        screen.lines.contains { $0.contains("~") && $0.contains("not saved") }
      }
      try terminal.keys("Enter")
      try terminal.wait(forNo: "not saved")
      try terminal.keys("C-g")
      try terminal.wait(for: "The tour was here")
    }

    private func change(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try terminal.keys("G", "Enter")
      try terminal.wait(for: " fields")
      try move(to: "text", terminal)
      try step.strike("e", on: terminal)
      try terminal.wait(for: "save")
      try terminal.type(", twice")
      try terminal.keys("Enter")
      try terminal.wait(for: "The tour was here, twice")
      try terminal.keys("h")
      try terminal.wait("the list with the new text") {
        $0.cursorLine?.contains("The tour was here, twice") == true
      }
      try step.strike("u", on: terminal)
      try terminal.wait("the old text") { $0.cursorLine?.hasSuffix("twice") == false }
      try terminal.wait(for: "undone")
      try step.strike("C-r", on: terminal)
      try terminal.wait(for: "The tour was here, twice")
      try step.strike("d", on: terminal)
      try terminal.wait(for: "y delete")
      // A key that comes too soon after the question is no answer to it.
      try terminal.wait("the row to be deleted") { screen in
        try? terminal.keys("y")
        return !screen.contains("y delete")
      }
      // One `y` too many begins a copy.
      try terminal.keys("C-g")
      try terminal.wait(forNo: "The tour was here, twice")
    }

    private func find(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try step.strike("f", on: terminal)
      try terminal.type("from:olga")
      try terminal.keys("Enter")
      try terminal.wait("only what olga wrote") { screen in
        screen.lines[1].contains("from:olga") && !screen.lines[1].contains("+ rows")
          && screen.body.allSatisfy { !$0.contains("haruto") }
      }
      try terminal.keys("C-g")
      try terminal.wait(forNo: "f from:olga")
      try step.strike("/", on: terminal)
      try terminal.type("the hut free")
      try terminal.wait("a match under the cursor") {
        $0.cursorLine?.contains("the hut free") == true
      }
      try terminal.keys("Enter")
      try step.strike("n", on: terminal)
      try terminal.keys("C-g")
      try step.strike("p", on: terminal)
      try step.strike("p", on: terminal)
      try step.strike("t", on: terminal)
      try step.strike("P", on: terminal)
      try terminal.wait(for: "paused")
      try step.strike("P", on: terminal)
      try terminal.wait(forNo: "paused")
    }

    private func followTheData(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try step.strike("gt", on: terminal)
      try terminal.wait(for: "Organizers")
      try terminal.keys("G", "k")
      let list = try terminal.wait("the last person under the cursor") {
        $0.cursorLine?.contains("@") == true && $0.body.last?.contains("── end ──") == true
      }
      let row = try #require(list.cursorLine)
      let name = row.trimmed.split(separator: " ")[0]
      try terminal.keys("Enter")
      let record = try terminal.wait("the record of the person") {
        $0.contains("/user/") && $0.first("  role ") != nil
      }
      let role = try #require(record.first("  role "))
      let other = role.contains("organizer") ? "participant" : "organizer"
      try move(to: "role", terminal)
      try terminal.keys("e")
      try terminal.wait(for: "save")
      try terminal.keys("C-u")
      try terminal.type(other)
      try terminal.keys("Enter")
      try terminal.wait("the new role") { $0.cursorLine?.contains(other) == true }
      try step.strike("h", on: terminal)
      try terminal.wait("the same person under the cursor") {
        $0.cursorLine?.contains(name) == true
      }
    }

    private func count(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try terminal.keys("g1")
      try terminal.wait(for: "/group_message/")
      try terminal.keys("G")
      try step.strike("T", on: terminal)
      try terminal.keys("g4")
      try terminal.wait(for: "like")
      try step.strike("u", on: terminal)
    }

    private func seeTheTree(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try step.strike("g5", on: terminal)
      try terminal.wait(for: "group_message")
      try terminal.keys("j")
      try step.strike("l", on: terminal)
      try step.strike("h", on: terminal)
    }

    private func findBack(_ step: Tour.Step, _ terminal: TmuxTerminal) throws {
      try terminal.keys("g1")
      try terminal.wait(for: "/group_message/")
      try terminal.keys("G")
      try strikeLetter("m a", of: step, on: terminal)
      let marked = try terminal.wait(for: "bookmark a is")
      try terminal.keys("g2")
      try terminal.wait(for: "▸ /user ")
      try strikeLetter("' a", of: step, on: terminal)
      try terminal.wait("the bookmark") { $0.cursorLine == marked.cursorLine }
      try step.strike("gb", on: terminal)
      try terminal.wait(for: "▸ /user ")
      try step.strike("gB", on: terminal)
      try terminal.wait(forNo: "▸ /user ")
      try step.strike("]u", on: terminal)
      #expect(step.text.contains("From 120 columns"))
      try terminal.resize(columns: 120, rows: 30)
      try terminal.wait(for: " Bookmarks")
      try step.strike("Tab", on: terminal)
      try step.strike("+", on: terminal)
      try terminal.wait("a pane on half of the screen") { screen in
        screen.body.contains { line in
          Array(line).lastIndex(of: "│").map { (59...60).contains($0) } ?? false
        }
      }
      try step.strike("_", on: terminal)
      try terminal.resize(columns: 80, rows: 24)
      try terminal.wait(forNo: " Bookmarks")
    }

    /// Strikes a key and the letter that follows it.
    private func strikeLetter(
      _ keys: String, of step: Tour.Step, on terminal: TmuxTerminal
    ) throws {
      #expect(step.text.contains("`\(keys)`"), "the tour does not name \(keys): \(step.text)")
      try terminal.keys(contentsOf: keys.split(separator: " ").map(String.init))
    }

    /// Moves down to a field of the open record.
    private func move(to field: String, _ terminal: TmuxTerminal) throws {
      for _ in 0..<12 {
        let before = try terminal.screen().cursorLineNumber
        if try terminal.screen().cursorLine?.trimmed.hasPrefix(field + " ") == true { return }
        try terminal.keys("j")
        try terminal.wait("the cursor on another field") { $0.cursorLineNumber != before }
      }
      throw TmuxTerminal.Missed(description: "There is no field \(field).")
    }

    private func leave(_ tour: Tour, _ terminal: TmuxTerminal) throws {
      #expect(tour.ending.contains("`?` lists every key"))
      try terminal.keys("?")
      try terminal.wait(for: "Help")
      try terminal.keys("C-g")
      #expect(tour.ending.contains("`q` leaves"))
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }
  }
}

/// The page that shows a newcomer around.
private struct Tour {
  /// A numbered step.
  struct Step {
    let text: String

    /// Strikes keys that the step names.
    func strike(_ keys: String, on terminal: TmuxTerminal) throws {
      #expect(text.contains("`\(keys)`"), "the tour does not name \(keys) here: \(text)")
      let isNamed = keys.count > 1 && keys.contains("-") || keys == "Tab"
      try terminal.keys(contentsOf: isNamed ? [keys] : keys.map { String($0) })
    }
  }

  private let steps: [String]
  /// What stands after the steps.
  let ending: String

  init() throws {
    let text = try String(contentsOfFile: Tour.page, encoding: .utf8)
    var steps: [String] = []
    var ending = ""
    for line in text.split(separator: "\n") {
      if line.first?.isNumber == true, line.contains(". ") {
        steps.append(String(line))
      } else if line.hasPrefix(" "), !steps.isEmpty {
        steps[steps.count - 1] += "\n" + line
      } else {
        ending += line + "\n"
      }
    }
    self.steps = steps
    self.ending = ending
  }

  /// The page of this checkout: this file is three levels below the top.
  private static let page =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    + "/Resources/docs/tour.md"

  /// The step with a number, from 1.
  func step(_ number: Int) throws -> Step {
    try #require(steps.indices.contains(number - 1), "the tour has \(steps.count) steps")
    return Step(text: steps[number - 1])
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0 == " " || $0 == ">" || $0 == "*" })
  }
}
