import Glibc
import Testing

extension TerminalTests {
  /// What is written in one place shows in the others.
  @Suite struct LiveTests {
    @Test func composedMessageIsTransientUntilItIsSent() throws {
      let demo = try DemoDatabase()
      let terminal = try openedMessages(demo)
      try terminal.keys("a")
      try terminal.type("Wer hat die Gießkanne? 🚿")
      let draft = try terminal.wait("the row that is not saved") {
        $0.first(" ~ ")?.contains("Wer hat die Gießkanne?") == true
      }
      #expect(draft.first(" ~ ")?.hasSuffix("not saved") == true)
      #expect(try demo.messageKeys().count == 2400)
      try terminal.keys("Enter")
      let sent = try terminal.wait("the saved row") {
        !$0.contains(" ~ ") && $0.contains("zoe        Wer hat die Gießkanne?")
      }
      #expect(sent.contains("now") || sent.contains("s "))
      // Escape and a key without a pause would be one key, Alt and the other.
      try terminal.keys("Escape")
      try terminal.wait(for: "? help")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      #expect(try demo.newestTexts(1) == ["Wer hat die Gießkanne? 🚿"])
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "zoe        Wer hat die Gießkanne?")
    }

    @Test func burstOfMessagesIsSentOneByOne() throws {
      let demo = try DemoDatabase()
      let terminal = try openedMessages(demo)
      let texts = (1...40).map { "message-\($0)" }
      try terminal.keys("a")
      try terminal.keys(contentsOf: texts.flatMap { [$0, "Enter"] })
      try terminal.wait("the last one saved") {
        !$0.contains(" ~ ") && $0.contains("zoe        message-40")
      }
      #expect(try demo.newestTexts(40) == texts)
    }

