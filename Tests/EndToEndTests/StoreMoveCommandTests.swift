import Foundation
import PostgresCluster
import TestSupport
import Testing

/// `runnel store move` and `drop`, when something went wrong.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreMoveCommandTests {
  private let folder: TemporaryFolder
  private let place: String
  private let second: String

  init() throws {
    folder = try TemporaryFolder()
    let cluster = try PostgresCluster.shared()
    place = try cluster.makeDatabase()
    second = try cluster.makeDatabase()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write(
      "stores:\n  main: \(place)\n  alias: \(place)\n  second: \(second)\n",
      to: "runnel/config.yaml")
    #expect(try run("init", "chat").status == 0)
    #expect(try run("init", "--store", "second").status == 0)
    #expect(try run("import", "chat", try folder.write("{\"a\":1}", to: "chat.json")).status == 0)
  }

  private func run(_ words: String...) throws -> Program.Outcome {
    try Program.run(["store"] + words, environment: ["XDG_CONFIG_HOME": folder.path])
  }

  /// Leaves the namespace as a move that was killed does.
  private func freeze() throws {
    try PostgresCluster.shared().run(
      sql: """
        UPDATE namespace SET state = 1;
        INSERT INTO meta VALUES (1, 'moving', 'x'), (1, 'moving.store', 'second')
        """, in: place)
  }

  @Test func aBrokenMoveIsToldAndGivenUp() throws {
    try freeze()
    let status = try run("status").output
    #expect(status.contains("its move to the store second was broken off"), "\(status)")
    #expect(status.contains("`runnel store move chat --to second`"), "\(status)")
    #expect(status.contains("`runnel store move chat --give-up`"), "\(status)")
    let document = folder.file("chat.json")
    let refused = try run("import", "chat", document, "--replace")
    #expect(refused.status == 3 && refused.errors.contains("`runnel store status`"))
    let given = try run("move", "chat", "--give-up")
    #expect(given.status == 0 && given.output.contains("was given up"), "\(given.errors)")
    #expect(try run("import", "chat", document, "--replace").status == 0)
    let again = try run("move", "chat", "--give-up")
    #expect(again.status == 0 && again.output.contains("nothing was to do"), "\(again.errors)")
  }

  /// Once, the namespace was moved to itself, and the next `drop` deleted it.
  @Test func aMoveToItsOwnStoreGivesABrokenMoveUp() throws {
    for name in ["main", "alias"] {
      let idle = try run("move", "chat", "--to", name)
      #expect(idle.status == 0 && idle.output.contains("is open in"), "\(idle.errors)")
      let address = try run("move", "chat", "--to", name, "--address", "b.example:1")
      #expect(address.status == 1 && address.errors.contains("needs no address"))
      try freeze()
      let given = try run("move", "chat", "--to", name)
      #expect(given.status == 0 && given.output.contains("was given up"), "\(given.errors)")
      #expect(try run("drop", "chat").status == 2)
      #expect(try run("export", "chat").output == "{\"a\":1}\n")
    }
  }

  /// Once, clients of the first store were told that there is no such database.
  @Test func aMoveBackThatIsGivenUpLeavesTheAddress() throws {
    let cluster = try PostgresCluster.shared()
    #expect(try run("move", "chat", "--to", "second", "--address", "a.example:1").status == 0)
    try cluster.run(
      sql: "ALTER TABLE namespace ADD CONSTRAINT stays CHECK (state < 2)", in: second)
    let back = ["move", "chat", "--store", "second", "--to", "main", "--address", "b.example:1"]
    let environment = ["XDG_CONFIG_HOME": folder.path]
    #expect(try Program.run(["store"] + back, environment: environment).status != 0)
    try cluster.run(sql: "ALTER TABLE namespace DROP CONSTRAINT stays", in: second)
    let status = try run("status").output
    #expect(status.contains("on its way to this store"), "\(status)")
    #expect(status.contains("`runnel store move chat --give-up` gives it up"), "\(status)")
    let given = try run("move", "chat", "--give-up")
    #expect(given.status == 0, "\(given.errors)")
    #expect(given.output.contains("it is in the store second, and is written again"))
    #expect(try run("status").output.contains("moved to the store second, at a.example:1\n"))
    #expect(try run("export", "chat", "--store", "second").output == "{\"a\":1}\n")
  }

  @Test func theOnlyCopyIsNotDropped() throws {
    #expect(try run("move", "chat", "--to", "second").status == 0)
    let rules = try folder.write("{\"rules\":{}}", to: "rules.json")
    let refused = try run("rules", "put", "chat", rules)
    #expect(refused.errors.contains("chat was moved to the store second"), "\(refused.errors)")
    let moved = try run("rules", "get", "chat")
    #expect(moved.errors.contains("chat was moved to the store second"), "\(moved.errors)")
    let secrets = try Program.run(
      ["serve", "secret", "list", "--store", "main", "--namespace", "chat"],
      environment: ["XDG_CONFIG_HOME": folder.path])
    #expect(
      secrets.status == 1 && secrets.errors.contains("chat was moved to the store second"),
      "\(secrets.errors)")
    #expect(try run("rules", "put", ".accounts", rules).status == 2)
    #expect(try run("check").output.contains("left of its move to the store second"))
    #expect(try run("drop", "chat", "--store", "second", "--force").status == 0)
    let kept = try run("drop", "chat")
    #expect(kept.status == 2 && kept.errors.contains("is not there"), "\(kept.errors)")
    // Another one of the name is not it.
    #expect(try run("init", "chat", "--store", "second").status == 0)
    let other = try run("drop", "chat")
    #expect(other.status == 2 && other.errors.contains("is another one"), "\(other.errors)")
    #expect(try run("drop", "chat", "--force").status == 0)
  }

  /// Once, three commands said that something was lost, or that the move could be done again.
  @Test func aGiveUpThatWasKilledIsToldAndRepeated() throws {
    #expect(try run("move", "chat", "--to", "second").status == 0)
    #expect(try run("drop", "chat", "--store", "second", "--force").status == 0)
    try PostgresCluster.shared().run(
      sql: """
        INSERT INTO meta SELECT 1, n, value FROM meta, unnest(ARRAY['moved.unopened', 'moved.giving-up']) n
        WHERE ns = 1 AND name = 'moved.number'
        """, in: place)
    let status = try run("status").output
    #expect(
      status.contains("being given up: repeat `runnel store move chat --give-up`"), "\(status)")
    let again = try run("move", "chat", "--to", "second")
    #expect(again.status == 1 && again.errors.contains("is being given up"), "\(again.errors)")
    #expect(!again.errors.contains("lost"), "\(again.errors)")
    let given = try run("move", "chat", "--give-up")
    #expect(given.status == 0 && given.output.contains("was given up"), "\(given.errors)")
    #expect(try run("export", "chat").output == "{\"a\":1}\n")
  }

  @Test func whatIsLostInTheOtherStoreIsOpenedAgain() throws {
    #expect(try run("move", "chat", "--to", "second").status == 0)
    #expect(try run("drop", "chat", "--store", "second", "--force").status == 0)
    #expect(try run("init", "chat", "--store", "second").status == 0)
    let back = try run("move", "chat", "--store", "second", "--to", "main")
    #expect(back.status == 1 && back.errors.contains("was moved to the store second"))
    let again = try run("move", "chat", "--to", "second")
    #expect(again.status == 1 && again.errors.contains("--give-up --force"), "\(again.errors)")
    #expect(try run("move", "chat", "--give-up").status != 0)
    let opened = try run("move", "chat", "--give-up", "--force")
    #expect(opened.status == 0 && opened.output.contains("is open again"), "\(opened.errors)")
    #expect(opened.errors.contains("because what is in the store second is another one."))
    #expect(try run("export", "chat").output == "{\"a\":1}\n")
  }

  @Test func ofTwoCopiesTheOneThatIsServedIsTold() throws {
    let file = folder.file("runnel/config.yaml")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(try run("move", "chat", "--to", "second").status == 0)
    try text.replacing(second, with: "host=\(folder.path) dbname=x")
      .write(toFile: file, atomically: true, encoding: .utf8)
    let opened = try run("move", "chat", "--give-up", "--force")
    #expect(opened.status == 0, "\(opened.errors)")
    try "\(text)  another: \(second)\n".write(toFile: file, atomically: true, encoding: .utf8)
    let own = try run("status").output
    #expect(
      own.contains("in the store another (also named second), too; this one was opened"), "\(own)")
    #expect(own.contains("`runnel store drop chat --store another --force` removes that one"))
    let other = try run("status", "--store", "second").output
    #expect(
      other.contains("in the store alias (also named main), too; that one was opened"), "\(other)")
    #expect(other.contains("`runnel store drop chat --store second --force` removes this one"))
  }

  /// Servers of both stores serve only one of them.
  @Test func aNameThatAnotherStoreHasIsRefused() throws {
    let refused = try run("init", "chat", "blog", "--store", "second")
    #expect(
      refused.status == 1 && refused.errors.contains("has a namespace of that name"),
      "\(refused.errors)")
    #expect(try !run("status", "--store", "second").output.contains("namespace"))
    #expect(try run("init", "chat", "--store", "second", "--force").status == 0)
    let status = try run("status").output
    #expect(status.contains("namespace chat: in the store second, too"), "\(status)")
    // What is there already is not asked for.
    #expect(try run("init", "chat", "--store", "second").status == 0)
  }

  @Test func aBrokenMoveNamesItsOwnTarget() throws {
    let file = folder.file("runnel/config.yaml")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try "\(text)  gone: host=\(folder.path) dbname=x\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    try freeze()
    let other = try run("move", "chat", "--to", "gone")
    #expect(other.errors.contains("`runnel store move chat --to second`"), "\(other.errors)")
  }

  @Test func aTargetThatDoesNotAnswerLeavesTheNamespaceAndIsToldSo() throws {
    let file = folder.file("runnel/config.yaml")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try "\(text)  gone: host=\(folder.path) dbname=x\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let open = try run("move", "chat", "--to", "gone")
    #expect(open.status == 3 && open.errors.contains("is written as before"), "\(open.errors)")
    try freeze()
    let frozen = try run("move", "chat", "--to", "gone")
    #expect(frozen.status == 3 && frozen.errors.contains("--give-up"), "\(frozen.errors)")
  }

  @Test func wordsThatDoNotFitAreMistakes() throws {
    #expect(try run("move", "chat").status == 2)
    #expect(try run("move", "chat", "--give-up", "--address", "b.example:1").status == 2)
    #expect(try run("move", "chat", "--force").status == 2)
    #expect(try run("init", "--", "-x").status == 2)
  }

  /// Once, its lease stayed, and was waited for.
  @Test func aServerThatCannotStartLeavesNoLease() throws {
    let environment = ["XDG_CONFIG_HOME": folder.path]
    let served = try Served(["--store", "main", "--no-access-log"], environment: environment)
    let late = try Program.run(
      ["serve", "--store", "main", "--listen", "127.0.0.1:\(served.port)"],
      environment: environment)
    #expect(late.status != 0)
    let status = try run("status").output
    #expect(status.split(separator: "\n").count { $0.hasPrefix("server ") } == 1, "\(status)")
  }
}
