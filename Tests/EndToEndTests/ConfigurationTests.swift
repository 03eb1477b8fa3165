import Foundation
import Testing

/// The configuration file, as a user makes it and saves it.
extension TerminalTests {
  @Suite struct ConfigurationTests {
    /// A folder of configurations with a file in it, for one run.
    private struct Home {
      let folder: TemporaryFolder
      var variables: String { "XDG_CONFIG_HOME=\(folder.path)" }
      var file: String { folder.file("runnel/config.yaml") }

      init(_ yaml: String?) throws {
        folder = try TemporaryFolder()
        guard let yaml else { return }
        try FileManager.default.createDirectory(
          atPath: folder.file("runnel"), withIntermediateDirectories: true)
        try save(yaml)
      }

      /// Saves as editors do: another file is written and renamed.
      func save(_ yaml: String) throws {
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
      }
    }

    @Test func mistakesAreSaidAndTheRestHolds() throws {
      let demo = try DemoDatabase()
      let home = try Home("theme: drak\nsigns: ascii\nkeys: { row.up: [x] }\n")
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments, before: home.variables)
      let screen = try terminal.wait("the list, and what is wrong") {
        $0.contains("did you mean `dark`?") && $0.lines[0].hasSuffix("on live  zoe")
      }
      #expect(screen.contains("config.yaml:1"))
      try terminal.keys("x")
      try terminal.wait(for: "row 56 of 57")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test func savedFileIsTakenOverAtOnce() throws {
      let demo = try DemoDatabase()
      let home = try Home("# nothing yet\n")
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments, before: home.variables)
      try terminal.wait(for: "row 57 of 57")
      try home.save("theme: light\nsigns: ascii\nmouse: off\nkeys: { row.up: [x] }\n")
      try terminal.wait(for: "the configuration was read again")
      try terminal.wait("ASCII signs") { $0.lines[0].hasSuffix("on live  zoe") }
      #expect(try terminal.coloredScreen().contains("38;5;24m"))
      try terminal.wait(forValue: "0", of: "#{mouse_any_flag}")
      try terminal.keys("x")
      try terminal.wait(for: "row 56 of 57")
      try home.save("theme: [\n")
      try terminal.wait(for: "This is not YAML")
      try terminal.keys("k")
      try terminal.wait(for: "row 55 of 57")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test func commandLineGoesBeforeTheFile() throws {
      let demo = try DemoDatabase()
      let home = try Home("theme: light\nmouse: off\n")
      let terminal = try TmuxTerminal()
      try terminal.runnel(
        demo.arguments + ["--theme", "dark", "--mouse", "on"], before: home.variables)
      try terminal.wait(for: "row 57 of 57")
      #expect(try terminal.coloredScreen().contains("38;5;110m"))
      #expect(try terminal.value("#{mouse_any_flag}") == "1")
    }
  }
}

/// `runnel config`.
@Suite struct ConfigCommandTests {
  private func run(_ arguments: String..., in folder: TemporaryFolder) throws -> Program.Outcome {
    try Program.run(["config"] + arguments, environment: ["XDG_CONFIG_HOME": folder.path])
  }

  @Test func pathIsThatOfXDG() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("runnel/config.yaml")
    #expect(try run("path", in: folder).output == file + "\n")
    #expect(
      try Program.run(["config", "path"]).output == "/nonexistent/.config/runnel/config.yaml\n")
  }

  @Test func initMakesAFileThatIsInOrderAndKeepsOneThatIsThere() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("runnel/config.yaml")
    #expect(try run("check", in: folder).output.contains("does not exist"))
    #expect(try run("init", in: folder).output == file + "\n")
    let check = try run("check", in: folder)
    #expect(check.status == 0)
    #expect(check.output == "\(file) is in order.\n")
    try "me: ana\n".write(toFile: file, atomically: true, encoding: .utf8)
    let again = try run("init", in: folder)
    #expect(again.status == 1)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "me: ana\n")
  }

  @Test func checkTellsEveryMistakeWithItsLine() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("theme: drak\npage: 9\nkeys: { fly: [x] }\n", to: "other.yaml")
    let check = try run("check", file, in: folder)
    #expect(check.status == 1)
    let lines = check.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("\(file):1: ") == true)
    #expect(lines.last?.hasPrefix("\(file):3: ") == true)
    #expect(check.errors.contains("2 mistakes"))
  }

  @Test func keysAreThoseThatHold() throws {
    let folder = try TemporaryFolder()
    #expect(
      try run("keys", in: folder).output.contains(
        "list\trow.down\tdown (takes a count)\tj Down C-n\n"))
    _ = try run("init", in: folder)
    let file = folder.file("runnel/config.yaml")
    try "keys: { row.down: [x], record.delete: [] }".write(
      toFile: file, atomically: true, encoding: .utf8)
    let keys = try run("keys", in: folder).output
    #expect(keys.contains("list\trow.down\tdown (takes a count)\tx\n"))
    #expect(keys.contains("collection\trecord.delete\tdelete the record, or the marked ones…\t\n"))
  }
}
