import Foundation
import PostgresCluster
import TestSupport
import Testing

/// `runnel store`, on a cluster of PostgreSQL.
@Suite struct StoreCommandTests {
  @Test(arguments: ["host=x password=secret", "postgresql://u:secret@h/d"])
  func aConnectionStringIsAMistakeOfUsage(text: String) throws {
    let outcome = try Program.run(["store", "status", "--store", text])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("takes a name"))
    #expect(!outcome.errors.contains("secret"))
  }

  @Test func aStoreIsServedOnce() throws {
    let outcome = try Program.run(["serve", "--store", "main", "--store", "main"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("main is given twice"), "\(outcome.errors)")
  }

  @Test func namesOfNamespacesAreChecked() throws {
    for name in ["Chat", "a/b", "", String(repeating: "a", count: 64)] {
      #expect(try Program.run(["store", "init", name]).status == 2, "\(name)")
    }
  }

  @Test(arguments: [
    "http://localhost:9605/", "a b:1", "localhost:99999", "localhost:0", "::1", "[::1]9000", "a..b",
    "300.1.1.1:1",
  ])
  func anAddressForClientsIsChecked(address: String) throws {
    let outcome = try Program.run(["store", "move", "chat", "--to", "second", "--address", address])
    #expect(outcome.status == 2)
    let advice = address.hasPrefix("http") ? "give localhost:9605." : "give HOST:PORT"
    #expect(outcome.errors.contains(advice), "\(outcome.errors)")
  }

  @Test func theAddressOfAServerIsChecked() throws {
    let outcome = try Program.run(["serve", "--store", "main", "--advertise", "https://a.example"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("give a.example."), "\(outcome.errors)")
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func namespacesAreMadeWithRules() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    let run = { (words: String...) in
      try Program.run(["store"] + words, environment: ["XDG_CONFIG_HOME": folder.path])
    }
    #expect(try run("init", "bare").status == 0)
    let bad = try folder.write("{\"rules\":{\".read\":\"x\"}}", to: "bad.json")
    #expect(try run("init", "chat", "--rules", bad).status == 2)
    #expect(try !run("status").output.contains("chat"))
    let text = "{\"rules\":{\".read\":true}}\n"
    let rules = try folder.write(text, to: "rules.json")
    #expect(try run("init", "--rules", rules).status == 2)
    #expect(try run("init", "chat", "blog", "--rules", rules).status == 0)
    for name in ["chat", "blog"] { #expect(try run("rules", "get", name).output == text) }
    let again = try run("init", "chat", "--rules", rules)
    #expect(again.status == 0 && again.errors.contains("chat was there already"), "\(again.errors)")
    let open = try run("init", "bare", "--rules", rules)
    #expect(open.status == 1, "\(open.errors)")
    #expect(open.errors.contains("`runnel store rules put bare FILE`"), "\(open.errors)")
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func aStoreIsMadeCheckedAndListed() throws {
    let cluster = try PostgresCluster.shared()
    let place = try cluster.makeDatabase()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    let run = { (words: String...) in
      try Program.run(["store"] + words, environment: ["XDG_CONFIG_HOME": folder.path])
    }
    let early = try run("status")
    #expect(early.status == 1)
    #expect(early.errors.contains("runnel store init"))
    let made = try run("init", "chat", "blog")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.contains("namespaces: blog, chat"))
    #expect(try run("init", "chat").output == made.output)
    // What was moved away is not offered.
    try cluster.run(sql: "UPDATE namespace SET state = 2 WHERE name = 'blog'", in: place)
    #expect(try run("init").output.contains("namespaces: chat.\n"))
    let moved = try run("init", "blog")
    #expect(moved.status == 1)
    #expect(moved.errors.contains("blog was not made: it was moved"))
    try cluster.run(sql: "UPDATE namespace SET state = 0 WHERE name = 'blog'", in: place)
    let status = try run("status")
    #expect(status.output.contains("namespace chat: head 0, floor 0"))
    try cluster.run(
      sql: """
        INSERT INTO server VALUES ('00000000-0000-4000-8000-000000000001', 'a:1', now());
        INSERT INTO meta VALUES
          (0, 'follows.00000000-0000-4000-8000-000000000001', '{"blog":1,"chat":12}')
        """, in: place)
    let served = try run("status").output
    #expect(served.contains("000000000001 at a:1: lease renewed 0."))
    #expect(served.contains(" s ago, behind by 1 change of blog, 12 changes of chat\n"))
    #expect(try run("check").output.contains("blog is sound: 0 rows"))
    #expect(try run("check", "other").status == 1)
    try cluster.run(sql: "INSERT INTO split VALUES (1, 7, 3, NULL)", in: place)
    let damaged = try run("check", "chat")
    #expect(damaged.status == 1)
    #expect(damaged.output.contains("chat: split: 1 rows belong to no place"))
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func aRoleOfFewRightsUsesWhatTheOwnerMade() throws {
    let cluster = try PostgresCluster.shared()
    let place = try cluster.makeDatabase()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    let few = place.split(separator: " ").map { $0.hasPrefix("user=") ? "user=few" : $0 }
      .joined(separator: " ")
    let absent = place.split(separator: " ").map { $0.hasPrefix("user=") ? "user=absent" : $0 }
      .joined(separator: " ")
    _ = try folder.write(
      "stores:\n  main: \(few)\n  owner: \(place)\n  absent: \(absent)\n", to: "runnel/config.yaml")
    try cluster.run(
      sql: "CREATE ROLE few LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC", in: place)
    let run = { (words: String...) in
      try Program.run(words, environment: ["XDG_CONFIG_HOME": folder.path])
    }
    let refused = try run("store", "init", "chat")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("owner"), "\(refused.errors)")
    #expect(refused.errors.contains("--role"), "\(refused.errors)")
    #expect(try run("store", "status").errors.contains("its owner makes them"))
    #expect(
      try run("store", "init", "chat", "--role", "few", "--store", "owner").status == 0)
    #expect(try run("store", "status").output.contains("namespace chat: head 0"))
    // What no further attempt can mend does not ask for one.
    #expect(try run("store", "status", "--store", "absent").status == 1)
  }

  @Test func mistakesInPlacesAreFoundByTheCheck() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "page: 50\nstores:\n  main: host=127.0.0.1\n  second: hosst=127.0.0.1\n  a b: host=x\n",
      to: "config.yaml")
    let outcome = try Program.run(["config", "check", file])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("config.yaml:5: the store a b: "), "\(outcome.output)")
    if !PostgresCluster.isInstalled { return }
    #expect(outcome.output.contains("config.yaml:4: the store second: "), "\(outcome.output)")
    #expect(outcome.output.contains("hosst"))
    #expect(!outcome.output.contains("config.yaml:3"))
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func treesAreImportedAndExported() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    let environment = ["XDG_CONFIG_HOME": folder.path]
    let run = { (words: [String]) in try Program.run(words, environment: environment) }
    #expect(try run(["store", "init", "chat"]).status == 0)
    let members = (0..<300).map { number in
      "\"k\(number)\":{\"n\":\(number),\"text\":\"\(String(repeating: "x", count: 100))\"}"
    }
    let text = "{\"list\":{\(members.joined(separator: ","))},\"p\":{\".value\":1,\".priority\":2}}"
    let document = try folder.write(text, to: "chat.json")
    let database = folder.file("chat.db")
    #expect(try run(["import", document, "-d", database, "--create"]).status == 0)
    #expect(try run(["index", "add", "/list", "n", "-d", database]).status == 0)
    let whole = try run(["export", "-d", database]).output
    let imported = try run(["store", "import", "chat", database])
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(
      imported.errors.contains("Imported \(database) at / of chat with 1 index: "),
      "\(imported.errors)")
    let exported = try run(["store", "export", "chat"])
    #expect(exported.output == whole)
    #expect(exported.errors.contains("Exported / of chat, as of change 1."))
    // What stands somewhere is not replaced by mistake.
    let small = try folder.write("{\"a\":1}", to: "small.json")
    let refused = try run(["store", "import", "chat", small, "/list"])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("--replace"))
    let bad = try folder.write("{\"a\":1", to: "bad.json")
    #expect(try run(["store", "import", "chat", bad, "/other"]).status == 1)
    #expect(try run(["store", "export", "chat"]).output == whole)
    #expect(try run(["store", "import", "chat", small, "/list", "--replace"]).status == 0)
    #expect(try run(["store", "export", "chat", "/list"]).output == "{\"a\":1}\n")
    // What a tree cannot hold as it is is told as by `runnel import`.
    let lossy = try folder.write(
      "{\"n\":0.12345678901234567890123,\"x\":{},\"twice\":1,\"twice\":{\"a\":2}}", to: "lossy.json"
    )
    let told = try run(["store", "import", "chat", lossy, "/lossy"]).errors
    for words in ["1 empty list or object", "1 number has more digits", "1 member has the name of"]
    {
      #expect(told.contains(words), "\(told)")
    }
    #expect(try run(["store", "import", "chat", small, "/lossy", "--replace"]).status == 0)
    // An index of a whole tree has no place in a part of another one.
    let part = try run(["store", "import", "chat", database, "/copy"])
    #expect(part.status == 0 && part.errors.contains("Without its 1 index"), "\(part.errors)")
    let slash = try folder.write("{\"a/b\":1}", to: "slash.json")
    let forbidden = try run(["store", "import", "chat", slash, "/other"])
    #expect(forbidden.status == 1 && forbidden.errors.contains("Nothing was changed."))
    #expect(forbidden.errors.contains("a/b as a%2Fb"), "\(forbidden.errors)")
    #expect(try run(["store", "export", "chat", "/other"]).output == "null\n")
    let check = try run(["store", "check"])
    #expect(check.status == 0, "\(check.output)")
    #expect(
      try run(["store", "migrate"]).output.contains("are of version 2, as this program needs"))
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func aNamespaceIsMovedBackAndDropped() throws {
    let cluster = try PostgresCluster.shared()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write(
      "stores:\n  main: \(try cluster.makeDatabase())\n  second: \(try cluster.makeDatabase())\n",
      to: "runnel/config.yaml")
    let run = { (words: String...) in
      try Program.run(["store"] + words, environment: ["XDG_CONFIG_HOME": folder.path])
    }
    #expect(try run("init", "chat", "blog").status == 0)
    #expect(try run("init", "--store", "second").status == 0)
    let document = try folder.write("{\"a\":1}", to: "chat.json")
    #expect(try run("import", "chat", document).status == 0)
    #expect(try run("move", "chat", "--to", "second", "--address", "b.example:1").status == 0)
    let place = "moved to the store second, at b.example:1"
    #expect(try run("status").output.contains("floor 0, \(place)\n"))
    // A script may do it again.
    for address in [[], ["--address", "b.example:1"]] {
      let again = try Program.run(
        ["store", "move", "chat", "--to", "second"] + address,
        environment: ["XDG_CONFIG_HOME": folder.path])
      #expect(again.status == 0 && again.output.contains("nothing was to do"), "\(again.errors)")
    }
    let exported = try run("export", "chat")
    #expect(exported.status != 0 && exported.errors.contains(place), "\(exported.errors)")
    let corrected = try run("move", "chat", "--to", "second", "--address", "[::1]:9000")
    #expect(corrected.status == 0, "\(corrected.errors)")
    #expect(corrected.output.contains("sent to [::1]:9000 from now on"), "\(corrected.output)")
    #expect(try run("status").output.contains("moved to the store second, at [::1]:9000\n"))
    #expect(try run("move", "chat", "--to", "second", "--address", "b.example:1").status == 0)
    let made = try run("init", "chat")
    #expect(made.status == 1)
    #expect(made.output.contains("namespaces: blog."), "\(made.output)")
    #expect(made.errors.contains("chat was not made: it was \(place)"), "\(made.errors)")
    #expect(try run("move", "chat", "--store", "second", "--to", "main").status == 0)
    #expect(try run("export", "chat").output == "{\"a\":1}\n")
    #expect(try run("drop", "chat", "--store", "second").status == 0)
    let late = try run("move", "chat", "--store", "second", "--to", "main")
    #expect(late.status == 0 && late.output.contains("nothing was to do"), "\(late.errors)")
    #expect(try run("status", "--store", "second").output.contains("namespace") == false)
    let kept = try run("drop", "chat")
    #expect(kept.status == 2 && kept.errors.contains("--force"), "\(kept.errors)")
    #expect(try run("drop", "chat", "--force").status == 0)
    #expect(try run("drop", ".accounts", "--force").status == 1)
    #expect(try run("init", "chat").status == 0)
    #expect(try run("status").output.contains("namespace chat: head 0, floor 0\n"))
    #expect(try run("check").status == 0)
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func accountsInAStoreAreAdministered() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    let environment = ["XDG_CONFIG_HOME": folder.path]
    let run = { (words: [String]) in try Program.run(words, environment: environment) }
    #expect(try run(["store", "init"]).status == 0)
    let made = try run(["accounts", "add", "ada@x.org", "--no-password", "--store", "main"])
    #expect(made.status == 0, "\(made.errors)")
    let listed = try run(["accounts", "list", "--store", "main"])
    #expect(listed.output.contains("ada@x.org"), "\(listed.errors)")
    #expect(try run(["accounts", "disable", "ada@x.org", "--store", "main"]).status == 0)
    #expect(try run(["accounts", "list", "--store", "main"]).output.contains("\"disabled\":true"))
    // Once, all accounts were replaced without a question.
    let document = try folder.write("{}", to: "empty.json")
    for (words, advice) in [
      (["import", ".accounts", document, "--replace"], "`runnel accounts import FILE"),
      (["export", ".accounts"], "`runnel accounts export"),
      (["rules", "get", ".accounts"], "no protocol serves it: it has no rules."),
    ] {
      let refused = try run(["store"] + words)
      #expect(refused.status == 2 && refused.errors.contains(advice), "\(refused.errors)")
      #expect(refused.output.isEmpty)
    }
    #expect(try run(["accounts", "list", "--store", "main"]).output.contains("ada@x.org"))
    let both = try run(["accounts", "list", "accounts.db", "--store", "main"])
    #expect(both.status == 2, "\(both.errors)")
    // What all servers must share is asked for.
    let bare = try run(["serve", "--store", "main", "--store-accounts"])
    #expect(bare.status == 2 && bare.errors.contains("--issuer"), "\(bare.errors)")
    let lonely = try run(["serve", folder.file("x.db"), "--create", "--store-accounts"])
    #expect(lonely.status == 2 && lonely.errors.contains("--store"), "\(lonely.errors)")
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func aSecretOfANamespaceIsTakenByRunningServers() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    let environment = ["XDG_CONFIG_HOME": folder.path]
    let run = { (words: [String]) in try Program.run(words, environment: environment) }
    #expect(try run(["store", "init", "chat", "blog"]).status == 0)
    let rules = try folder.write("{\"rules\":{\".read\":false}}", to: "rules.json")
    for name in ["chat", "blog"] {
      #expect(try run(["store", "rules", "put", name, rules]).status == 0)
    }
    let servers = try (0..<2).map { _ in
      try Served(["--store", "main", "--no-access-log"], environment: environment)
    }
    let options = ["--store", "main", "--namespace", "chat"]
    let made = try run(["serve", "secret", "new", "backup"] + options)
    #expect(made.status == 0, "\(made.errors)")
    let secret = made.output.split(separator: "\n").joined()
    #expect(try run(["serve", "secret", "new", "backup"] + options).status == 1)
    #expect(try run(["serve", "secret", "list"] + options).output == "backup\n")
    let missing = try run(["serve", "secret", "remove", "other"] + options).errors
    #expect(missing.contains("secret list --store main --namespace chat`"), "\(missing)")
    let whole = try run(["serve", "secret", "new", "all", "--store", "main"]).errors
    #expect(whole.contains("is for all namespaces of the store main"), "\(whole)")
    let status = { (server: Served, name: String) in
      try server.client().request("PUT", "/x.json?ns=\(name)&auth=\(secret)", "1").status
    }
    let end = ContinuousClock.now + .seconds(20)
    for server in servers {
      while try status(server, "chat") != 200 { try #require(ContinuousClock.now < end) }
      #expect(try status(server, "blog") == 401)
    }
    #expect(try run(["serve", "secret", "remove", "backup"] + options).status == 0)
    for server in servers {
      while try status(server, "chat") != 401 { try #require(ContinuousClock.now < end) }
    }
    // The log of each server has the name that `status` shows, and says what ended it.
    let listed = try run(["store", "status"]).output
    for server in servers {
      try server.program.send(SIGTERM)
      #expect(try server.program.wait() == 0)
      let log = try server.program.errors()
      #expect(log.contains("serves at 127.0.0.1:\(server.port), "), "\(log)")
      #expect(log.contains("SIGTERM: the server ends"), "\(log)")
      let start = log.firstRange(of: ", as ").map { log[$0.upperBound...].prefix(36) }
      #expect(listed.contains("server \(start ?? ""):"), "\(listed)\n\(log)")
    }
    let key = folder.file("backend.key.json")
    let account = ["serve", "service-account", "new", "backend", "--store", "main", "--to", key]
    #expect(try run(account).status == 0)
    #expect(
      try run(["serve", "service-account", "list", "--store", "main"]).output == "backend\n")
    #expect(try run(["serve", "secret", "list", "--namespace", "chat"]).status == 2)
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func aServiceNamesAStore() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let folder = try TemporaryFolder()
    let lines = place.split(separator: " ").joined(separator: "\n")
    let file = try folder.write("[chat]\n\(lines)\n", to: "pg_service.conf")
    let environment = ["PGSERVICEFILE": file, "XDG_CONFIG_HOME": folder.path]
    let made = try Program.run(["store", "init", "--store", "chat"], environment: environment)
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.contains("no namespaces yet"))
    let missing = try Program.run(["store", "status", "--store", "none"], environment: environment)
    #expect(missing.status == 1)
    #expect(missing.errors.contains("none is no name under `stores`"), "\(missing.errors)")
  }
}
