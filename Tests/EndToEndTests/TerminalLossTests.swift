import Glibc
import Testing

extension TerminalTests {
  /// The file goes under the workspace.
  @Suite struct LossTests {
    @Test func aFileThatIsMovedAwayAndBackIsWrittenAgain() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      #expect(rename(demo.file, demo.file + ".away") == 0)
      try terminal.wait(for: "the file is gone")
      #expect(rename(demo.file + ".away", demo.file) == 0)
      try terminal.wait(for: "the file is back")
      try terminal.keys("a")
      try terminal.type("here again")
      try terminal.keys("Enter", "Escape")
      try terminal.wait(for: "row 58 of 58")
      let outcome = try Program.run(["get", "-d", demo.file, "/"])
      #expect(outcome.output.contains("here again"))
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    /// An access to the part that was cut off would end the program by SIGBUS.
    @Test func anIndexOfTheLogThatIsCutOffIsToldLikeAnyOtherLoss() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("a")
      try terminal.type("too late")
      try terminal.wait(for: "too late")
      #expect(truncate(demo.file + "-shm", 0) == 0)
      try terminal.wait(for: "nothing is saved")
      try terminal.keys("Enter")
      try terminal.wait(for: "was cut off while it was open")
      try terminal.keys("Escape")
      try terminal.wait(forNo: "not saved")
      try terminal.keys("q")
      try terminal.wait(for: "ends with the program")
      try terminal.sayYes(to: "y leave")
      try terminal.wait(for: TmuxTerminal.prompt)
      let outcome = try Program.run(["doctor", "-d", demo.file])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func textBehindAKeyThatIsRefusedIsNotRunAsCommands() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      #expect(unlink(demo.file) == 0)
      try terminal.wait(for: "the file is gone")
      // Its `f` would open a filter, and its `g g` go to the first row.
      try terminal.type("aafter ggone")
      try terminal.wait(for: "nothing is written any more")
      try terminal.keys("k")
      // The cursor stands a row above the last one.
      let screen = try terminal.wait(for: ">     17:41 ivan")
      #expect(!screen.contains("Enter keep"))
    }

    @Test func aFileThatIsDeletedUnderTheWorkspaceIsSeenAtOnce() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("a")
      try terminal.type("half a thought")
      try terminal.wait(for: "half a thought")
      #expect(unlink(demo.file) == 0)
      // No key was pressed.
      let gone = try terminal.wait(for: "the file is gone")
      #expect(!gone.contains(" live"))
      try terminal.keys("Enter")
      try terminal.wait(for: "was deleted while it was open")
      try terminal.keys("Escape")
      try terminal.wait(forNo: "not saved")
      try terminal.keys("q")
      try terminal.wait(for: "ends with the program")
      try terminal.keys("n")
      try terminal.wait(forNo: "ends with the program")
      try terminal.keys(":")
      try terminal.type("save-copy \(terminal.folder.file("copy.db"))")
      try terminal.keys("Enter")
      try terminal.wait(for: "saved all")
      try terminal.keys("q")
      try terminal.wait(for: "1 write that was not done")
      try terminal.sayYes(to: "y leave")
      try terminal.wait(for: TmuxTerminal.prompt)
      let outcome = try Program.run(["doctor", "-d", terminal.folder.file("copy.db")])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
  }
}
