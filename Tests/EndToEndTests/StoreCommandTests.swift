import Foundation
import PostgresCluster
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

  @Test func namesOfNamespacesAreChecked() throws {
    for name in ["Chat", "a/b", "", String(repeating: "a", count: 64)] {
      #expect(try Program.run(["store", "init", name]).status == 2, "\(name)")
    }
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
    let status = try run("status")
    #expect(status.output.contains("namespace chat: head 0, floor 0"))
    #expect(try run("check").output.contains("blog is sound: 0 rows"))
    #expect(try run("check", "other").status == 1)
    try cluster.run(sql: "INSERT INTO split VALUES (1, 7, 3, NULL)", in: place)
    let damaged = try run("check", "chat")
    #expect(damaged.status == 1)
    #expect(damaged.output.contains("chat: split: 1 rows belong to no place"))
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
    #expect(missing.status == 3)
    #expect(missing.errors.contains("none"))
  }
}
