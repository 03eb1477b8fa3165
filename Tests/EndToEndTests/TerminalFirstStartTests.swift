import Glibc
import Testing

extension TerminalTests {
  /// What comes back from one time to the next, in a terminal.
  @Suite struct SessionTests {
    @Test func firstStartExplainsItselfOnce() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal(isFirstStart: true)
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "Welcome to Runnel")
      try terminal.keys("Escape")
      try terminal.wait("the list") {
        $0.joined.contains("row 57") && !$0.joined.contains("Welcome")
      }
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.runnel(demo.arguments)
      try terminal.wait("no welcome") {
        $0.joined.contains("row 57") && !$0.joined.contains("Welcome")
      }
    }

    @Test(arguments: ["q", "TERM"])
    func viewAndFilterComeBack(end: String) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57")
      try terminal.keys("g", "t", "f")
      try terminal.type("role:organizer")
      try terminal.keys("Enter")
      try terminal.wait(for: "8 of 40 rows")
      if end == "q" { try terminal.keys("q") } else { try terminal.send(SIGTERM) }
      try terminal.wait("the prompt") { $0.joined.contains("ready$") }
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "f role:organizer")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.runnel(demo.arguments + ["--no-session"])
      try terminal.wait(for: "row 57")
    }

    @Test func pasteOfAMegabyteIsNoKeys() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57")
      try terminal.paste(String(repeating: "dy j ", count: 200_000))
      try terminal.wait(for: "a paste goes into a text field")
      try terminal.keys("k")
      try terminal.wait(for: "row 56 of 57")
    }
  }
}
