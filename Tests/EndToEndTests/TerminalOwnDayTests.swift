import Foundation
import Testing

extension TerminalTests {
  /// The second tour: what a person does in a day with a table of their own, without a views file.
  @Suite struct OwnDayTests {
    private static let states = ["open", "paid", "late"]

    /// A table of 120 orders, with names, amounts and dates as programs of offices write them.
    private static let table =
      "Nr.;customer;status;amount;due\n"
      + (0..<120).map { number in
        let (day, month) = (number % 28 + 1, number % 12 + 1)
        return "\(1000 + number);Customer \(padded(number, to: 3));\(states[number % 3]);"
          + "\(number * 37 % 1500),50;\(padded(day, to: 2)).\(padded(month, to: 2)).2026\n"
      }.joined()

    private static func padded(_ number: Int, to count: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(count - digits.count, 0)) + digits
    }

    @Test(arguments: [(80, 24), (120, 40), (60, 15)])
    func tableIsUsedForADay(columns: Int, rows: Int) throws {
      let folder = try TemporaryFolder()
      let file = try folder.write(Self.table, to: "orders.csv")
      let terminal = try TmuxTerminal(columns: columns, rows: rows)
      try terminal.runnel([file, "--no-session"])
      try terminal.wait(for: "Customer 000")
      try lookAround(terminal)
      try change(terminal)
      try addAndDelete(terminal)
      try changeMarked(terminal)
      try arrange(terminal)
      try keep(terminal, in: folder)
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      let views = try String(contentsOfFile: folder.file("orders.csv.views.yaml"), encoding: .utf8)
      #expect(views.contains("- name: orders") && !views.contains("field: $key"))
      let saved = try String(contentsOfFile: folder.file("out.csv"), encoding: .utf8)
      #expect(saved.contains("\"0,50\"") && saved.contains("01.01.2026"))
    }

    /// The real end and start, a place between, a filter for a word, and a search.
    private func lookAround(_ terminal: TmuxTerminal) throws {
      try terminal.keys("G")
      try waitForCursor(on: "Customer 119", terminal)
      try terminal.keys("g", "g", "j")
      try waitForCursor(on: "Customer 000", terminal)
      try command(":go 60", terminal)
      try waitForCursor(on: "Customer 060", terminal)
      try terminal.keys("f")
      try terminal.type("\"customer 10\"")
      try terminal.keys("Enter")
      try terminal.wait(for: "10 match")
      try terminal.keys("C-g")
      try terminal.wait(forNo: " match")
      try command("/Customer 077", terminal)
      try waitForCursor(on: "Customer 077", terminal)
    }

    /// A field of the record, taken back and done again.
    private func change(_ terminal: TmuxTerminal) throws {
      try terminal.keys("Enter")
      try terminal.wait(for: "string")
      for _ in 0..<6 {
        if hasCursor(try terminal.screen(), on: " status ") { break }
        let before = try terminal.screen()
        try terminal.keys("j")
        try terminal.wait("the cursor on another field") { $0 != before }
      }
      try waitForCursor(on: " status ", terminal)
      try terminal.keys("e")
      try terminal.wait(for: "save")
      try terminal.keys("C-u")
      try terminal.type("lost")
      try terminal.keys("Enter")
      try waitForCursor(on: "lost", terminal)
      try terminal.keys("h")
      try waitForCursor(on: "Customer 077", terminal)
      try waitForCursor(on: "lost", terminal)
      try terminal.keys("u")
      try waitForCursor(on: "late", terminal)
      try terminal.keys("C-r")
      try waitForCursor(on: "lost", terminal)
    }

    /// A record by the form, and away with it.
    private func addAndDelete(_ terminal: TmuxTerminal) throws {
      try terminal.keys("G")
      try waitForCursor(on: "Customer 119", terminal)
      try terminal.keys("a")
      try terminal.wait(for: "Add to")
      try terminal.type("2000")
      try terminal.keys("Enter")
      try terminal.type("Newcomer")
      try terminal.keys("C-s")
      try terminal.wait(forNo: "Add to")
      try waitForCursor(on: "Newcomer", terminal)
      try terminal.keys("d")
      try terminal.sayYes(to: "y delete")
      try terminal.wait(forNo: "Newcomer")
    }

    /// One field of two marked records, in one step of undo.
    private func changeMarked(_ terminal: TmuxTerminal) throws {
      try command(":go 10", terminal)
      try waitForCursor(on: "Customer 010", terminal)
      try terminal.keys("Space", "Space")
      try terminal.wait(for: "2 marked")
      try terminal.keys("|", "l", "l", "l", "e")
      try terminal.wait(for: "of 2 marked")
      try terminal.type("done")
      try terminal.keys("Enter")
      try terminal.wait("both rows changed") { screen in
        screen.lines.count { $0.contains("Customer 01") && $0.contains("done") } == 2
      }
      try terminal.keys("u")
      try terminal.wait(forNo: " done ")
      try terminal.keys("C-g")
      try terminal.wait(forNo: "cells ·")
    }

    /// Another order, sections, a filter by a cell, and a column less.
    private func arrange(_ terminal: TmuxTerminal) throws {
      try command(":sort Nr. desc", terminal)
      try terminal.wait(for: "by Nr.")
      try terminal.keys("g", "g", "j")
      try waitForCursor(on: "Customer 119", terminal)
      try command(":sort own", terminal)
      try terminal.wait(forNo: "by Nr.")
      try command(":group by status", terminal)
      try terminal.wait("sections by the status") {
        $0.contains("grouped by status") && $0.contains("▾ late")
      }
      try command(":group none", terminal)
      try terminal.wait(forNo: "grouped by")
      try terminal.keys("g", "g", "j")
      try waitForCursor(on: "Customer 000", terminal)
      try terminal.keys("|", "l", "l", "l", "=")
      try terminal.wait(for: " match")
      // It leaves the cells, the search and the filter, one after the other.
      try terminal.wait("no filter") { screen in
        if screen.contains(" match") { try? terminal.keys("C-g") }
        return !screen.contains(" match")
      }
      try terminal.keys("|", "x")
      try terminal.wait("no column of keys") { !$0.lines[2].contains("key") }
      try terminal.keys("C-g")
      try terminal.wait(forNo: "cells ·")
    }

    /// What was arranged in a views file, and all rows in a table.
    private func keep(_ terminal: TmuxTerminal, in folder: TemporaryFolder) throws {
      try command(":export csv \(folder.file("out.csv"))", terminal)
      try terminal.wait("the table is written") { _ in
        FileManager.default.fileExists(atPath: folder.file("out.csv"))
      }
      try command(":save-view", terminal)
      try terminal.wait(for: "saved in")
    }

    private func command(_ line: String, _ terminal: TmuxTerminal) throws {
      try terminal.type(line)
      try terminal.keys("Enter")
    }

    private func waitForCursor(on text: String, _ terminal: TmuxTerminal) throws {
      try terminal.wait("the cursor on `\(text)`") { hasCursor($0, on: text) }
    }

    /// Whether the cursor is on a row with a text; a list beside the pane of views begins at a line.
    private func hasCursor(_ screen: TerminalText, on text: String) -> Bool {
      screen.lines.contains {
        ($0.contains("│") ? $0.contains("│>") : $0.hasPrefix(">")) && $0.contains(text)
      }
    }
  }
}
