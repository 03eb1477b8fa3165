import Testing

extension TerminalTests {
  /// Two processes that write the same field, neither of which loses what it wrote unseen.
  @Suite struct CompareTests {
    private func openedMessages(_ demo: DemoDatabase) throws -> TmuxTerminal {
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      return terminal
    }

    @Test func whatAnotherProcessWroteWhileOneEditsIsComparedBeforeItIsReplaced() throws {
      let demo = try DemoDatabase()
      let terminal = try openedMessages(demo)
      let newest = try #require(try demo.messageKeys().last)
      try terminal.keys("e")
      try terminal.wait(for: "4 fields")
      try terminal.keys("C-u")
      try terminal.type("Mine")
      try demo.run(["set", "\(DemoDatabase.messages)/\(newest)/text", "\"Theirs\""])
      try terminal.wait(for: "changed elsewhere")
      try terminal.keys("Enter")
      try terminal.wait(for: "theirs  \"Theirs\"")
      #expect(try demo.newestTexts(1) == ["Theirs"])
      try terminal.keys("m")
      try terminal.keys("C-s")
      try terminal.wait(for: "saved")
      #expect(try demo.newestTexts(1) == ["Mine"])
    }

    @Test func whatAnotherProcessWroteSinceIsNotUndone() throws {
      let demo = try DemoDatabase()
      let (first, second) = (try openedMessages(demo), try openedMessages(demo))
      for (terminal, text) in [(first, "First"), (second, "Second")] {
        try terminal.keys("e")
        try terminal.wait(for: "4 fields")
        try terminal.keys("C-u")
        try terminal.type(text)
        try terminal.keys("Enter")
        try terminal.wait(for: "saved")
        try terminal.keys("Escape")
        try terminal.wait(for: "? help")
      }
      try first.wait(for: "Second")
      try first.keys("u")
      try first.wait(for: "not undone")
      #expect(try demo.newestTexts(1) == ["Second"])
      try second.keys("u")
      try second.wait(for: "undone")
      #expect(try demo.newestTexts(1) == ["First"])
    }
  }
}
