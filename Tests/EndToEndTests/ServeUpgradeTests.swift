import Foundation
import RunnelBase
import TestSupport
import Testing

/// Programs and files of different age, and a server that is replaced by a newer one.
@Suite struct ServeUpgradeTests {
  /// Where `PRAGMA user_version` stands in a file of SQLite.
  ///
  /// Source: SQLite, "Database File Format", section 1.3.
  private static let versionOffset: off_t = 60

  private static func fixture(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../RunnelDatabaseTests/Fixtures/\(name)").standardizedFileURL.path
  }

  @Test(arguments: [1, 2])
  func newerProgramServesAnOlderFile(version: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("old.db")
    try FileManager.default.copyItem(
      atPath: ServeUpgradeTests.fixture("version\(version).sqlite"), toPath: file)
    let served = try Served([file])
    let answer = try served.client().request("GET", "/.json?format=export")
    let expected = try #require(
      FileManager.default.contents(atPath: ServeUpgradeTests.fixture("version\(version).json")))
    #expect(try JSONValue(parsing: answer.body) == JSONValue(parsing: Array(expected)))
    #expect(try served.client().request("PUT", "/new.json", "1").status == 200)
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    #expect(try Program.run(["doctor", "--database", file]).status == 0)
    #expect(try Program.run(["get", "/new", "--database", file]).output == "1\n")
  }

  @Test func olderProgramLeavesANewerFileAsItIs() throws {
    let database = try TestDatabase("{\"a\":1}")
    let descriptor = open(database.file, O_WRONLY | O_CLOEXEC)
    try File(check(descriptor, "open")).write(
      [0, 0, 0, 99], at: ServeUpgradeTests.versionOffset)
    let before = FileManager.default.contents(atPath: database.file)
    let outcome = try Program.run(["serve", database.file, "--listen", "localhost:0"])
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains("newer Runnel"), "\(outcome.errors)")
    #expect(FileManager.default.contents(atPath: database.file) == before)
  }

  /// The next server takes over when the one before has ended: its clients go on with their sessions.
  @Test func runningServerIsReplaced() throws {
    let database = try TestDatabase("{\"list\":{\"a\":1,\"b\":2}}")
    let first = try Served([database.file])
    let client = try first.client()
    try client.openSocket()
    let session = try sessionName(client.readMessage())
    try client.sendText(message(1, "o", "{\"p\":\"/gone\",\"d\":{\".sv\":{\"increment\":1}}}"))
    #expect(try client.readMessage().contains("\"ok\""))
    try client.sendText(message(2, "p", write(1)))
    #expect(try client.readMessage().contains("\"ok\""))
    // Not while the first one serves.
    let early = try Program.run(["serve", database.file, "--listen", "localhost:0"])
    #expect(early.status != 0)
    #expect(try first.client().request("GET", "/n.json").body == "1")
    try first.program.send(SIGTERM)
    #expect(try client.readClose() == 1001)
    #expect(try first.program.wait() == 0)

    let second = try Served([database.file])
    let next = try second.client()
    try next.openSocket("/.ws?v=5&ls=\(session)")
    _ = try next.readMessage()
    // The client has what it had, and sends again what it does not know to be done.
    try next.sendText(
      message(3, "q", "{\"p\":\"/list\",\"h\":\"AUZnXhNqrfbznYVxcCvNpzpjvTU=\"}"))
    #expect(try next.readMessage().contains("\"r\":3"))
    for number in [1, 2] {
      try next.sendText(message(3 + number, "p", write(number)))
      #expect(try next.readMessage().contains("\"ok\""))
    }
    #expect(try second.client().request("GET", "/n.json").body == "2")
    #expect(try second.client().request("GET", "/gone.json").body == "1")
    try second.program.send(SIGTERM)
    #expect(try second.program.wait() == 0)
    #expect(try database.get("/gone") == "1")
  }

  private func message(_ number: Int, _ action: String, _ body: String) -> String {
    "{\"t\":\"d\",\"d\":{\"r\":\(number),\"a\":\"\(action)\",\"b\":\(body)}}"
  }

  /// Adds one, once for each number.
  private func write(_ number: Int) -> String {
    "{\"p\":\"/n\",\"d\":{\".sv\":{\"increment\":1}},\"w\":[\"client\",\(number)]}"
  }

  private func sessionName(_ handshake: String) throws -> String {
    try #require(JSONValue(parsing: handshake)["d"]?["d"]?["s"]?.string)
  }
}
