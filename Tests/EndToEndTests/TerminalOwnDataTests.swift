import Foundation
import Testing

extension TerminalTests {
  /// A person's first minutes with data of their own: no database, no views file.
  @Suite struct OwnDataTests {
    private static let names = ["login fails", "page is slow", "printer does not print"]

    private static func tickets(_ count: Int) -> String {
      let records = (0..<count).map { number in
        #"{"title":"Ticket \#(number): \#(names[number % 3])","status":"\#(["open", "closed"][number % 2])","#
          + #""priority":\#(number % 5),"done":\#(number % 2 == 1)}"#
      }
      return "[" + records.joined(separator: ",\n") + "]"
    }

    @Test(arguments: [(80, 24), (120, 40), (60, 15)])
    func ticketsAreReadSortedFilteredChangedAndSaved(columns: Int, rows: Int) throws {
      let folder = try TemporaryFolder()
      let file = try folder.write(Self.tickets(400), to: "tickets.json")
      let terminal = try TmuxTerminal(columns: columns, rows: rows)
      try terminal.runnel([file, "--no-session"])
      try terminal.wait("titles and rows") {
        $0.joined.contains("title") && $0.joined.contains("Ticket 0: login fails")
      }
      // The real end, and a place between.
      try terminal.keys("G")
      try terminal.wait(for: "Ticket 399:")
      try terminal.wait(for: "of 400")
      try terminal.type(":go 200")
      try terminal.keys("Enter")
      try terminal.wait(for: "Ticket 200:")
      // Sort by the title, and back.
      try terminal.keys("g", "g", "j", "|", "l", "s")
      try terminal.wait(for: "by title")
      try terminal.keys("s", "s")
      try terminal.wait("its own order") { !$0.joined.contains("by title") }
      // Change a cell.
      try terminal.keys("g", "g", "e", "C-u")
      try terminal.type("Renamed")
      try terminal.keys("Enter")
      try terminal.wait("the list") {
        $0.joined.contains("Renamed") && $0.joined.contains("Ticket 1:")
      }
      // Save the view without this column.
      try terminal.keys("x", "|")
      try terminal.type(":save-view")
      try terminal.keys("Enter")
      try terminal.wait(for: "tickets.json.views.yaml")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      let views = try String(
        contentsOfFile: folder.file("tickets.json.views.yaml"), encoding: .utf8)
      #expect(views.contains("- name: tickets") && !views.contains("field: title"))
    }

    @Test func whatIsReadInAnotherWayIsSaidOnTheScreen() throws {
      let folder = try TemporaryFolder()
      let file = try folder.write(
        #"[{"title":"One","tags":[]},{"title":"Two","n":9223372036854775809}]"#, to: "t.json")
      let terminal = try TmuxTerminal()
      try terminal.runnel([file, "--no-session"])
      try terminal.wait("rows and remarks on one screen") {
        // Lines are broken between words.
        $0.contains("Two") && $0.contains("([]") && $0.contains("9223372036854775809")
      }
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }
  }
}
