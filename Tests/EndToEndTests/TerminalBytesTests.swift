import Foundation
import Testing

/// What goes over the line to the terminal, as curses sends it: a slow one is quick, too.
extension TerminalTests {
  @Suite struct BytesTests {
    private static let changeCount = 10
    /// The most bytes for a change of one row, its mark and the mark's end included.
    private static let bytesPerChangeMax = 400

    @Test func changeOfOneRowSendsLittle() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      let key = try #require(try demo.messageKeys().last)
      let before = try leave(terminal, recording: {})
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      let after = try leave(terminal) {
        for number in 0..<BytesTests.changeCount {
          let count = "\(40 + number)"
          try demo.run(["set", "\(DemoDatabase.messages)/\(key)/like_count", count])
          try terminal.wait("the new count") { $0.cursorLine?.contains(" \(count) ") == true }
        }
      }
      #expect(after > before)
      #expect(after - before < BytesTests.changeCount * BytesTests.bytesPerChangeMax)
    }

    @Test func pageSendsNoMoreThanItShows() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      let before = try leave(terminal, recording: {})
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      let after = try leave(terminal) {
        try terminal.keys("gg")
        try terminal.wait("the first row") { $0.body.first?.hasPrefix(">") == true }
        try terminal.keys("PageDown")
        try terminal.wait("the next page") { !$0.contains("Pinned") }
      }
      // Three screens were sent: the first row's, the page, and what is in between at most.
      #expect(after - before < 3 * 24 * 80 * 12 / 10)
    }

    /// Records what a terminal is sent while something is done and the program then left; returns how
    /// many bytes that were.
    private func leave(_ terminal: TmuxTerminal, recording body: () throws -> Void) throws -> Int {
      try terminal.record()
      try body()
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      // What is sent last of all; the recording may come after the screen.
      try terminal.wait("the end of the recording") { _ in
        (try? terminal.recorded().contains("\u{1B}[?1049l")) == true
      }
      return try terminal.recorded().utf8.count
    }
  }
}
