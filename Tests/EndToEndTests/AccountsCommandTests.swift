import Glibc
import RunnelBase
import TestSupport
import Testing

/// `runnel accounts`, beside a server that runs.
@Suite struct AccountsCommandTests {
  private struct Setting {
    let folder: TemporaryFolder
    var file: String { folder.file("accounts.db") }

    init() throws { folder = try TemporaryFolder() }

    func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
      try Program.run(["accounts"] + arguments, input: input)
    }

    func add(_ email: String, _ more: String...) throws -> Program.Outcome {
      let password = try folder.write("secret123\n", to: "password")
      return try Program.run(
        ["accounts", "add", email, file, "--password-file", password] + more)
    }
  }

  @Test func accountsAreMadeListedAndDeleted() throws {
    let setting = try Setting()
    let made = try setting.add("Ada@x.org", "--id", "ada", "--name", "Ada", "--verified")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output == "ada\n")
    let again = try setting.add("ada@x.org")
    #expect(again.status == 1)
    #expect(again.errors == "runnel: Another account has this address.\n")
    let reserved = try setting.add("bo@x.org", "--claims", "{\"sub\":1}")
    #expect(reserved.status == 1 && reserved.errors.contains("The claim sub is reserved"))
    #expect(try setting.add("bo@x.org", "--claims", "[]").errors.contains("no object in JSON"))
    let list = try setting.run("list", setting.file)
    let lines = list.output.split(separator: "\n")
    #expect(lines.count == 1)
    let record = try JSONValue(parsing: String(lines.first ?? ""))
    #expect(record["email"] == "ada@x.org")
    #expect(record["emailVerified"] == true)
    #expect(record["passwordHash"] == nil)
    #expect(try setting.run("delete", "ada@x.org", setting.file).status == 2)
    #expect(try setting.run("delete", "ada@x.org", setting.file, "--force").status == 0)
    #expect(try setting.run("list", setting.file).output == "")
    let missing = try setting.run("disable", "ada@x.org", setting.file)
    #expect(missing.status == 1)
    #expect(missing.errors.contains("There is no account ada@x.org"))
  }

  @Test func aNameThatNobodyCanReadIsRefused() throws {
    let setting = try Setting()
    for name in [" ", "\u{3000}"] {
      let blank = try setting.add("a@x.org", "--name", name)
      #expect(blank.status == 2 && blank.errors.contains("leave --name out"), "\(blank.errors)")
    }
    #expect(try setting.add("a@x.org", "--name", "A\u{1B}[2J").status == 2)
    #expect(access(setting.file, F_OK) != 0, "nothing was made")
    #expect(try setting.add("a@x.org", "--name", "Ada L.").status == 0)
    let line = try setting.run("update", "a@x.org", setting.file, "--name", "A\nB")
    #expect(line.status == 2 && line.errors.contains("no line breaks"))
    let empty = try setting.run("update", "a@x.org", setting.file, "--name", " ")
    #expect(empty.status == 2 && empty.errors.contains("--no-name takes it away"))
  }

  @Test func aPasswordThatIsTypedAheadIsNotShown() throws {
    let setting = try Setting()
    let terminal = try PseudoTerminal()
    let program = try RunningProgram(
      ["accounts", "add", "a@x.org", setting.file], .init(input: .file(terminal.programEnd)))
    try program.waitForErrors("Password: ")
    // Both are there before the second prompt.
    try terminal.testEnd.write("long-enough-1\nlong-enough-1\n")
    #expect(try program.wait() == 0)
    #expect(try !terminal.shown().contains("long-enough"))
    #expect(try program.errors().contains("Again: "))
  }

  @Test func aFileThatIsMissingIsNotMadeByMistake() throws {
    let setting = try Setting()
    for command in ["list", "export"] {
      let outcome = try setting.run(command, setting.file)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("does not exist"))
    }
    #expect(access(setting.file, F_OK) != 0)
    let database = try TestDatabase("{\"a\":1}")
    let other = try setting.run("list", database.file)
    #expect(other.status == 2)
    #expect(other.errors.contains("is a database without accounts"))
  }

  @Test func anExportIsImported() throws {
    let (one, two) = (try Setting(), try Setting())
    for name in ["ada", "bo"] {
      #expect(try one.add("\(name)@x.org", "--id", name, "--claims", "{\"a\":1}").status == 0)
    }
    let export = one.folder.file("export.json")
    #expect(try one.run("export", one.file, "--to", export).status == 0)
    var status = stat()
    #expect(stat(export, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    let imported = try two.run("import", export, two.file)
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(imported.output == "Imported 2 accounts.\n")
    let before = try one.run("export", one.file).output
    #expect(try two.run("export", two.file).output == before)
    let again = try two.run("import", export, two.file)
    #expect(again.status == 1)
    #expect(again.errors.contains("ada@x.org: Another account has this id."))
    #expect(again.errors.contains("2 of 2 accounts were not imported. With --replace"))
    #expect(try two.run("import", export, two.file, "--replace").status == 0)
  }

  @Test func hashesOfOtherServicesAreImported() throws {
    let setting = try Setting()
    let users = try setting.folder.write(
      """
      {"users":[{"localId":"a","email":"a@x.org","salt":"42xEC+ixf3L2lw==","passwordHash":\
      "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",\
      "createdAt":"1","lastSignedInAt":"2"}]}
      """, to: "users.json")
    let key = try setting.folder.write(
      "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==\n",
      to: "key")
    let unknown = try setting.run("import", users, setting.file, "--hash-algo", "MD5")
    #expect(unknown.status == 1)
    #expect(unknown.errors.contains("MD5 is not known here: SCRYPT,"))
    let keyless = try setting.run("import", users, setting.file, "--hash-algo", "SCRYPT")
    #expect(keyless.status == 2 && keyless.errors.contains("need --hash-key-file"))
    let nameless = try setting.run("import", users, setting.file)
    #expect(nameless.errors.contains("a@x.org: Name the function of the hashes"))
    let imported = try setting.run(
      "import", users, setting.file, "--hash-algo", "SCRYPT", "--hash-key-file", key,
      "--salt-separator", "Bw==", "--rounds", "8", "--mem-cost", "14")
    #expect(imported.status == 0, "\(imported.errors)")
    let database = try TestDatabase("{\"a\":1}")
    // The hashes of an emulator cost little.
    let served = try Served([database.file, "--accounts", setting.file, "--emulator"])
    func signIn() throws -> JSONValue {
      let client = try RawClient(port: served.port)
      return try JSONValue(
        parsing: client.request(
          "POST", "/v1/accounts:signInWithPassword?key=k",
          #"{"email":"a@x.org","password":"user1password"}"#
        ).body)
    }
    #expect(try signIn()["localId"] == "a")
    // The hash is one of ours now.
    let export = try setting.run("export", setting.file).output
    #expect(export.contains("\"passwordHash\":\"$scrypt$ln=10,r=8,p=1$"))
    #expect(try signIn()["localId"] == "a")
    // A running server takes what the commands do.
    let disabled = try setting.run("disable", "a@x.org", setting.file)
    #expect(disabled.status == 0 && disabled.errors.contains("a@x.org is disabled"))
    #expect(try signIn()["error"]?["message"] == "USER_DISABLED")
    #expect(try setting.run("enable", "a@x.org", setting.file).status == 0)
    let reset = try setting.run(
      "reset", "a@x.org", setting.file, "--password-file", "-", input: "another-password\n")
    #expect(reset.status == 0, "\(reset.errors)")
    #expect(try signIn()["error"]?["message"] == "INVALID_PASSWORD")
  }

  @Test func aMissingFileOfAccountsIsNoMissingDatabase() throws {
    let database = try TestDatabase()
    for command in ["secret", "service-account"] {
      let outcome = try Program.run([
        "serve", command, "new", "backend", database.folder.file("none.db"),
      ])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("`runnel serve --accounts`"), "\(outcome.errors)")
    }
  }

  @Test func optionsOfAccountsNeedAccounts() throws {
    let database = try TestDatabase("{\"a\":1}")
    for (arguments, words) in [
      (["--issuer", "https://x.example"], "give --accounts and a file"),
      (["--accounts", database.file], "cannot hold both"),
      (["--accounts", database.folder.file("a.db"), "--issuer", "x"], "give an address"),
      (
        ["--accounts", database.folder.file("a.db"), "--mail-link", "https://x.example/#/account"],
        "neither a query nor a fragment"
      ),
      (
        ["--accounts", database.folder.file("a.db"), "--smtp-user", "x"],
        "this is for a server of mail: give --smtp"
      ),
      (
        ["--accounts", database.folder.file("a.db"), "--smtp", "x", "--smtp-user", "x"],
        "--smtp-user and --smtp-password-file go together"
      ),
      (["--accounts", database.folder.file("a.db"), "--smtp", "host:0"], "give HOST"),
      (
        ["--accounts", database.folder.file("a.db"), "--mail-from", "nobody"],
        "is no address from which mails can come"
      ),
      (
        ["--accounts", database.folder.file("a.db"), "--mail-folder", "/proc/none"],
        "/proc/none cannot be made"
      ),
    ] {
      let outcome = try Program.run(["serve", database.file] + arguments)
      #expect(outcome.status == 2, "\(arguments)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
  }
}
