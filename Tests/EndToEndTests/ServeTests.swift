import Foundation
import RunnelBase
import TestSupport
import Testing

@Suite struct ServeTests {
  @Test func theStartTellsWhereAndForWhomItServes() throws {
    let database = try TestDatabase("{\"a\":1}")
    let served = try Served([database.file])
    #expect(
      served.lines[0] == "Serving \(database.file) as test, open to everyone on this machine")
    #expect(
      served.lines.contains { $0.hasPrefix("  curl 'http://localhost:\(served.port)/.json?") })
    #expect(try served.client().request("GET", "/a.json").body == "1")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    let log = try served.program.errors()
    #expect(log.contains("\"path\":\"/a.json\",\"status\":200"))
    #expect(log.contains("\"address\":\"127.0.0.0\""))
  }

  /// Root may set options of sockets that others may not.
  @Test func nobodyNeedsRightsToServe() throws {
    let database = try TestDatabase("{\"a\":1}")
    let serve = ["serve", database.file]
    let bare = ["--bounding-set=-all", "--inh-caps=-all", "--", try Program.path()]
    let served =
      try geteuid() == 0
      ? Served(bare + serve, program: "/usr/bin/setpriv") : Served([database.file])
    #expect(try served.client().request("GET", "/a.json").body == "1")
    #expect(try served.client().request("PUT", "/a.json", "2").status == 200)
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  @Test func theLogHasNoSecrets() throws {
    let database = try TestDatabase("{\"a\":1}")
    let secret = try Program.run(["serve", "secret", "new", "ci", database.file]).output
      .filter { !$0.isNewline }
    #expect(secret.count == 40)
    let rules = try database.folder.write("{\"rules\":{}}", to: "test.rules.json")
    let served = try Served([database.file, "--rules", rules])
    let client = try served.client()
    #expect(try client.request("GET", "/a.json").status == 401)
    #expect(try client.request("GET", "/a.json?auth=\(secret)").body == "1")
    let bearer = ["Authorization": "Bearer \(secret)"]
    #expect(try client.request("PUT", "/a.json", "\"hush\"", headers: bearer).status == 200)
    try served.program.send(SIGINT)
    #expect(try served.program.wait() == 0)
    let log = try served.program.errors()
    #expect(!log.contains(secret))
    #expect(!log.contains("hush"))
  }

  @Test func filesWhoseNamesAreNoNamesOfDatabasesAreTold() throws {
    let database = try TestDatabase("{\"a\":1}")
    let folder = database.folder.file("many")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: database.file, toPath: folder + "/chat.db")
    try FileManager.default.copyItem(atPath: database.file, toPath: folder + "/K\u{fc}che 2.db")
    let served = try Served(["--databases", folder])
    #expect(served.lines[0].contains("as chat,"))
    #expect(
      served.lines.contains { $0.hasPrefix("Not served: ") && $0.contains("K\u{fc}che 2.db") },
      "\(served.lines)")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    #expect(try served.program.errors().contains("its name is no name of a database"))
  }

  @Test func accessIsGivenToADatabaseAndNotToAFolder() throws {
    let database = try TestDatabase("{\"a\":1}")
    let folder = database.folder.file("many")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for words in [
      ["secret", "new", "all"], ["secret", "list"], ["service-account", "new", "all"],
    ] {
      let outcome = try Program.run(["serve"] + words + [folder])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("is a folder: name one of the databases in it"))
    }
  }

  @Test func secretsAreListedAndTakenBack() throws {
    let database = try TestDatabase("{\"a\":1}")
    func secret(_ words: String...) throws -> Program.Outcome {
      try Program.run(["serve", "secret"] + words + [database.file])
    }
    #expect(try secret("new", "one").status == 0)
    #expect(try secret("new", "one").status == 1)
    #expect(try secret("list").output == "one\n")
    #expect(try secret("remove", "one").status == 0)
    #expect(try secret("remove", "one").status == 1)
    #expect(try secret("list").output == "")
  }

  /// The name was forgotten, so that the secret would be for the database of the commands.
  @Test func aSecretIsNotCalledLikeADatabase() throws {
    let database = try TestDatabase("{\"a\":1}")
    let bare = database.folder.file("bare")
    try FileManager.default.copyItem(atPath: database.file, toPath: bare)
    for name in ["work.db", database.file, bare] {
      let outcome = try Program.run(["serve", "secret", "new", name])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("is the name of a file"), "\(outcome.errors)")
    }
    let made = try Program.run(["serve", "secret", "new", "one", database.file])
    #expect(made.status == 0)
    #expect(made.errors == "runnel: The secret one is for \(database.file).\n")
    let missing = try Program.run(["serve", "secret", "remove", "two", database.file])
    #expect(missing.status == 1)
    #expect(missing.errors.contains("`runnel serve secret list \(database.file)`"))
  }

  @Test func readsMakeNoDatabasesAndWritesUpToANumber() throws {
    let database = try TestDatabase("{\"a\":1}")
    let folder = database.folder.file("many")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: database.file, toPath: folder + "/chat.db")
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".db") }
        .sorted()
    }
    // The number is that of the folder, so that a restart gives no more.
    for _ in 0..<2 {
      let served = try Served(["--databases", folder, "--emulator", "--create-databases", "2"])
      let client = try served.client()
      #expect(try client.request("GET", "/a.json?ns=chat").body == "1")
      if try names().count == 1 {
        let read = try client.request("GET", "/a.json?ns=chta")
        #expect(read.status == 200 && read.body == "null")
        let rules = try client.request("GET", "/.settings/rules.json?ns=chta")
        #expect(rules.body.contains("\".read\":true"))
        // What a page may do is asked before it reads, too.
        let asked = try client.request("OPTIONS", "/a.json?ns=chta")
        #expect(asked.status == 204)
        #expect(asked.headers["access-control-allow-methods"]?.contains("PUT") == true)
        #expect(asked.headers["access-control-allow-origin"] == "*")
        #expect(try names() == ["chat.db"])
        #expect(try client.request("PUT", "/a.json?ns=new", "2").status == 200)
      }
      #expect(try client.request("GET", "/a.json?ns=new").body == "2")
      #expect(try names() == ["chat.db", "new.db"])
      for method in ["PUT", "GET"] {
        let full = try client.request(method, "/a.json?ns=other", method == "PUT" ? "3" : nil)
        #expect(full.status == 404)
        #expect(full.body.contains("--create-databases 2"), "\(full.body)")
      }
      #expect(try names() == ["chat.db", "new.db"])
      try served.program.send(SIGTERM)
      #expect(try served.program.wait() == 0)
    }
  }

  @Test func serviceAccountsHaveAKeyFileAndAreTakenBack() throws {
    let database = try TestDatabase("{\"a\":1}")
    let key = database.folder.file("ci.key.json")
    func account(_ words: String..., more: [String] = []) throws -> Program.Outcome {
      try Program.run(["serve", "service-account"] + words + [database.file] + more)
    }
    let made = try account("new", "ci", more: ["--to", key, "--server", "https://a.example/"])
    #expect(made.status == 0)
    #expect(made.output == key + "\n")
    let json = try JSONValue(parsing: Array(#require(FileManager.default.contents(atPath: key))))
    #expect(json["token_uri"] == "https://a.example/oauth2/token")
    var status = stat()
    #expect(stat(key, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try account("new", "ci", more: ["--to", key + "2"]).status == 1)
    let taken = try account("new", "cd", more: ["--to", key])
    #expect(taken.errors.contains("is there already"))
    #expect(try account("new", "No", more: ["--to", key + "2"]).status == 2)
    #expect(try account("new", "x", more: ["--server", "a.example"]).status == 2)
    #expect(try account("list").output == "ci\n")
    #expect(try account("remove", "ci").status == 0)
    #expect(try account("remove", "ci").status == 1)
    #expect(try account("list").output == "")
  }

  @Test func rulesAreReadAgainWhenTheyChangeOrBySignal() throws {
    let database = try TestDatabase("{\"a\":1}")
    let served = try Served([database.file])
    let client = try served.client()
    #expect(try client.request("GET", "/a.json").status == 200)
    _ = try database.folder.write("{\"rules\":{}}", to: "test.rules.json")
    try served.program.send(SIGHUP)
    // It takes a moment; each request is a new look.
    var status = 200
    for _ in 0..<100_000 where status == 200 {
      status = try client.request("GET", "/a.json").status
    }
    #expect(status == 401)
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  @Test func whatOthersCouldReachNeedsRulesAndACertificate() throws {
    let database = try TestDatabase("{\"a\":1}")
    let plain = try Program.run(["serve", database.file, "--listen", "*:0"])
    #expect(plain.status == 2)
    #expect(plain.errors.contains("--tls-cert"))
    // What it made for that is removed.
    let new = database.folder.file("new.db")
    #expect(try Program.run(["serve", new, "--create", "--listen", "*:0"]).status == 2)
    let left = try FileManager.default.contentsOfDirectory(atPath: database.folder.path)
    #expect(!left.contains { $0.hasPrefix("new.db") }, "\(left)")
    let absent = try Program.run(["serve", database.folder.file("no.db")])
    #expect(absent.status == 2)
    #expect(absent.errors.contains("--create"))
  }
}