    /// A terminal makes newlines of returns until the program has set its modes.
    @Test func messagesTypedBeforeTheProgramHasTheTerminalAreSent() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      let gate = terminal.folder.file("gate")
      try check(mkfifo(gate, 0o600), "mkfifo")
      try terminal.runnel(demo.arguments, before: "echo the gate is shut; cat '\(gate)';")
      try terminal.wait("the gate") { $0.lines.first == "the gate is shut" }
      let texts = ["one", "two", "three"]
      try terminal.keys(contentsOf: ["a"] + texts.flatMap { [$0, "Enter"] })
      try terminal.wait(for: "three")
      try check(close(check(open(gate, O_WRONLY), "open")), "close")
      try terminal.wait("the last one saved") {
        !$0.contains(" ~ ") && $0.contains("zoe        three")
      }
      #expect(try demo.newestTexts(3) == texts)
    }

    /// What is typed for a field right after the key that opens it is for the field.
    @Test func editTypedAheadIsNoCommand() throws {
      let demo = try DemoDatabase()
      let terminal = try openedMessages(demo)
      try terminal.keys("e", "C-u", "dy dy", "Enter")
      try terminal.wait(for: "saved")
      #expect(try demo.newestTexts(1) == ["dy dy"])
    }

    @Test func unsentMessageIsKeptAsADraft() throws {
      let demo = try DemoDatabase()
      let terminal = try openedMessages(demo)
      try terminal.keys("a")
      try terminal.type("half a thought")
      try terminal.wait(for: "not saved")
      try terminal.keys("Escape")
      try terminal.wait(for: "kept as a draft")
      try terminal.wait(forNo: "not saved")
      try terminal.keys("a")
      try terminal.wait("the draft again") {
        $0.first("not saved")?.contains("half a thought") == true
      }
      #expect(try demo.messageKeys().count == 2400)
    }

    @Test func changeShowsInTheOtherTerminalWithNoKeyPressed() throws {
      let demo = try DemoDatabase()
      let (writer, reader) = (try openedMessages(demo), try openedMessages(demo))
      try reader.keys("k", "k")
      let before = try reader.wait(for: "row 55 of 57")
      try writer.keys("e")
      try writer.wait(for: "4 fields")
      try writer.keys("C-u")
      try writer.type("Found it under the bench.")
      try writer.keys("Enter")
      try writer.wait(for: "saved")
      let after = try reader.wait(for: "Found it under the bench.")
      #expect(after.cursorLine == before.cursorLine)
      #expect(after.cursorLineNumber == before.cursorLineNumber)
      // Every line but that of the changed row is as it was.
      #expect(after.body.dropLast() == before.body.dropLast())
    }

    @Test func rowsThatArriveOffScreenRaiseACounter() throws {
      let demo = try DemoDatabase()
      let (writer, reader) = (try openedMessages(demo), try openedMessages(demo))
      try reader.keys("[[", "5j")
      let before = try reader.wait(for: "row 18 of 57")
      try writer.keys("a")
      for number in 1...3 {
        try writer.type("News \(number)")
        try writer.keys("Enter")
        try writer.wait("the saved row \(number)") {
          !$0.contains(" ~ ") && $0.contains("zoe        News \(number)")
        }
        try reader.wait(for: "\(number) new")
      }
      let after = try reader.wait(for: "↓3 new · gn goes there")
      #expect(after.body == before.body)
      try reader.keys("gn")
      try reader.wait("the newest row under the cursor") {
        $0.cursorLine?.contains("News 3") == true && !$0.contains("3 new")
      }
    }

    @Test func pushedRecordShows() throws {
      let demo = try DemoDatabase()
      let reader = try openedMessages(demo)
      try reader.keys("[[", "5j")
      let before = try reader.wait(for: "row 18 of 57")
      let record = #"{"created": {".sv": "timestamp"}, "from": "olga", "text": "Нашла!"}"#
      try demo.run(["push", DemoDatabase.messages, record])
      let after = try reader.wait(for: "↓1 new")
      #expect(after.body == before.body)
      try reader.keys("gn")
      try reader.wait("the pushed row") { $0.cursorLine?.contains("olga       Нашла!") == true }
      #expect(try reader.screen().contains("▾ Today · "))
    }

    @Test func removedRowLeavesTheOtherTerminal() throws {
      let demo = try DemoDatabase()
      let reader = try openedMessages(demo)
      let newest = try #require(try demo.messageKeys().last)
      let before = try reader.screen()
      try demo.run(["remove", "\(DemoDatabase.messages)/\(newest)"])
      let after = try reader.wait(for: "56 of 2399 rows")
      let kept = String(before.body.dropLast().last?.dropFirst() ?? "")
      #expect(after.cursorLine == kept)
    }

    @Test func killedProgramLosesNothingThatWasShownAsSaved() throws {
      let demo = try DemoDatabase()
      let terminal = try openedMessages(demo)
      try terminal.keys("a")
      for number in 1...3 {
        try terminal.type("Kept \(number)")
        try terminal.keys("Enter")
        try terminal.wait("the saved row \(number)") {
          !$0.contains(" ~ ") && $0.contains("zoe        Kept \(number)")
        }
      }
      try terminal.type("Never sent")
      try terminal.wait("the row that is not saved") {
        $0.first(" ~ ")?.contains("Never sent") == true
      }
      try terminal.send(SIGKILL)
      try terminal.wait("the end of the program") { _ in (try? terminal.foregroundProcess()) == nil
      }
      #expect(try demo.newestTexts(3) == ["Kept 1", "Kept 2", "Kept 3"])
      #expect(try demo.messageKeys().count == 2403)
      let again = try TmuxTerminal()
      try again.runnel(demo.arguments)
      let screen = try again.wait(for: "zoe        Kept 3")
      #expect(screen.cursorLine?.contains("Kept 3") == true)
      #expect(!screen.contains("Never sent"))
    }
  }
}

/// A terminal with the newest messages of the demo.
private func openedMessages(_ demo: DemoDatabase) throws -> TmuxTerminal {
  let terminal = try TmuxTerminal()
  try terminal.runnel(demo.arguments)
  try terminal.wait(for: "row 57 of 57")
  return terminal
}
