import Foundation
import RunnelBase
import TestSupport
import Testing

/// A server takes its options from a file too, and the command line counts more.
@Suite struct ServeSettingsTests {
  @Test func aFileHasAllThatTheCommandLineHas() throws {
    let database = try TestDatabase("{\"a\":{\"b\":1}}")
    let folder = database.folder
    _ = try folder.write("{\"rules\":{\".read\":true}}", to: "other.rules.json")
    let settings = try folder.write(
      """
      # What is served, and how much of it.
      file: test.db
      name: main
      rules: other.rules.json
      max-read: 2
      listens-per-connection: 5
      no-access-log: true
      """, to: "serve.yaml")
    let served = try Served(["--config", settings])
    #expect(served.lines[0].contains("as main, rules of \(folder.file("other.rules.json")): 1"))
    let client = try served.client()
    #expect(try client.request("GET", "/a.json").status == 400)
    #expect(try client.request("GET", "/a/b.json?ns=main").body == "1")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    #expect(try !served.program.errors().contains("\"event\":\"request\""))
  }

  @Test func theCommandLineCountsMore() throws {
    let database = try TestDatabase("{\"a\":1}")
    let settings = try database.folder.write(
      "databases: elsewhere\nmax-read: 1\nname: other\nlisten: [localhost:1]", to: "serve.yaml")
    let served = try Served([
      database.file, "--config", settings, "--max-read", "1K", "--name", "Mine",
    ])
    #expect(served.lines[0].contains(" as mine, "))
    #expect(try served.client().request("GET", "/a.json").body == "1")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    let log = try served.program.errors()
    for words in [" serves at 127.0.0.1:", "SIGTERM: the server ends", "The server has ended"] {
      #expect(log.contains(words), "\(log)")
    }
  }

  @Test(arguments: [
    ("max-raed: 1", "serve.yaml:1: `max-raed` is not known here: did you mean `max-read`?"),
    ("name: x\nmax-read: much", "serve.yaml:2: max-read: give a number of bytes from 1"),
    ("\n\nhead-time: 5", "serve.yaml:3: head-time: give a time like 500ms, 30s, 5m or 1h."),
    ("emulator: perhaps", "serve.yaml:1: emulator: give true or false."),
    ("max-read: [1, 2]", "serve.yaml:1: max-read: one value is expected, not a list."),
    ("trusted-proxy: [10.0.0.0/99]", "serve.yaml:1: trusted-proxy: 10.0.0.0/99 is not a range"),
    ("tls-cert: a.pem", "serve.yaml:1: tls-cert: --tls-cert and --tls-key go together."),
    ("every: 1h", "serve.yaml:1: every: --every and --keep are for backups"),
    ("log-addresses: some", "serve.yaml:1: log-addresses: give full, short or none."),
    ("listen: [\":x\"]", "serve.yaml:1: listen: :x is not an address to listen on"),
    ("name: x\nadmin: x:y", "serve.yaml:2: admin: x:y is not an address to listen on"),
    ("accounts: a.db\nmail-from: x", "serve.yaml:2: mail-from: x is no address from which"),
    ("accounts: a.db\nsmtp-password-file: p", "serve.yaml:2: smtp-password-file: this is for a"),
    ("name: {a: 1}", "serve.yaml:1: A text is expected here."),
    ("name: \"x", "serve.yaml:2: This is not YAML"),
    ("max-read: 1\nmax-read: 2", "stands twice"),
    ("name: x\nrules:", "serve.yaml:2: rules: a value is expected behind the colon"),
    ("listen: []", "serve.yaml:1: listen: a value is expected behind the colon"),
    ("rules: ~/c.rules.json", "serve.yaml:1: rules: ~ is not expanded here: write the whole path"),
    (
      "bytes-per-second: much",
      "bytes-per-second: give a number of bytes from 1, like 1000, 64K, 256M or 1G, or any."
    ),
    ("bytes-per-second: any\nevery: 1h", "serve.yaml:2: every: --every"),
    ("plain-text: true", "--plain-text is for a server behind a proxy"),
  ])
  func mistakesAreToldWithTheirLines(yaml: String, message: String) throws {
    let database = try TestDatabase("{}")
    let settings = try database.folder.write(yaml + "\n", to: "serve.yaml")
    let outcome = try Program.run(["serve", database.file, "--config", settings])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func aFileThatIsNotThereIsNamed() throws {
    let outcome = try Program.run(["serve", "--config", "/nowhere/serve.yaml"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("/nowhere/serve.yaml"))
  }

  @Test(arguments: [
    (["--max-read", "much"], "--max-read: give a number of bytes"),
    (["--every", "1h"], "--every: --every and --keep are for backups"),
    (["--create-databases", "3"], "--create-databases: databases are made in a folder"),
    (["--databases", "x"], "not both"),
    (["--name", "My chat"], "--name: My chat is no name of a database: give 1 to 63 of a to z"),
    (["--name", "../x"], "is no name of a database"),
    (["--keep", "0", "--backup", "x"], "--keep: give a number"),
  ])
  func mistakesOfTheCommandLineAreToldWithTheOption(words: [String], message: String) throws {
    let database = try TestDatabase("{}")
    let outcome = try Program.run(["serve", database.file] + words)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func thePageOnServingHasAllOptions() throws {
    let help = try Program.run(["serve", "run", "--help"]).output
    let page = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Resources/docs/serve.md").standardizedFileURL,
      encoding: .utf8)
    let names = Set(help.matches(of: /--[a-z-]+/).map { String($0.output) }).subtracting(["--help"])
    #expect(names.count > 40)
    for name in names where name != "--version" {
      #expect(page.contains("`\(name)"), "\(name) is not in the page")
    }
  }

  @Test func theStartTellsHowManyCanConnect() throws {
    let database = try TestDatabase("{}")
    let served = try Served(
      ["-c", "ulimit -n 300; exec \"$0\" serve \"$@\"", try Program.path(), database.file],
      program: "/bin/sh")
    #expect(
      served.lines.contains("  for up to 200 connections; the system allows 300 open files"),
      "\(served.lines)")
  }
}
