import Foundation
import RunnelDatabase
import TestSupport
import Testing

/// Signing in by the command line to a server that has the accounts itself.
@Suite(.timeLimit(.minutes(5))) struct AccountServerTests {
  private static let rules = """
    {"rules":{"$user":{".read":"auth !== null",".write":"auth.uid === $user"}}}
    """

  private let database: TestDatabase
  private let served: Served
  private let accounts: String
  private let url: String

  init() throws {
    database = try TestDatabase("{\"other\":{\"n\":1}}")
    accounts = database.folder.file("accounts.db")
    let rules = try database.folder.write(Self.rules, to: "test.rules.json")
    served = try Served([
      database.file, "--accounts", accounts, "--rules", rules, "--name", "test",
    ])
    url = "http://localhost:\(served.port)/?ns=test"
  }

  private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
    try Program.run(
      arguments, input: input,
      environment: [
        "XDG_STATE_HOME": database.folder.file("state"),
        "XDG_DATA_HOME": database.folder.file("data"),
        "XDG_CONFIG_HOME": database.folder.file("config"),
      ])
  }

  private func run(_ arguments: String...) throws -> Program.Outcome { try run(arguments) }

  private func logIn(_ password: String, _ options: String...) throws -> Program.Outcome {
    try run(
      ["login", url, "--email", "ana@x.org", "--password-file", "-"] + options,
      input: password + "\n")
  }

  private func userID() throws -> String {
    let parts = try run("whoami", url).output.split(separator: "\"")
    return try #require(parts.count > 3 ? String(parts[3]) : nil)
  }

  @Test func aCommandThatLearnsOfTheEndOfTheSessionRemembersIt() throws {
    #expect(try logIn("correct horse", "--sign-up").status == 0)
    #expect(try run("get", "/other/n", "-d", url).output == "1\n")
    let reset = try run(
      ["accounts", "reset", "ana@x.org", accounts, "--password-file", "-"], input: "other horse\n")
    #expect(reset.status == 0, "\(reset.errors)")
    let refused = try run("get", "/other/n", "-d", url)
    #expect(refused.status == 1 && refused.errors.contains("Session ended"), "\(refused.errors)")
    #expect(refused.errors.contains("signs in again"))
    let nobody = try run("whoami", url)
    #expect(nobody.status == 1 && nobody.errors.contains("ana@x.org is signed out"))
    #expect(try run("account", "list", url).output.isEmpty)
  }

  @Test func pushingEndsWhenItLearnsOfTheEndOfTheSession() throws {
    #expect(try logIn("correct horse", "--sign-up").status == 0)
    let folder = database.folder.file("data/runnel/replicas")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let id = try userID()
    let file = "\(folder)/http_3alocalhost_3a\(served.port)_2ftest@\(id).db"
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: url)
    try session.close()
    #expect(try run("set", "/\(id)/n", "7", "-d", file).status == 0)
    let reset = try run(
      ["accounts", "reset", "ana@x.org", accounts, "--password-file", "-"], input: "other horse\n")
    #expect(reset.status == 0, "\(reset.errors)")
    let ended = try run("sync", "push", url)
    #expect(ended.status == 3)
    #expect(
      ended.errors.contains("1 write of ana@x.org waits, whose session has ended"),
      "\(ended.errors)")
    #expect(ended.errors.contains("Session ended: new password"), "\(ended.errors)")
    #expect(try logIn("other horse").status == 0)
    #expect(
      try run("sync", "push", url, "--timeout", "60").errors.contains("confirmed the write"))
  }

  @Test func pushingSaysThatTheAccountIsDisabled() throws {
    #expect(try logIn("correct horse", "--sign-up").status == 0)
    let folder = database.folder.file("data/runnel/replicas")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let id = try userID()
    let file = "\(folder)/http_3alocalhost_3a\(served.port)_2ftest@\(id).db"
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: url)
    try session.close()
    #expect(try run("set", "/\(id)/n", "7", "-d", file).status == 0)
    #expect(try run("accounts", "disable", "ana@x.org", accounts).status == 0)
    #expect(try run("whoami", url, "--check").errors.contains("disabled the account"))
    let ended = try run("sync", "push", url)
    #expect(ended.status == 3)
    #expect(
      ended.errors.contains("whose session has ended, as the account is disabled"),
      "\(ended.errors)")
  }

  @Test func afterTheEndOfASessionAnotherAccountIsChosen() throws {
    let bo = try run(
      ["login", url, "--sign-up", "--email", "bo@x.org", "--password-file", "-"],
      input: "correct horse\n")
    #expect(bo.status == 0, "\(bo.errors)")
    #expect(try logIn("correct horse", "--sign-up").status == 0)
    let reset = try run(
      ["accounts", "reset", "ana@x.org", accounts, "--password-file", "-"], input: "other horse\n")
    #expect(reset.status == 0, "\(reset.errors)")
    #expect(try run("get", "/other/n", "-d", url).status == 1)
    let nobody = try run("whoami", url)
    #expect(nobody.status == 1 && nobody.errors.contains("ana@x.org is signed out"))
    #expect(nobody.errors.contains("bo@x.org is signed in"), "\(nobody.errors)")
    #expect(nobody.errors.contains("runnel account use"), "\(nobody.errors)")
    let left = try run("logout", url)
    #expect(left.status == 0 && left.errors.contains("whose session had ended"))
    #expect(left.errors.contains("Commands act as bo@x.org"), "\(left.errors)")
    #expect(try run("whoami", url).output.contains("bo@x.org"))
  }

  @Test func noMessageIsSentForAnAddressThatWasConfirmedElsewhere() throws {
    #expect(try logIn("correct horse", "--sign-up").status == 0)
    #expect(try run("accounts", "update", "ana@x.org", accounts, "--verified").status == 0)
    #expect(try run("account", "verify", url).errors.contains("ana@x.org is confirmed already"))
    #expect(try run("whoami", url).output.contains("\"emailVerified\":true"))
  }

  @Test func theOwnerChangesAnAccountWhoseSessionGoesOn() throws {
    let rules = """
      {"rules":{".read":"auth.token.email_verified === true && auth.token.role === 'editor'"}}
      """
    let drafts = try TestDatabase("{\"other\":{\"n\":1}}")
    let accounts = drafts.folder.file("accounts.db")
    let file = try drafts.folder.write(rules, to: "test.rules.json")
    let editors = try Served([
      drafts.file, "--accounts", accounts, "--rules", file, "--name", "editors",
    ])
    let url = "http://localhost:\(editors.port)/?ns=editors"
    let made = try run(
      ["login", url, "--sign-up", "--email", "ed@x.org", "--password-file", "-"],
      input: "correct horse\n")
    #expect(made.status == 0, "\(made.errors)")
    #expect(try run("get", "/other/n", "-d", url).status == 1)
    let changed = try run(
      "accounts", "update", "ed@x.org", accounts, "--claims", "{\"role\":\"editor\"}", "--verified",
      "--name", "Ed")
    #expect(changed.status == 0, "\(changed.errors)")
    // The session goes on, and its next token says the new.
    let user = try run("whoami", url, "--check")
    #expect(user.output.contains("\"emailVerified\":true,\"name\":\"Ed\""), "\(user.errors)")
    #expect(try run("get", "/other/n", "-d", url).output == "1\n")
    let back = try run("accounts", "update", "ed@x.org", accounts, "--no-verified", "--no-name")
    #expect(back.status == 0)
    let account = try run("accounts", "list", accounts).output
    #expect(account.contains("\"emailVerified\":false") && !account.contains("displayName"))
    #expect(account.contains("role"), "what is not named stays")
    #expect(try run("accounts", "update", "ed@x.org", accounts).status == 2)
    let wrong = try run("accounts", "update", "ed@x.org", accounts, "--claims", "[]")
    #expect(wrong.status == 1 && wrong.errors.contains("no object in JSON"))
    #expect(try run("accounts", "update", "no@x.org", accounts, "--verified").status == 1)
  }

  @Test func aDenialNamesThePlaceAndTheUser() throws {
    #expect(try logIn("correct horse", "--sign-up").status == 0)
    for command in [["set", "/other/n", "7"], ["remove", "/other/n"], ["push", "/other", "1"]] {
      let denied = try run(command + ["-d", url])
      #expect(denied.status == 1)
      #expect(denied.errors.contains("do not let ana@x.org write /other"), "\(denied.errors)")
      #expect(denied.errors.contains("runnel rules explain"))
    }
    #expect(try run("whoami", url).status == 0, "a denial ends no session")
  }

  @Test func aUserSignsUpAndActsByTheRulesUntilAnAdministratorDisablesTheAccount() throws {
    let signedUp = try logIn("correct horse", "--sign-up")
    #expect(signedUp.status == 0, "\(signedUp.errors)")
    let user = try userID()
    #expect(try run("set", "/\(user)/n", "7", "-d", url).status == 0)
    #expect(try run("set", "/other/n", "7", "-d", url).status == 1)
    #expect(try run("get", "/other/n", "-d", url).output == "1\n")
    #expect(try run("accounts", "disable", "ana@x.org", accounts).status == 0)
    #expect(try run("get", "/other/n", "-d", url).status == 1)
    #expect(try run("whoami", url, "--check").errors.contains("disabled the account"))
    let nobody = try run("get", "/other/n", "-d", url)
    #expect(nobody.errors.contains("has ended, as the account is disabled, so"), "\(nobody.errors)")
    #expect(try run("accounts", "enable", "ana@x.org", accounts).status == 0)
    #expect(try logIn("wrong horse").errors.contains("is wrong"))
    #expect(try logIn("correct horse").status == 0)
    #expect(try userID() == user)
    #expect(try run("get", "/\(user)/n", "-d", url).output == "7\n")
    #expect(try run("logout", url).status == 0)
    #expect(try run("get", "/other/n", "-d", url).errors.contains("Sign in with `runnel login`"))
  }
}
