import AccountSimulation
import Foundation
import RunnelBase
import RunnelDatabase
import TestSupport
import Testing

/// Signing in and out, and accounts, by the command line: with an account service in this process, and
/// a server whose rules ask who reads.
@Suite(.timeLimit(.minutes(5))) struct AccountCommandTests {
  private static let rules = """
    {"rules":{"$user":{".read":"auth.uid === $user",".write":"auth.uid === $user"}}}
    """

  private let database: TestDatabase
  private let served: Served
  private let service = FakeAccounts { Int64(Date().timeIntervalSince1970 * 1000) }
  private let environment: [String: String]
  private let url: String

  init() throws {
    database = try TestDatabase("{\"ana\":{\"n\":1},\"bo\":{\"n\":2}}")
    let rules = try database.folder.write(Self.rules, to: "test.rules.json")
    served = try Served([database.file, "--emulator", "--rules", rules, "--name", "test"])
    url = "http://localhost:\(served.port)/?ns=test"
    environment = [
      "XDG_STATE_HOME": database.folder.file("state"),
      "XDG_DATA_HOME": database.folder.file("data"),
      "XDG_CONFIG_HOME": database.folder.file("config"),
    ]
    for name in ["ana", "bo"] { service.add(name, "\(name)@x.org", "secret-\(name)") }
  }

  private func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
    try Program.run(arguments, input: input, environment: environment)
  }

  private func logIn(_ name: String, _ port: Int) throws -> Program.Outcome {
    try run(
      "login", url, "--emulator", "http://localhost:\(port)", "--email", "\(name)@x.org",
      "--password-file", "-", input: "secret-\(name)\n")
  }

  @Test func commandsActAsTheUserWhoIsSignedIn() async throws {
    try await withAccountWeb(service) { port in
      let nobody = try run("whoami", url)
      #expect(nobody.status == 1)
      #expect(nobody.errors.contains("Nobody is signed in to"))
      #expect(try run("get", "/ana/n", "-d", url).errors.contains("Sign in with `runnel login`"))
      // {"alg":"none"}.{"v":0,"iat":1,"d":{"uid":"etta"}}
      let token = "eyJhbGciOiJub25lIn0.eyJ2IjowLCJpYXQiOjEsImQiOnsidWlkIjoiZXR0YSJ9fQ."
      let etta = try Program.run(
        ["whoami", url], environment: environment.merging(["RUNNEL_TOKEN": token]) { $1 })
      #expect(etta.output == "{\"user\":\"etta\",\"method\":\"token\"}\n", "\(etta.errors)")
      let login = try logIn("ana", port)
      #expect(login.status == 0 && login.errors.contains("as ana@x.org"), "\(login.errors)")
      #expect(login.output.isEmpty)
      #expect(
        try run("whoami", url).output
          == "{\"user\":\"ana\",\"email\":\"ana@x.org\",\"emailVerified\":false,\"method\":\"password\"}\n"
      )
      #expect(try run("get", "/ana/n", "-d", url).output == "1\n")
      #expect(try run("set", "/ana/n", "7", "-d", url).status == 0)
      #expect(try run("get", "/bo/n", "-d", url).status == 1)
      #expect(try run("logout", url).status == 0)
      #expect(try run("get", "/ana/n", "-d", url).status == 1)
      #expect(try run("logout", url).status == 1)
    }
  }

  @Test func severalAccountsAreSignedIn() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      #expect(try logIn("bo", port).status == 0)
      #expect(try run("get", "/bo/n", "-d", url).output == "2\n")
      let lines = try run("account", "list", url).output.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.first?.contains("\"active\":false") == true)
      #expect(lines.last?.contains("\"active\":true") == true)
      #expect(try run("account", "use", url, "ana@x.org").status == 0)
      #expect(try run("get", "/ana/n", "-d", url).output == "1\n")
      #expect(try run("account", "use", url, "cy").errors.contains("is not signed in"))
      #expect(try run("logout", url).errors.contains("ana@x.org"))
      #expect(try run("whoami", url).output.contains("bo@x.org"), "the other becomes active")
      #expect(try run("logout", url, "--all").status == 0)
      #expect(try run("account", "list", url).output.isEmpty)
    }
  }

  @Test func aWrongPasswordAndAnUnreachableServiceAreToldApart() async throws {
    try await withAccountWeb(service) { port in
      let wrong = try run(
        "login", url, "--emulator", "http://localhost:\(port)", "--email", "ana@x.org",
        "--password-file", "-", input: "nonsense\n")
      #expect(wrong.status == 1)
      #expect(wrong.errors.contains("The password is wrong."))
      #expect(!wrong.errors.contains("nonsense"))
      let empty = try run("login", url, "--email", "ana@x.org", "--password-file", "-")
      #expect(empty.status == 1 && empty.errors.contains("No password was given"))
    }
    let unreachable = try logIn("ana", 1)
    #expect(unreachable.status == 3, "\(unreachable.errors)")
    let insecure = try run(
      "login", "http://chat.example.com/?ns=x", "--email", "a@x.org", "--password-file", "-",
      input: "secret\n")
    #expect(insecure.status == 1 && insecure.errors.contains("use https"))
    for arguments in [
      ["login", url, "--anonymous", "--email", "a@x.org"],
      ["login", url, "--api-key", "k", "--emulator", "http://localhost:1"],
      ["login", url, "--password-file", "-", "--password-fd", "3"], ["whoami", "no-such-profile"],
      ["whoami", url, "--ca", "/nowhere.pem"], ["get", "/", "-d", url, "--ca", "/nowhere.pem"],
    ] {
      #expect(try Program.run(arguments, environment: environment).status == 2, "\(arguments)")
    }
  }

  @Test func anAccountIsMadeChangedAndDeleted() async throws {
    try await withAccountWeb(service) { port in
      let file = try database.folder.write("first-secret\nmore\n", to: "password")
      let made = try run(
        "login", url, "--emulator", "http://localhost:\(port)", "--sign-up", "--email", "cy@x.org",
        "--password-file", file)
      #expect(made.status == 0, "\(made.errors)")
      let second = try database.folder.write("second-secret\n", to: "second")
      let changed = try run(
        "account", "password", url, "--current-file", file, "--password-file", second)
      #expect(changed.status == 0, "\(changed.errors)")
      #expect(try run("account", "name", url, "Cy").status == 0)
      #expect(try run("whoami", url, "--check").output.contains("\"name\":\"Cy\""))
      #expect(try run("account", "name", url, "--remove").errors.contains("was removed"))
      #expect(try !run("whoami", url, "--check").output.contains("\"name\""))
      #expect(try run("account", "name", url).status == 2)
      #expect(try run("account", "verify", url, "--code").errors.contains("No code was given"))
      let silent = try run("account", "email", url, "cy1@x.org")
      #expect(silent.status == 1 && silent.errors.contains("No present password was given"))
      #expect(silent.errors.contains("--current-file"))
      #expect(try run("account", "verify", url).status == 0)
      let code = try #require(service.code("VERIFY_EMAIL"))
      #expect(try run("account", "verify", url, "--code", input: code + "\n").status == 0)
      #expect(try run("whoami", url).output.contains("\"emailVerified\":true"))
      #expect(
        try run("account", "email", url, "cy1@x.org", "--current-file", second).status == 0)
      let change = try #require(service.code("VERIFY_AND_CHANGE_EMAIL"))
      let used = try run("account", "verify", url, "--code", input: change + "\n")
      #expect(used.errors.contains("The address is cy1@x.org from now on"), "\(used.errors)")
      let now = try run("account", "email", url, "cy2@x.org", "--now", "--current-file", second)
      #expect(now.status == 0 && now.errors.contains("and not confirmed: `runnel account verify"))
      #expect(try run("whoami", url).output.contains("cy2@x.org"))
      service.change { $0.partsAccounts = true }
      #expect(try run("account", "name", url, " ").errors.contains("--remove takes it away"))
      #expect(try run("account", "name", url, "").errors.contains("--remove takes the name away"))
      #expect(try run("account", "name", url, "A\nB").errors.contains("no line breaks"))
      #expect(try run("account", "reset", url, "cy2@x.org").status == 0)
      let reset = try #require(service.code("PASSWORD_RESET"))
      let third = try run(
        "account", "reset", url, "cy2@x.org", "--code", "--password-file", file,
        input: reset + "\n")
      #expect(third.status == 0, "\(third.errors)")
      #expect(third.errors.contains("cy2@x.org belongs to a new account now"), "\(third.errors)")
      #expect(try run("account", "delete", url, "--current-file", file).status == 2)
      let deleted = try run("account", "delete", url, "--force", "--current-file", file)
      #expect(deleted.status == 0, "\(deleted.errors)")
      #expect(try run("whoami", url).status == 1)
    }
  }

  @Test func aSessionThatWasEndedAtTheServiceIsTold() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      service.revoke("ana")
      let outcome = try run("whoami", url, "--check")
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("signs in again"), "\(outcome.errors)")
      #expect(try run("whoami", url).status == 1)
    }
  }

  /// Makes the replica of a user, with a write that waits.
  private func leaveWrite(of user: String) throws {
    let folder = database.folder.file("data/runnel/replicas")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = "\(folder)/http_3alocalhost_3a\(served.port)_2ftest@\(user).db"
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: url)
    try session.close()
    let outcome = try run("set", "/\(user)/n", "7", "-d", file)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func writesOfAUserWhoIsNotSignedInAreToldAndSentAfterTheSignIn() async throws {
    try await withAccountWeb(service) { port in
      #expect(try run("sync", "push", url).status == 0)
      #expect(try logIn("ana", port).status == 0)
      try leaveWrite(of: "ana")
      service.revoke("ana")
      #expect(try run("whoami", url, "--check").status == 1)
      let ended = try run("sync", "push", url)
      #expect(ended.status == 3)
      #expect(
        ended.errors.contains("1 write of ana@x.org waits, whose session has ended"),
        "\(ended.errors)")
      #expect(ended.errors.contains("runnel login"))
      #expect(try run("logout", url).status == 0)
      #expect(try logIn("ana", port).status == 0)
      #expect(try run("logout", url).errors.contains("1 write waits: it is sent after"))
      let out = try run("sync", "push", url)
      #expect(
        out.status == 3 && out.errors.contains("1 write of ana@x.org waits, who is not signed in"))
      let told = try logIn("ana", port).errors
      #expect(told.contains("1 write waits of this account: `runnel sync push"), "\(told)")
      #expect(try run("logout", url).status == 0)
      // Another user has nothing that waits.
      #expect(try logIn("bo", port).status == 0)
      let other = try run("sync", "push", url)
      #expect(other.status == 0 && other.errors.contains("1 write of ana@x.org waits"))
      #expect(try logIn("ana", port).status == 0)
      #expect(try run("account", "use", url, "bo").errors.contains("is used as bo@x.org"))
      #expect(try run("sync", "push", url).errors.contains("runnel account use"))
      #expect(try run("account", "use", url, "ana").status == 0)
      let sent = try run("sync", "push", url, "--timeout", "60")
      #expect(sent.status == 0 && sent.errors.contains("confirmed the write"), "\(sent.errors)")
      #expect(try run("get", "/ana/n", "-d", url).output == "7\n")
    }
  }

  @Test func writesOfAnEarlierAccountWithTheAddressAreToldAndGivenUp() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      try leaveWrite(of: "ana")
      service.change { $0.records["ana"] = nil }
      #expect(try run("whoami", url, "--check").status == 1)
      service.add("ana2", "ana@x.org", "secret-ana")
      #expect(try logIn("ana", port).status == 0)
      let told = try run("sync", "push", url)
      #expect(told.status == 1, "\(told.errors)")
      #expect(told.errors.contains("1 write of the earlier account ana of ana@x.org waits"))
      #expect(told.errors.contains("another account now, ana2"))
      #expect(
        told.errors.contains("`runnel sync drop") && told.errors.contains(" ana` gives it up"))
      #expect(try run("sync", "status").output.contains("\"user\":\"ana\",\"pending\":1"))
      let both = try run("sync", "drop", url, "ana@x.org", "--force")
      #expect(both.status == 2)
      #expect(
        both.errors.contains("Two accounts have the address ana@x.org: ana and ana2."),
        "\(both.errors)")
      let unasked = try run("sync", "drop", url, "ana")
      #expect(unasked.status == 2 && unasked.errors.contains("would give up 1 write"))
      let dropped = try run("sync", "drop", url, "ana", "--force")
      #expect(dropped.status == 0 && dropped.errors.contains("/ana/n"), "\(dropped.errors)")
      #expect(try run("sync", "push", url).errors.contains("There are no pending writes"))
      #expect(
        try run("sync", "drop", url, "ana", "--force").errors.contains("No write of ana waits"))
      #expect(try run("get", "/ana/n", "-d", database.file).output == "1\n")
    }
  }

  /// Once, the sign-out forgot the address.
  @Test func writesOfAnEarlierAccountAreToldAfterASignOut() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      try leaveWrite(of: "ana")
      #expect(try run("logout", url).errors.contains("1 write waits: it is sent after"))
      service.change { $0.records["ana"] = nil }
      service.add("ana2", "ana@x.org", "secret-ana")
      let words = "1 write of the earlier account ana of ana@x.org waits"
      let signIn = try logIn("ana", port)
      #expect(signIn.status == 0 && signIn.errors.contains(words), "\(signIn.errors)")
      let told = try run("sync", "push", url)
      #expect(told.status == 1 && told.errors.contains(words), "\(told.errors)")
      let both = try run("sync", "drop", url, "ana@x.org", "--force")
      #expect(both.status == 2 && both.errors.contains(": ana and ana2."), "\(both.errors)")
      #expect(try run("sync", "drop", url, "ana", "--force").status == 0)
      #expect(try run("sync", "push", url).errors.contains("There are no pending writes"))
    }
  }

  @Test func theWritesOfAnAddressAreGivenUpAfterASignOut() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      try leaveWrite(of: "ana")
      #expect(try run("logout", url).status == 0)
      let dropped = try run("sync", "drop", url, "ana@x.org", "--force")
      #expect(dropped.status == 0, "\(dropped.errors)")
      #expect(dropped.errors.contains("1 write of ana@x.org given up."))
    }
  }

  /// This device has not learnt before the sign-in that the earlier session ended.
  @Test func signInSaysAtOnceWhichWritesOfAnEarlierAccountWait() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      try leaveWrite(of: "ana")
      service.change { $0.records["ana"]?.email = "ana-new@x.org" }
      service.revoke("ana")
      service.add("ana2", "ana@x.org", "secret-ana")
      let told = try logIn("ana", port)
      #expect(told.status == 0)
      #expect(
        told.errors.contains("1 write of the earlier account ana of ana@x.org waits"),
        "\(told.errors)")
      #expect(told.errors.contains("if the earlier account has another address now, sign in"))
      let waits = try run("sync", "push", url)
      #expect(waits.status == 1 && waits.errors.contains("sync drop"), "\(waits.errors)")
      let moved = try run(
        "login", url, "--emulator", "http://localhost:\(port)", "--email", "ana-new@x.org",
        "--password-file", "-", input: "secret-ana\n")
      #expect(moved.status == 0, "\(moved.errors)")
      let sent = try run("sync", "push", url, "--timeout", "60")
      #expect(sent.status == 0 && sent.errors.contains("confirmed the write"), "\(sent.errors)")
    }
  }

  @Test func signOutOfAnAnonymousUserIsAskedAndItsWritesAreNeverSent() async throws {
    try await withAccountWeb(service) { port in
      let made = try run(
        "login", url, "--emulator", "http://localhost:\(port)", "--anonymous")
      #expect(made.status == 0, "\(made.errors)")
      let who = try JSONValue(parsing: Array(try run("whoami", url).output.utf8))
      let user = try #require(who["user"]?.string)
      try leaveWrite(of: user)
      let asked = try run("logout", url)
      #expect(asked.status == 2 && asked.errors.contains("1 write waits"), "\(asked.errors)")
      #expect(asked.errors.contains("nobody can sign in to this account again"))
      #expect(try run("whoami", url).status == 0)
      let out = try run("logout", url, "--force")
      #expect(out.status == 0 && out.errors.contains("it is never sent"), "\(out.errors)")
      let push = try run("sync", "push", url)
      #expect(push.status == 1 && push.errors.contains("it is never sent"), "\(push.errors)")
      #expect(push.errors.contains(" \(user)` gives it up"))
    }
  }

  @Test func anonymousAccountGetsAnAddressByACommand() async throws {
    try await withAccountWeb(service) { port in
      #expect(
        try run("login", url, "--emulator", "http://localhost:\(port)", "--anonymous").status == 0)
      let email = try run("account", "email", url, "dy@x.org")
      #expect(email.status == 1 && email.errors.contains("`runnel account upgrade"))
      for command in ["password", "verify"] {
        let lacking = try run("account", command, url)
        #expect(lacking.status == 1 && lacking.errors.contains("`runnel account upgrade"))
      }
      let upgrade = ["account", "upgrade", url, "dy@x.org", "--password-file", "-"]
      let made = try Program.run(upgrade, input: "long enough\n", environment: environment)
      #expect(made.status == 0 && made.errors.contains("has the address dy@x.org now"))
      #expect(try run("whoami", url).output.contains("dy@x.org"))
      let again = try Program.run(upgrade, input: "long enough\n", environment: environment)
      #expect(again.status == 1 && again.errors.contains("runnel account email"))
    }
  }

  @Test func deletionMakesAnotherAccountActiveAndSaysSo() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("bo", port).status == 0)
      #expect(try logIn("ana", port).status == 0)
      let current = try database.folder.write("secret-ana\n", to: "current")
      let both = try run(
        "account", "delete", url, "--force", "--current-file", current, "--password-file", current)
      #expect(both.errors.contains("alone"), "\(both.errors)")
      let deleted = try run("account", "delete", url, "--force", "--password-file", current)
      #expect(deleted.status == 0, "\(deleted.errors)")
      #expect(deleted.errors.contains("Commands act as bo@x.org from now on"))
      #expect(try run("whoami", url).output.contains("bo@x.org"))
    }
  }

  @Test func deletionOfAnAccountSaysWhatWaits() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      try leaveWrite(of: "ana")
      let own = try run("account", "email", url, "Ana@x.org", "--now")
      #expect(own.status == 1 && own.errors.contains("the address of this account already"))
      let file = try database.folder.write("secret-ana\n", to: "password")
      let asked = try run("account", "delete", url, "--current-file", file)
      #expect(
        asked.status == 2 && asked.errors.contains("1 write waits, and is never sent then"),
        "\(asked.errors)")
      let deleted = try run("account", "delete", url, "--force", "--current-file", file)
      #expect(
        deleted.status == 0 && deleted.errors.contains("it is never sent"), "\(deleted.errors)")
      #expect(try run("sync", "push", url).status == 1)
    }
  }

  @Test func accountsWithOneAddressAreNamedByTheirIDs() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      #expect(try logIn("bo", port).status == 0)
      service.change { $0.records["bo"]?.email = "ana@x.org" }
      #expect(try run("whoami", url, "--check").status == 0)
      let several = try run("account", "use", url, "ana@x.org")
      #expect(several.status == 2 && several.errors.contains("one of ana, bo"), "\(several.errors)")
    }
  }

  @Test func onlyTheUserMayReadTheSessionAndNoPasswordIsInIt() async throws {
    try await withAccountWeb(service) { port in
      #expect(try logIn("ana", port).status == 0)
      let state = database.folder.file("state")
      let files = try #require(FileManager.default.enumerator(atPath: state))
      var count = 0
      for case let name as String in files {
        let path = "\(state)/\(name)"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        #expect(mode & 0o077 == 0, "\(name)")
        guard let data = FileManager.default.contents(atPath: path) else { continue }
        count += 1
        #expect(!String(decoding: data, as: UTF8.self).contains("secret-ana"), "\(name)")
      }
      #expect(count > 0)
    }
  }
}
