import Foundation
import RunnelBase
import TestSupport
import Testing

@Suite struct BackupCommandTests {
  private func backUp(_ words: String...) throws -> Program.Outcome {
    try Program.run(["backup"] + words)
  }

  @Test func aBackupOfAServedDatabaseComesBack() throws {
    let database = try TestDatabase("{\"a\":1}")
    let backups = database.folder.file("backups")
    let served = try Served([database.file])
    let client = try served.client()
    #expect(try client.request("PUT", "/a.json", "2").status == 200)
    let made = try backUp(database.file, "--to", backups, "--keep", "1")
    #expect(made.status == 0, "\(made.errors)")
    let path = String(made.output.dropLast())
    #expect(try client.request("PUT", "/a.json", "3").status == 200)
    let open = try Program.run(["restore", path, "--to", database.file, "--replace"])
    #expect(open.status == 1)
    #expect(open.errors.contains("open in another program"))
    #expect(try client.request("GET", "/a.json").body == "3")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    let refused = try Program.run(["restore", path, "--to", database.file])
    #expect(refused.status == 2)
    let done = try Program.run(["restore", path, "--to", database.file, "--replace"])
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.errors.contains("test.db.replaced"))
    #expect(try database.get("/a") == "2")
    #expect(try database.run(["doctor"]).status == 0)
  }

  @Test func aFolderOfDatabasesIsBackedUpAsAWhole() throws {
    let one = try TestDatabase("{\"a\":1}")
    let two = one.folder.file("two.db")
    #expect(try Program.run(["set", "/", "2", "-d", two, "--create"]).status == 0)
    _ = try one.folder.write("no database", to: "bad.db")
    let backups = one.folder.file("backups")
    let outcome = try backUp(one.folder.path, "--to", backups)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("bad.db"))
    #expect(outcome.output.split(separator: "\n").count == 2)
    #expect(try backUp(backups, "--to", backups).errors.contains("has no database"))
    #expect(try backUp(one.folder.file("no.db"), "--to", backups).status == 1)
    #expect(try backUp(two, "--to", backups, "--keep", "0").status == 2)
    #expect(
      try Program.run(["restore", backups, "--to", two]).errors.contains("Its newest one is"))
  }

  @Test func aServerMakesBackupsFromItsStart() throws {
    let database = try TestDatabase("{\"a\":1}")
    let backups = database.folder.file("backups")
    let served = try Served([database.file, "--backup", backups, "--every", "1h", "--keep", "3"])
    // It takes a moment; each request is a new look.
    let client = try served.client()
    var names: [String] = []
    for _ in 0..<100_000 where !names.contains(where: { $0.hasSuffix("Z") }) {
      _ = try client.request("GET", "/a.json")
      // The folder may not be there yet.
      names = (try? FileManager.default.contentsOfDirectory(atPath: backups)) ?? []
    }
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    let log = try served.program.errors()
    #expect(names.count == 1)
    #expect(log.contains("/test-"), "\(log)")
    let lonely = try Program.run(["serve", database.file, "--every", "1h"])
    #expect(lonely.status == 2)
    let odd = try Program.run(["serve", database.file, "--backup", backups, "--every", "1 week"])
    #expect(odd.status == 2)
  }
}
