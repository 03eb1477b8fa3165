import Foundation
import TestSupport
import Testing

/// Signing in to the services of a server that has accounts, by commands and in the workspace.
@Suite(.timeLimit(.minutes(5))) struct ServiceSignInTests {
  private static let rules = """
    {"rules":{"messages":{".read":"auth !== null",".write":"auth !== null"}}}
    """
  private static let password = "correct horse"

  private let database: TestDatabase
  private let served: Served
  private let services: String

  init() throws {
    database = try TestDatabase("{\"messages\":{\"m1\":{\"text\":\"for members\"}}}")
    let rules = try database.folder.write(Self.rules, to: "test.rules.json")
    served = try Served([
      database.file, "--accounts", database.folder.file("accounts.db"), "--rules", rules,
      "--name", "test", "--services", "messages",
    ])
    services = "feathers+http://localhost:\(served.port)/messages"
    for name in ["ana", "bo"] {
      let made = try run(
        "login", "http://localhost:\(served.port)/?ns=test", "--sign-up", "--email",
        "\(name)@x.org", "--password-file", "-", input: "\(Self.password)\n")
      try #require(made.status == 0, "\(made.errors)")
    }
  }

  private var environment: [String: String] {
    [
      "XDG_STATE_HOME": database.folder.file("state"),
      "XDG_DATA_HOME": database.folder.file("data"),
      "XDG_CONFIG_HOME": database.folder.file("config"),
    ]
  }

  private func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
    try Program.run(arguments, input: input, environment: environment)
  }

  @Test func commandsSignInAndOut() throws {
    let wrong = try run(
      "login", services, "--email", "ana@x.org", "--password-file", "-", input: "nonsense\n")
    #expect(wrong.status == 1 && wrong.errors.contains("is wrong"), "\(wrong.errors)")
    #expect(try run("whoami", services).status == 1)
    let login = try run(
      "login", services, "--email", "ana@x.org", "--password-file", "-",
      input: "\(Self.password)\n")
    #expect(login.status == 0 && login.errors.contains("as ana@x.org"), "\(login.errors)")
    for arguments in [["whoami", services], ["whoami", services, "--check"]] {
      let outcome = try Program.run(arguments, environment: environment)
      #expect(outcome.output.contains("\"email\":\"ana@x.org\""), "\(outcome.errors)")
    }
    try FileManager.default.createDirectory(
      atPath: database.folder.file("config/runnel"), withIntermediateDirectories: true)
    _ = try database.folder.write(
      "origins: { club: { url: \"\(services)\" } }", to: "config/runnel/config.yaml")
    let found = try run("service", "find", "club", "messages", "--lines")
    #expect(found.output.contains("for members"), "\(found.errors)")
    let reset = try run("account", "reset", services, "ana@x.org")
    #expect(reset.status == 1 && reset.errors.contains("not offered"), "\(reset.errors)")
    let logout = try run("logout", services)
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(try run("whoami", services).status == 1)
    let nobody = try run("service", "find", "club", "messages")
    #expect(nobody.status == 1 && nobody.errors.contains("NotAuthenticated"), "\(nobody.errors)")
  }

  @Test func theWorkspaceSignsInAndChangesTheUser() throws {
    let terminal = try TmuxTerminal(columns: 100)
    let words = environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
    try terminal.runnel(["open", services, "--no-session"], before: words)
    try terminal.wait(for: "not signed in")
    for name in ["ana", "bo"] {
      try terminal.keys("A")
      try terminal.wait(for: "Accounts for this database")
      try terminal.keys("s")
      try terminal.wait(for: "e-mail")
      try terminal.type("\(name)@x.org")
      try terminal.keys("Tab")
      try terminal.type(Self.password)
      try terminal.keys("Enter")
      // A password is hashed, which takes long on a busy machine.
      try terminal.wait("the data of \(name)", seconds: 90) {
        $0.contains("\(name)@x.org") && $0.contains("for members") && $0.contains("● live")
          && !$0.contains("Accounts for this database")
      }
      let told = try run("whoami", services).output
      #expect(told.contains("\(name)@x.org") && !told.contains("emailVerified"), "\(told)")
    }
    try terminal.keys("A")
    try terminal.wait(for: "Accounts for this database")
    try terminal.keys("G", "d")
    try terminal.sayYes(to: "Sign out")
    try terminal.wait("the data of ana") {
      $0.contains("ana@x.org") && !$0.contains("bo@x.org") && $0.contains("for members")
    }
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }
}
