import Foundation
import Testing

extension TerminalTests {
  /// Sizes, colors and signs of terminals.
  @Suite struct LookTests {
    @Test func resizeThereAndBackKeepsTheCursorOnItsRow() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("7k")
      let before = try terminal.wait(for: "row 50 of 57")
      #expect(before.cursorLine?.contains("ruth") == true)
      try terminal.resize(columns: 40, rows: 10)
      let small = try terminal.wait("the smaller screen") {
        $0.lines.count == 10 && $0.lines[9].hasSuffix("50/57")
      }
      #expect(small.cursorLine?.contains("ruth") == true)
      #expect(small.lines.allSatisfy { $0.count <= 40 })
      try terminal.resize(columns: 80, rows: 24)
      let after = try terminal.wait("the larger screen") {
        $0.lines.count == 24 && $0.lines[23].hasSuffix("row 50 of 57 loaded")
      }
      #expect(after.cursorLine == before.cursorLine)
      #expect(after.body.count == before.body.count)
      #expect(after.lines.prefix(3) == before.lines.prefix(3))
      #expect(after.lines.suffix(3) == before.lines.suffix(3))
    }

    @Test func smallestScreenShowsTheList() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal(columns: 20, rows: 5)
      try terminal.runnel(demo.arguments)
      let screen = try terminal.wait("the list") { $0.lines.last?.hasSuffix("57/57") == true }
      #expect(screen.cursorLine?.contains("17:45 Yes, I ha") == true)
      try terminal.keys("k")
      try terminal.wait("the row before") { $0.lines.last?.hasSuffix("56/57") == true }
      try terminal.keys("q")
      try terminal.wait(for: "[0] ready$")
    }

    @Test func tooSmallScreenSaysSoAndGoesOn() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal(columns: 40, rows: 10)
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "57/57")
      try terminal.resize(columns: 10, rows: 3)
      try terminal.wait("what is needed") { $0.text.contains("20x5") }
      try terminal.keys("k")
      try terminal.resize(columns: 40, rows: 10)
      try terminal.wait(for: "56/57")
      try terminal.resize(columns: 1, rows: 1)
      try terminal.keys("k")
      try terminal.resize(columns: 40, rows: 10)
      try terminal.wait(for: "55/57")
    }

    @Test(arguments: [(1, 1), (1, 24), (80, 1), (2, 2)])
    func programStartsInTheSmallestTerminals(columns: Int, rows: Int) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.type("'\(try Program.path())' demo -d '\(demo.file)'")
      try terminal.resize(columns: columns, rows: rows)
      try terminal.keys("Enter")
      try terminal.wait(forValue: "1", of: "#{alternate_on}")
      try terminal.resize(columns: 80, rows: 24)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("k")
      try terminal.wait(for: "row 56 of 57")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test(arguments: ["NO_COLOR=1", "NO_COLOR="])
    func colorIsOffIfTheEnvironmentSaysSo(before: String) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments, before: before)
      try terminal.wait(for: "row 57 of 57")
      #expect(try hasColor(terminal.coloredScreen()) == (before == "NO_COLOR="))
    }

    @Test func colorIsOffIfAsked() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--no-color"])
      try terminal.wait(for: "row 57 of 57")
      #expect(try !hasColor(terminal.coloredScreen()))
    }

    @Test func signsAreASCIIIfAsked() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--ascii"])
      let screen = try terminal.wait("all rows, live") {
        $0.contains("row 57 of 57") && $0.lines[0].hasSuffix("on live  zoe")
      }
      #expect(screen.lines[2] == String(repeating: "-", count: 80))
      #expect(screen.body.first?.contains("v Sun 30 Aug 2026") == true)
      // The texts of people are shown as they are, in whatever letters.
      let signs = CharacterSet(charactersIn: "▾▸⋯…─│★●·↑↓Δ")
      #expect(screen.text.rangeOfCharacter(from: signs) == nil)
    }

    @Test(arguments: ["LC_ALL=C", "LC_ALL=POSIX", "TERM=linux", "TERM=vt100"])
    func signsAreASCIIWhereTheLocaleOrTheTerminalHasNoOthers(before: String) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments, before: before)
      let screen = try terminal.wait("all rows, live") {
        $0.contains("row 57 of 57") && $0.lines[0].hasSuffix("on live  zoe")
      }
      let signs = CharacterSet(charactersIn: "▾▸⋯…─│★●·↑↓Δ")
      #expect(screen.text.rangeOfCharacter(from: signs) == nil)
    }

    @Test(arguments: [("white", true), ("black", false), ("#fdf6e3", true), ("#002b36", false)])
    func themeFollowsWhatTheTerminalTellsOfItsBackground(color: String, isLight: Bool) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.setBackground(color)
      try terminal.runnel(demo.arguments)
      try terminal.wait("the titles in the colors of the theme") { _ in
        let screen = (try? terminal.coloredScreen()) ?? ""
        return screen.contains(isLight ? "38;5;24m" : "38;5;110m")
      }
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test func themeIsTheOneAskedForWhateverTheBackground() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.setBackground("white")
      try terminal.runnel(demo.arguments + ["--theme", "dark"])
      try terminal.wait(for: "row 57 of 57")
      #expect(try terminal.coloredScreen().contains("38;5;110m"))
      let outcome = try Program.run(demo.arguments + ["--theme", "pink"])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("dark-high-contrast"))
    }

    @Test func mouseMovesAndScrolls() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal(columns: 300)
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      // The list takes the whole width once it has grown over the panes beside it.
      try terminal.keys("+", "+")
      let screen = try terminal.wait("the list without panes beside it") {
        !$0.text.contains("│")
      }
      let row = try #require(screen.lines.firstIndex { $0.contains("olga") })
      try terminal.mouse("0;290;\(row + 1)M", "0;290;\(row + 1)m")
      try terminal.wait("the cursor on the row clicked") {
        $0.lines[row].hasPrefix(">") && $0.lines[row].contains("olga")
      }
      try terminal.mouse("64;9;9M")
      try terminal.wait("rows that went down") {
        $0.lines[8].dropFirst() == screen.lines[5].dropFirst()
      }
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test func mouseIsLeftToTheTerminalIfAsked() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(forValue: "1", of: "#{mouse_sgr_flag}")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.runnel(demo.arguments + ["--mouse", "off"])
      try terminal.wait(for: "row 57 of 57")
      #expect(try terminal.value("#{mouse_any_flag}") == "0")
    }

    @Test func plainTerminalIsEnough() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments, before: "TERM=vt100")
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("k", "q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.wait(forValue: "1", of: "#{cursor_flag}")
    }

    @Test func helpShowsTheKeys() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("?")
      let help = try terminal.wait(for: "In this list")
      #expect(help.contains("fetch the next page"))
      try terminal.keys("Escape")
      try terminal.wait(for: "row 57 of 57")
    }

    @Test func databaseWithoutViewsGetsAListForEachCollection() throws {
      let database = try TestDatabase(
        #"{"team": {"ana": {"city": "Lisboa"}, "bo": {"city": "Malmö"}}, "note": "hello"}"#)
      let terminal = try TmuxTerminal()
      try terminal.runnel(["-d", database.file])
      let list = try terminal.wait(for: "Lisboa")
      #expect(list.lines[1].hasPrefix(" 1 team  2 Tree"))
      #expect(list.contains("Malmö"))
      try terminal.keys("gt")
      try terminal.wait("the tree") {
        $0.contains("hello") && $0.first("▸ team")?.contains("2 keys") == true
      }
      try terminal.keys("g1")
      try terminal.wait(for: "Lisboa")
      _ = try database.run(["set", "/team/cy", #"{"city": "Praha"}"#])
      try terminal.wait(for: "Praha")
    }

    @Test func emptyDatabaseIsMadeAndShown() throws {
      let folder = try TemporaryFolder()
      let file = folder.file("new.db")
      let terminal = try TmuxTerminal()
      try terminal.runnel(["-d", file, "--create"])
      let screen = try terminal.wait(for: "● live")
      #expect(screen.lines[0].contains("runnel  new ▸ /"))
      #expect(screen.lines[1].hasPrefix(" 1 Tree"))
      let outcome = try Program.run(["set", "/a", "41", "-d", file])
      try #require(outcome.status == 0)
      let row = try terminal.wait(for: "41")
      #expect(row.first("41")?.contains("number") == true)
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    /// Whether a foreground or a background other than the terminal's own is set.
    private func hasColor(_ screen: String) -> Bool {
      screen.split(separator: "\u{1B}[").dropFirst().contains { part in
        part.prefix { $0.isNumber || $0 == ";" }.split(separator: ";").contains { word in
          Int(word).map { (30...38).contains($0) || (40...48).contains($0) || $0 >= 90 } ?? false
        }
      }
    }
  }
}
