import Glibc
import RunnelBase
import Testing

extension TerminalTests {
  /// Operations, the activity view and recorded sessions, in a terminal.
  @Suite struct ResourceTests {
    @Test func whatIsDoneIsCountedLoggedAndTakenBack() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      let record = terminal.folder.file("session.log")
      try terminal.runnel(demo.arguments + ["--record", record])
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("T")
      try terminal.wait(for: "added your `like`")
      try terminal.keys("g4")
      try terminal.wait(for: "added like zoe")
      try terminal.wait(for: "u take back")
      try terminal.keys("u")
      try terminal.wait(for: "taken back")
      try terminal.wait(for: "deleted like zoe")
      try terminal.keys("g3")
      try terminal.wait(for: "2400")
      try demo.run([
        "perform", "create", DemoDatabase.messages, #"{"text":"x","from":"zoe"}"#, "--resources",
        DemoDatabase.resources,
      ])
      try terminal.wait(for: "2401")
      let last = try terminal.screen()
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try demo.run(["doctor", "--resources", DemoDatabase.resources])
      // What was recorded comes to the same screen.
      let replay = try Program.run(["--replay", record])
      #expect(replay.status == 0, "\(replay.errors)")
      #expect(replay.errors.contains(" actions"))
      let lines = replay.output.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.contains { $0.contains("2401") })
      #expect(lines.first.map { String($0) } == last.lines.first)
    }

    @Test func aRecordedSessionIsShownInATerminal() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      let record = terminal.folder.file("session.log")
      try terminal.runnel(demo.arguments + ["--record", record])
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("k", "k")
      try terminal.wait(for: "row 55 of 57")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.runnel(["--replay", record])
      try terminal.wait(for: "row 55 of 57")
      try terminal.keys("C-x", "d")
      try terminal.wait(for: "The last actions, the newest first")
      try terminal.wait(for: "key k")
      try terminal.keys("q")
      try terminal.wait(for: "row 55 of 57")
      try terminal.keys("T")
      try terminal.wait(for: "this is a replay: nothing is written")
    }

    @Test func aRecordingThatIsNotThereIsNamed() throws {
      let folder = try TemporaryFolder()
      let outcome = try Program.run(["--replay", folder.file("none")])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("\(folder.file("none")): "))
      #expect(outcome.errors.contains("no such file or folder: check the name"))
    }

    @Test func aDamagedRecordingIsRefusedWithItsLine() throws {
      let folder = try TemporaryFolder()
      let file = try folder.write("hello\n", to: "s.log")
      let outcome = try Program.run(["--replay", file])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("s.log:1:"))
      #expect(outcome.errors.contains("The recorded session is damaged"))
    }
  }
}
