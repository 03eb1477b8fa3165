import Glibc
import RunnelBase
import Testing

/// Names and values that a terminal would obey: nothing of them leaves the program as it is.
@Suite struct HostileTextTests {
  /// A name that moves cursors, sets titles and turns text round; of a file, and of all that is no key.
  private static let name = "a\u{1B}]0;x\u{7}\u{9B}31m\u{202E}\u{7F}\u{85}\rz"
  /// What a key may hold of it.
  private static let key = "k\u{9B}31m\u{202E}\u{85}"

  private func isClean(_ text: String) -> Bool { !ControlCharacters.areIn(text) }

  /// A text without what terminals and CSV have before line feeds.
  private func withoutReturns(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" }))
  }

  /// A folder with files of hostile names.
  private struct Hostile {
    let folder: TemporaryFolder
    let database: String
    let letter: String
    let document: String
    let home: String

    init() throws {
      folder = try TemporaryFolder()
      database = folder.file(name + ".db")
      let data = #"{"\#(key)": {"\#(key)": "v"}, "list": {"a": {"n": 1}}, "leaf": 1}"#
      let made = try Program.run(["set", "/", "-", "-d", database, "--create"], input: data)
      #expect(made.status == 0)
      letter = try folder.write(String(repeating: "no database ", count: 99), to: name + ".txt")
      document = try folder.write(#"{"\#(key)": {"a.b": 1}}"#, to: name + ".json")
      home = folder.file(name + "-home")
      try check(mkdir(home, 0o700), "mkdir")
      try check(mkdir(home + "/runnel", 0o700), "mkdir")
      _ = try folder.write("theme: \(key)\n\(key): 1\n", to: name + "-home/runnel/config.yaml")
    }

    /// The command lines that fail, or talk, about hostile names.
    var commands: [[String]] {
      let d = ["-d", database]
      let absent = folder.file(name + "x.db")
      let none = folder.file(name + ".none")
      return errorsOfArguments + [
        ["get", "-d", absent], ["set", "/a", "1", "-d", absent], ["get", "-d", none],
        ["-d", absent, "--plain"], ["demo", "-d", absent], ["get", "-d", letter],
        ["set", "/a", "1", "-d", letter], ["doctor", "-d", letter], ["compact", "-d", letter],
        ["doctor"] + d, ["compact"] + d, ["import", document] + d, ["import", none] + d,
        ["import", document, "/new"] + d, ["import", letter, "/new"] + d,
        ["import", folder.path + "/" + name + "-home", "/new"] + d,
        ["remove", "/"] + d, ["set", "/", "1"] + d, ["copy", "/leaf", "/" + key] + d,
        ["move", "/none" + key, "/b"] + d, ["move", "/" + key, "/" + key + "/x/y"] + d,
        ["set", "/leaf", "{", "-d", none], ["update", "/" + key, #"{"\#(key).": 1}"#] + d,
        ["push", "/" + key, "--lines"] + d, ["undo", "99"] + d, ["diff", "/", "--with", none] + d,
        ["diff", "/", "--with", letter] + d, ["get", "/leaf", "--format", "csv"] + d,
        ["get", "/" + key + "/" + key, "--format", "csv"] + d,
        ["get", "/list", "--order-by", key, "--explain"] + d,
        ["index", "remove", "/" + key, key] + d, ["perform", "destroy", "/" + key] + d,
        ["perform", "destroy", "/" + key, "--resources", none] + d,
        ["doctor", "--resources", document] + d, ["--views", none, "--plain"] + d,
        ["--views", document, "--plain"] + d, ["--view", name, "--plain"] + d,
        ["--plain", "--filter", name] + d, ["--replay", none], ["--replay", letter],
        ["--plain", "--log", folder.file("no/" + name)] + d,
        ["screenshot", folder.file("no/" + name)] + d, ["screenshot", letter] + d,
        ["screenshot", "-", "--config", none] + d, ["screenshot", "-", "--view", name] + d,
        ["config", "check", none], ["config", "check", document], ["config", "check"],
        ["config", "init"], ["config", "roles", "--theme", key], ["--check"], ["config", "keys"],
      ]
    }

    /// Those whose arguments are refused before a file is looked at.
    private var errorsOfArguments: [[String]] {
      [
        [name], ["--" + name], ["get", "--" + name], ["get", "/" + name], ["get", "/" + key + "."],
        ["set", "/" + key + "//x", "1"], ["set", "/a", name], ["set", "/a", #"{"\#(key).": 1}"#],
        ["get", "--where", name], ["get", "--where", "\"" + key + "\" =="],
        ["get", "--order-by", name], ["get", "--order-by", "a\n" + name],
        ["get", "--start-at", name], ["get", "--limit-to-first", name], ["get", "--format", name],
        ["watch", "--events", name], ["--view", name, "--rows", name], ["--theme", name],
        ["--color", name], ["--mouse", name], ["screenshot", "x", "--size", name],
        ["screenshot", "x", "--at", name], ["undo", name], ["history", "--keep", name],
        ["index", "add", name, "x"], ["index", "add", "/a", name], ["perform", name, "/a"],
        ["perform", "update", "/a", name], ["config", name], ["help", name],
        ["generate-demo", "--seed", name], ["--generate-completion-script", name],
      ]
    }
  }

  @Test func noMessageHasControlCharacters() throws {
    let hostile = try Hostile()
    let environment = ["XDG_CONFIG_HOME": hostile.home, "XDG_DATA_HOME": hostile.home]
    var told = 0
    for command in hostile.commands {
      let outcome = try Program.run(command, input: "{\n", environment: environment)
      let words = command.map(ControlCharacters.escapedLine)
      #expect(isClean(outcome.errors), "\(words)")
      if !["get", "diff"].contains(command[0]) { #expect(isClean(outcome.output), "\(words)") }
      #expect(outcome.status >= 0, "\(words)")
      if outcome.status != 0 { told += 1 }
    }
    #expect(told > hostile.commands.count - 12)
  }

  @Test func namesWithLineFeedsMakeNoLines() throws {
    let name = "/tmp/x\nrunnel: all is well\n.db"
    for words in [["get", "-d", name], ["get", "--database=" + name], ["get", "/a" + name]] {
      let outcome = try Program.run(words)
      #expect(outcome.errors.split(separator: "\n").count { $0.hasPrefix("runnel: ") } == 1)
      #expect(outcome.errors.contains(#"\u000arunnel: all is well"#))
    }
  }

  @Test(arguments: [
    ["get"], ["get", "--pretty"], ["export"], ["get", "--shallow"], ["get", "--format", "jsonl"],
    ["diff", "/", "/none"], ["history"], ["get", "/", "--limit-to-first", "5"],
    ["get", "--format", "csv"], ["get", "--format", "markdown"],
  ])
  func dataAtATerminalIsEscaped(command: [String]) throws {
    let text = "v\u{7F}\u{9B}31m\u{202E}\u{2066}\u{200F}é"
    let database = try TestDatabase(#"{"\#(Self.key)": {"a": "\#(text)"}}"#)
    let piped = try database.run(command).output
    let terminal = try PseudoTerminal()
    let program = try database.start(command, .init(output: .file(terminal.programEnd)))
    #expect(try program.wait() == (command[0] == "diff" ? 1 : 0))
    let shown = withoutReturns(try terminal.shown())
    #expect(isClean(shown))
    #expect(shown.contains(#"\u009b"#))
    if command.last == "csv" || command.last == "markdown" {
      return #expect(isClean(withoutReturns(piped)))
    }
    // What is piped is exact, and means the same.
    #expect(!isClean(piped))
    let (first, second) = (shown.split(separator: "\n"), piped.split(separator: "\n"))
    if command.contains("--pretty") {
      #expect(try JSONValue(parsing: shown) == JSONValue(parsing: piped))
    } else {
      try #require(first.count == second.count)
      for (one, other) in zip(first, second) {
        #expect(try JSONValue(parsing: String(one)) == JSONValue(parsing: String(other)))
      }
    }
  }

  @Test func formulasAreTexts() throws {
    let database = try TestDatabase(##"{"-a": {"=b": "=1+1", "c": -5, "d": "@x"}}"##)
    #expect(
      try database.run(["get", "--format", "csv"]).output
        == "$key,'=b,c,d\r\n'-a,'=1+1,-5,'@x\r\n")
  }
}
