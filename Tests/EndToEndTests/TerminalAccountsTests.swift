import Foundation
import TestSupport
import Testing

/// Accounts in the workspace, at a server that has them itself.
@Suite(.timeLimit(.minutes(5))) struct TerminalAccountsTests {
  private static let rules = """
    {"rules":{".read":"auth !== null","$user":{".write":"auth.uid === $user"}}}
    """

  private let database: TestDatabase
  private let served: Served
  private let accounts: String
  private let url: String
  private let terminal: TmuxTerminal

  init() throws {
    database = try TestDatabase("{\"greeting\":{\"n\":1}}")
    accounts = database.folder.file("accounts.db")
    let rules = try database.folder.write(Self.rules, to: "test.rules.json")
    served = try Served([
      database.file, "--accounts", accounts, "--rules", rules, "--name", "test",
    ])
    url = "http://localhost:\(served.port)/?ns=test"
    terminal = try TmuxTerminal(columns: 100)
  }

  private var environment: [String: String] {
    [
      "XDG_STATE_HOME": database.folder.file("state"),
      "XDG_DATA_HOME": database.folder.file("data"),
      "XDG_CONFIG_HOME": database.folder.file("config"),
    ]
  }

  /// The variables, as a shell takes them before a command.
  private var words: String {
    environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
  }

  private func open() throws {
    try terminal.runnel(["open", url], before: words)
    let greeting = "Any key closes this"
    try terminal.wait(for: greeting)
    try terminal.keys("Escape")
    try terminal.wait(forNo: greeting)
  }

  /// Fills in the form in front, field by field.
  private func fill(_ texts: String...) throws {
    for (index, text) in texts.enumerated() {
      if index > 0 { try terminal.keys("Tab") }
      try terminal.type(text)
    }
    try terminal.keys("Enter")
  }

  private func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
    try Program.run(arguments, input: input, environment: environment)
  }

  /// Counts the program's threads that have its own name: the first one, and those that nobody named.
  private func unnamedThreads() throws -> Int {
    let tasks = "/proc/\(try terminal.foregroundProcess())/task"
    let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
      try String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
    }
    return names.count { $0.hasPrefix("runnel\n") || $0.contains("qos") }
  }

  @Test func aUserSignsUpIsDisabledAndSignsInAgain() throws {
    try open()
    try terminal.wait(for: "not signed in")
    try terminal.keys("A")
    try terminal.wait(for: "nobody is signed in")
    try terminal.keys("a")
    try terminal.wait(for: "New account")
    try fill("ana@x.org", "correct horse", "correct horse")
    try terminal.wait("her data, live", seconds: 90) {
      $0.contains("ana@x.org") && $0.contains("greeting") && $0.contains("● live")
        && !$0.contains("not signed in")
    }
    #expect(try run("whoami", url).output.contains("ana@x.org"))
    #expect(try unnamedThreads() == 1, "the runtime's pool, which wakes once a second, is not used")
    // The session is ended by an administrator: what was here stays.
    #expect(try run("accounts", "disable", "ana@x.org", accounts).status == 0)
    let ended = try terminal.wait(for: "ana@x.org: session ended")
    #expect(ended.contains("greeting"))
    #expect(try run("accounts", "enable", "ana@x.org", accounts).status == 0)
    try terminal.keys("A", "s")
    try terminal.wait(for: "Sign in")
    try terminal.type("wrong horse")
    try terminal.keys("Enter")
    // A password is hashed, which takes long on a busy machine.
    let wrong = try terminal.wait("the mistake", seconds: 90) { $0.contains("is wrong") }
    #expect(!wrong.contains("wrong horse"))
    try terminal.keys("C-u")
    try fill("correct horse")
    try terminal.wait("the session, live again", seconds: 90) {
      $0.contains("● live") && !$0.contains("session ended")
    }
    try terminal.keys("C-g")
    try terminal.wait(forNo: "Accounts for this database")
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }

  @Test func twoAccountsAreShownInTurnAndEachHasItsOwnReplica() throws {
    for name in ["ana", "bo"] {
      let made = try run(
        "login", url, "--sign-up", "--email", "\(name)@x.org", "--password-file", "-",
        input: "correct horse\n")
      #expect(made.status == 0, "\(made.errors)")
    }
    try open()
    try terminal.wait(for: "bo@x.org")
    try terminal.wait(for: "● live")
    try terminal.keys("A")
    try terminal.wait(for: "Accounts for this database")
    try terminal.keys("g", "g", "j", "Enter")
    try terminal.wait("the data of ana") {
      $0.contains("ana@x.org") && !$0.contains("Accounts for") && $0.contains("● live")
        && $0.contains("greeting")
    }
    #expect(try run("whoami", url).output.contains("ana@x.org"))
    try terminal.keys("A", "d")
    try terminal.sayYes(to: "Sign out")
    try terminal.wait("the data of bo") {
      $0.contains("bo@x.org") && !$0.contains("ana@x.org") && $0.contains("● live")
    }
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
    #expect(try run("account", "list", url).output.split(separator: "\n").count == 1)
  }

  @Test func everyWindowShowsTheSessionThatCommandsEndAndBegin() throws {
    let login = ["login", url, "--email", "ana@x.org", "--password-file", "-"]
    func signIn(_ more: String...) throws {
      let outcome = try Program.run(
        login + more, input: "correct horse\n", environment: environment)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    try signIn("--sign-up")
    try open()
    let second = try TmuxTerminal(columns: 100)
    try second.runnel(["open", url], before: words)
    let windows = [terminal, second]
    for window in windows {
      try window.wait("her data, live") { $0.contains("ana@x.org") && $0.contains("● live") }
    }
    #expect(try run("logout", url).status == 0)
    for window in windows { try window.wait(for: "ana@x.org: session ended") }
    try signIn()
    for window in windows {
      try window.wait("the session, live again", seconds: 90) {
        $0.contains("● live") && $0.contains("ana@x.org") && !$0.contains("session ended")
      }
      try window.keys("q")
      try window.wait(for: TmuxTerminal.prompt)
    }
  }

  @Test func accountsAreForgottenAtTheEndIfNoneIsToBeKept() throws {
    let memory = database.folder.file("memory")
    try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: false)
    try terminal.runnel(
      ["open", url, "--no-keep"], before: "\(words) XDG_RUNTIME_DIR='\(memory)'")
    let greeting = "Any key closes this"
    try terminal.wait(for: greeting)
    try terminal.keys("Escape")
    try terminal.wait(forNo: greeting)
    try terminal.keys("A")
    try terminal.wait(for: "nobody is signed in")
    try terminal.keys("a")
    try terminal.wait(for: "New account")
    try fill("ana@x.org", "correct horse", "correct horse")
    try terminal.wait("her data, live", seconds: 90) {
      $0.contains("ana@x.org") && $0.contains("greeting") && $0.contains("● live")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: memory).count == 1)
    #expect(try run("whoami", url).status == 1)
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
    #expect(try FileManager.default.contentsOfDirectory(atPath: memory).isEmpty)
    #expect(try run("whoami", url).status == 1)
  }

  @Test func writesOfAForgottenAnonymousUserAreSaidToBeNeverSent() throws {
    try terminal.runnel(["open", url, "--no-keep"], before: words)
    let greeting = "Any key closes this"
    try terminal.wait(for: greeting)
    try terminal.keys("Escape")
    try terminal.wait(forNo: greeting)
    try terminal.keys("A")
    try terminal.wait(for: "nobody is signed in")
    try terminal.keys("o")
    try terminal.sayYes(to: "New user without an address")
    try terminal.wait("the data of the anonymous user", seconds: 90) {
      $0.contains("anonymous") && $0.contains("greeting") && $0.contains("● live")
    }
    try served.program.send(SIGTERM)
    try terminal.wait(for: "offline", seconds: 60)
    // Another program writes for the user, while the workspace has the replica open.
    let folder = database.folder.file("data/runnel/replicas")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
      $0.hasSuffix(".db") && $0.contains("@") && !$0.hasSuffix("@public.db")
    }
    let file = try #require(files.first)
    let user = String(file.dropLast(3).split(separator: "@").last ?? "")
    #expect(try run("set", "/\(user)/n", "7", "-d", "\(folder)/\(file)").status == 0)
    try terminal.wait(for: "↑1", seconds: 60)
    try terminal.keys("C-g", "q")
    try terminal.sayYes(to: "it is never sent then")
    try terminal.wait(for: "an account without an address")
    let push = try run("sync", "push", url)
    #expect(push.status == 1 && push.errors.contains("never sent"), "\(push.errors)")
    #expect(!push.errors.contains("runnel login"))
  }

  @Test func dataOfAnEndedSessionStaysReadableAfterARestart() throws {
    let made = try run(
      "login", url, "--sign-up", "--email", "ana@x.org", "--password-file", "-",
      input: "correct horse\n")
    #expect(made.status == 0, "\(made.errors)")
    try open()
    try terminal.wait("her data") { $0.contains("● live") && $0.contains("greeting") }
    // The values in sight are kept, and a level that was only listed is not.
    try terminal.keys("g", "g", "j", "l")
    try terminal.wait(for: "▾ greeting")
    try terminal.wait(for: " n ")
    // It is followed, and so kept, once a change of others shows.
    #expect(try database.run(["set", "/greeting/n", "27"]).status == 0)
    try terminal.wait(for: " 27 ")
    #expect(try run("accounts", "disable", "ana@x.org", accounts).status == 0)
    try terminal.wait(for: "ana@x.org: session ended")
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
    let out = try run("whoami", url).errors
    #expect(
      out.contains("ana@x.org is signed out.") && out.contains("once it is enabled"), "\(out)")
    // The next run shows her data and why she is signed out, and what she writes waits.
    try terminal.runnel(["open", url], before: words)
    try terminal.wait("her data, and why she is signed out") {
      $0.contains("ana@x.org: session ended") && $0.contains("greeting")
        && $0.contains("A s signs in once it is enabled")
    }
    #expect(try run("accounts", "enable", "ana@x.org", accounts).status == 0)
    try terminal.keys("A", "s")
    try terminal.wait(for: "Sign in")
    try fill("correct horse")
    try terminal.wait("the session, live again", seconds: 90) {
      $0.contains("● live") && !$0.contains("session ended")
    }
    #expect(try run("whoami", url).output.contains("ana@x.org"))
    try terminal.keys("C-g")
    try terminal.wait(forNo: "Accounts for this database")
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }

  @Test func anonymousUserWritesAndKeepsTheDataWithAnAddress() throws {
    try open()
    try terminal.keys("A")
    try terminal.wait(for: "nobody is signed in")
    try terminal.keys("o")
    try terminal.sayYes(to: "New user without an address")
    try terminal.wait("the data of the anonymous user", seconds: 90) {
      $0.contains("anonymous") && $0.contains("greeting") && $0.contains("● live")
    }
    let user = try run("whoami", url).output
    #expect(user.contains("\"method\":\"anonymous\""))
    try terminal.keys("A", "u")
    try terminal.wait(for: "Give the account an address")
    try fill("ana@x.org", "correct horse", "correct horse")
    try terminal.wait("the address", seconds: 90) {
      $0.contains("ana@x.org") && !$0.contains("anonymous") && !$0.contains("again")
    }
    #expect(try run("whoami", url).output.prefix(38) == user.prefix(38))
    try terminal.keys("C-g", "q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }
}
