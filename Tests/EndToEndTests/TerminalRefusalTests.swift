import Glibc
import Testing

extension TerminalTests {
  /// Where there is no terminal, or no database, the program says so and touches nothing.
  @Suite struct RefusalTests {
    @Test(arguments: [
      ("TERM=dumb", "TERM", "dumb"), ("TERM=unknown", "TERM", "unknown"),
      ("TERM=bogus-9000", "TERM", "bogus-9000"), ("env -u TERM", "TERM is not set", ""),
      ("TERM=", "TERM is not set", ""),
    ])
    func terminalOfAWrongTypeIsRefused(before: String, words: String, name: String) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      let modes = try terminal.modes()
      try terminal.record()
      try terminal.runnel(demo.arguments, before: before)
      let screen = try terminal.wait(for: "[2] ready$")
      let message = try #require(screen.first("runnel: "))
      #expect(screen.joined.contains(words))
      #expect(message.contains(name))
      #expect(try terminal.modes() == modes)
      // Nothing was asked of a terminal that is not understood.
      #expect(try terminal.recordedModes().isEmpty)
    }

    @Test func keysNeedATerminal() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.record()
      try terminal.runnel(demo.arguments, after: "</dev/null")
      let screen = try terminal.wait(for: "[2] ready$")
      #expect(screen.joined.contains("runnel: The workspace needs a terminal for its keys"))
      #expect(try terminal.recordedModes().isEmpty)
    }

    @Test(arguments: [">out", "| cat >out"])
    func redirectedOutputGetsTheRows(after: String) throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.command("cd \(terminal.folder.path); : >out")
      try terminal.record()
      try terminal.runnel(demo.arguments, after: "\(after); echo ended")
      try terminal.wait("the end of the program") { $0.lines.contains("ended") }
      #expect(try terminal.recordedModes().isEmpty)
      let output = try File(check(open(terminal.folder.file("out"), O_RDONLY), "open"))
      let lines = try output.contents().split(separator: "\n")
      #expect(try lines.count == demo.messageKeys().count)
      #expect(lines.allSatisfy { $0.hasPrefix(#"{"$key":"-"#) })
    }

    @Test(arguments: Damage.allCases)
    func fileThatCannotBeReadIsLeftAsItIs(damage: Damage) throws {
      let demo = try DemoDatabase()
      try damage.apply(to: demo.file)
      let before = try bytes(of: demo.file)
      let terminal = try TmuxTerminal()
      try terminal.record()
      for arguments in [["-d", demo.file], demo.arguments] {
        try terminal.runnel(arguments)
        let screen = try terminal.wait(for: "[1] ready$")
        #expect(screen.text.contains("runnel: "))
        #expect(screen.joined.contains(damage.message))
      }
      #expect(try terminal.recordedModes().isEmpty)
      #expect(try bytes(of: demo.file) == before)
    }

    @Test func badViewsFileIsRefusedWithItsLine() throws {
      let demo = try DemoDatabase()
      let views = try demo.write(views: "views:\n  - name: One\n    paht: /user\n")
      let terminal = try TmuxTerminal()
      try terminal.record()
      try terminal.runnel(["-d", demo.file, "--views", views])
      let screen = try terminal.wait(for: "[2] ready$")
      #expect(screen.joined.contains("test.yaml:3"))
      #expect(screen.joined.contains("paht"))
      #expect(try terminal.recordedModes().isEmpty)
    }

    @Test func unknownViewIsRefusedWithTheOnesThereAre() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--view", "Rooster"])
      let screen = try terminal.wait(for: "[2] ready$")
      #expect(screen.joined.contains("Messages, Roster, Groups, Activity, Tree"))
    }

    @Test func readOnlyDatabaseIsShownAndNotChanged() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--readonly"])
      let screen = try terminal.wait(for: "row 57 of 57")
      #expect(screen.lines[0].contains("read-only"))
      for key in ["a", "e"] {
        try terminal.keys(key)
        try terminal.wait(for: "read-only: nothing can be changed")
        // The next key ends the notice; what is typed before a refusal shows would be let go.
        try terminal.keys("k")
        try terminal.wait(forNo: "read-only: nothing can be changed")
      }
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }
  }

  /// What may be wrong with a file.
  enum Damage: CaseIterable {
    case overwritten, torn, foreign, newer

    /// A part of what the program says.
    var message: String {
      switch self {
      case .overwritten: "no database"
      case .torn: "damaged"
      case .foreign: "not one of Runnel's"
      case .newer: "newer"
      }
    }

    func apply(to path: String) throws {
      let file = File(try check(open(path, O_RDWR | O_CLOEXEC), "open"))
      switch self {
      case .overwritten: try file.write(Array("Dear diary, today".utf8), at: 0)
      // All pages but the first one.
      case .torn:
        for offset in stride(from: 4096, to: try bytes(of: path).count, by: 4096) {
          try file.write(Array(repeating: 0x5A, count: 4096), at: off_t(offset))
        }
      // SQLite keeps the number of the program at 68, and that of the version at 60.
      case .foreign: try file.write([1, 2, 3, 4], at: 68)
      case .newer: try file.write([0, 0, 0, 99], at: 60)
      }
    }
  }
}

private func bytes(of path: String) throws -> [UInt8] {
  let file = File(try check(open(path, O_RDONLY | O_CLOEXEC), "open"))
  let size = try check(lseek(file.descriptor, 0, SEEK_END), "lseek")
  var bytes = [UInt8](repeating: 0, count: Int(size))
  let count = try check(pread(file.descriptor, &bytes, bytes.count, 0), "pread")
  precondition(count == bytes.count, "A file of this size is read at once.")
  return bytes
}
