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

    @Test(arguments: [("truecolor", "38;2;255;135;1"), ("", "38;5;208")])
    func colorsOfAThemeAreExactWhereTheTerminalCan(colorTerm: String, sequence: String) throws {
      let demo = try DemoDatabase()
      let home = try Home("theme: dusk\n")
      try FileManager.default.createDirectory(
        atPath: home.folder.file("runnel/themes"), withIntermediateDirectories: true)
      try "base: dark\nroles: { title: \"#ff8701\" }\n".write(
        toFile: home.folder.file("runnel/themes/dusk.yaml"), atomically: true, encoding: .utf8)
      let terminal = try TmuxTerminal()
      try terminal.runnel(
        demo.arguments, before: "\(home.variables) COLORTERM=\(colorTerm)")
      try terminal.wait("the title in its color") { _ in
        (try? terminal.coloredScreen().contains(sequence)) == true
      }
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

    @Test func themeOfTheUserIsTakenOverWhenItIsSaved() throws {
      let demo = try DemoDatabase()
      let home = try Home("theme: dusk\n")
      try FileManager.default.createDirectory(
        atPath: home.folder.file("runnel/themes"), withIntermediateDirectories: true)
      let theme = home.folder.file("runnel/themes/dusk.yaml")
      try "roles: { hint.key: \"#ff8700\" }\n".write(
        toFile: theme, atomically: true, encoding: .utf8)
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments, before: home.variables)
      try terminal.wait(for: "row 57 of 57")
      #expect(try terminal.coloredScreen().contains("38;5;208m"))
      try "roles: { hint.key: 201, titel: 3 }\n".write(
        toFile: theme, atomically: true, encoding: .utf8)
      try terminal.wait(for: "did you mean `title`?")
      #expect(try terminal.coloredScreen().contains("38;5;201m"))
      try terminal.keys(":")
      try terminal.type("theme mon")
      try terminal.wait(for: "mono")
      #expect(try !terminal.coloredScreen().contains("38;5;201m"))
      try terminal.keys("Escape")
      try terminal.wait(for: "row 57 of 57")
      #expect(try terminal.coloredScreen().contains("38;5;201m"))
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

  private func write(theme name: String, _ yaml: String, in folder: TemporaryFolder) throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel/themes"), withIntermediateDirectories: true)
    try yaml.write(
      toFile: folder.file("runnel/themes/\(name).yaml"), atomically: true, encoding: .utf8)
  }

  @Test func checkTellsMistakesAndWarningsOfThemes() throws {
    let folder = try TemporaryFolder()
    try write(theme: "dusk", "base: dark\nroles:\n  titel: red\n  error: 52\n", in: folder)
    let file = folder.file("runnel/themes/dusk.yaml")
    let bad = try run("check", in: folder)
    #expect(bad.status == 1)
    let lines = bad.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("\(file):3: There is no role `titel`") == true)
    #expect(lines.last?.hasPrefix("\(file):4: warning: `error` is hard to read") == true)
    #expect(bad.errors.contains("its themes have 1 mistake"))
    try write(theme: "dusk", "base: dark\nroles:\n  error: 52\n", in: folder)
    _ = try run("init", in: folder)
    let warned = try run("check", in: folder)
    #expect(warned.status == 0)
    #expect(warned.output.contains("warning"))
    #expect(warned.output.hasSuffix("config.yaml, and 1 theme are in order.\n"))
  }

  @Test func rolesAreThoseOfTheThemeThatIsAskedFor() throws {
    let folder = try TemporaryFolder()
    try write(theme: "dusk", "base: dark\nroles: { title: \"#ff8700\" }\n", in: folder)
    #expect(try run("roles", in: folder).output.contains("title\t110\tdefault\tbold\n"))
    let dusk = try run("roles", "--theme", "dusk", in: folder)
    #expect(dusk.output.contains("title\t208\tdefault\tbold\n"))
    let unknown = try run("roles", "--theme", "dust", in: folder)
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("did you mean `dusk`?"))
  }

  @Test func shellsCompleteTheThemesOfTheUser() throws {
    let folder = try TemporaryFolder()
    try write(theme: "dusk", "base: dark\n", in: folder)
    // As the scripts ask: which argument, and where in it the cursor is.
    let outcome = try Program.run(
      ["---completion", "open", "--", "--theme", "2", "0", "runnel", "--theme", ""],
      environment: ["XDG_CONFIG_HOME": folder.path])
    #expect(outcome.status == 0)
    let words = outcome.output.split(separator: "\n").map(String.init)
    #expect(words.contains("dusk") && words.contains("light-high-contrast"))
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

/// `runnel screenshot` with a configuration.
@Suite struct ScreenshotTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase(#"{"user": {"ana": {"name": "Ana"}, "bo": {"name": "Bo"}}}"#)
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("themes"), withIntermediateDirectories: true)
    _ = try folder.write("base: light\nroles: { hint.key: \"#875f00\" }\n", to: "themes/dusk.yaml")
  }

  private func draw(
    _ arguments: String..., to name: String = "picture.svg"
  ) throws -> (
    Program.Outcome, String
  ) {
    let file = folder.file(name)
    let outcome = try database.run(["screenshot", file, "--force"] + arguments)
    return (outcome, outcome.status == 0 ? try String(contentsOfFile: file, encoding: .utf8) : "")
  }

  @Test func pictureHasTheThemeThatIsAskedFor() throws {
    let (_, dark) = try draw()
    #expect(dark.contains(##"rx="8" fill="#1c1c1c""##) && dark.contains("#5fafff"))
    let (_, light) = try draw("--theme", "light")
    #expect(light.contains(##"rx="8" fill="#ffffff""##) && light.contains("#005faf"))
  }

  @Test func configurationHasTheThemesBesideIt() throws {
    let config = try folder.write("theme: dusk\nsigns: ascii\n", to: "config.yaml")
    let (_, picture) = try draw("--config", config)
    #expect(picture.contains(##"rx="8" fill="#ffffff""##) && picture.contains("#875f00"))
    let (_, named) = try draw("--config", config, "--theme", "dark")
    #expect(!named.contains("#875f00"))
    let (_, chosen) = try draw("--keys", ": t h e m e Space m o n o Enter", "--config", config)
    #expect(!chosen.contains("#875f00"))
    let (_, text) = try draw("--config", config, to: "picture.txt")
    #expect(text.contains("---") && !text.contains("─"))
  }

  @Test func whatCannotBeTakenIsSaid() throws {
    let (unknown, _) = try draw("--theme", "dusk")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("the theme is one of auto, dark"))
    let (absent, _) = try draw("--config", folder.file("no.yaml"))
    #expect(absent.status == 1)
    #expect(absent.errors.contains("no.yaml does not exist"))
    let config = try folder.write("them: dusk\n", to: "config.yaml")
    let (mistaken, _) = try draw("--config", config)
    #expect(mistaken.status == 0)
    #expect(mistaken.errors.contains("config.yaml:1: `them` is not known here"))
  }
}
