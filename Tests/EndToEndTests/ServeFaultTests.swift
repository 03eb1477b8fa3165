import Foundation
import RunnelBase
import TestSupport
import Testing

/// What goes wrong around a server: it says so, loses nothing that it promised, and ends properly.
@Suite struct ServeFaultTests {
  /// As on a full disk, the files grow no further.
  @Test func aFileThatCannotGrowLosesNothingThatWasPromised() throws {
    let database = try TestDatabase("{\"a\":1}")
    // In blocks of 512 bytes.
    let served = try Served(
      ["-c", "ulimit -f 2000; exec \"$0\" serve \"$@\"", try Program.path(), database.file],
      program: "/bin/sh")
    let client = try served.client()
    let text = "\"" + String(repeating: "x", count: 50_000) + "\""
    var kept = 0
    var refusal: RawClient.Answer?
    while refusal == nil, kept < 100 {
      let answer = try client.request("PUT", "/big/\(kept).json?print=silent", text)
      if answer.status == 204 { kept += 1 } else { refusal = answer }
    }
    #expect(kept > 0)
    let answer = try #require(refusal)
    #expect(answer.status >= 500, "\(answer)")
    #expect(try JSONValue(parsing: answer.body)["error"] != nil)
    #expect(try client.request("GET", "/a.json").body == "1")
    #expect(try client.request("GET", "/big/\(kept).json").body == "null")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    #expect(try database.run(["doctor"]).status == 0)
    let keys = try JSONValue(parsing: database.get("/big", "--shallow"))
    guard case .object(let members) = keys else {
      throw SystemError(call: "get", reason: "\(keys)")
    }
    #expect(members.count == kept)
  }

  @Test func rulesThatCannotBeKeptLeaveTheOldOnesInForce() throws {
    let database = try TestDatabase("{\"a\":1}")
    let file = String(database.file.dropLast(3)) + ".rules.json"
    let old = "{\"rules\":{\".read\":true}}"
    try old.write(toFile: file, atomically: true, encoding: .utf8)
    let secret = try Program.run(["serve", "secret", "new", "ci", database.file]).output
      .filter { !$0.isNewline }
    // In blocks of 512 bytes.
    let served = try Served(
      ["-c", "ulimit -f 2000; exec \"$0\" serve \"$@\"", try Program.path(), database.file],
      program: "/bin/sh")
    let comment = "/*" + String(repeating: "x", count: 1_040_000) + "*/"
    let new = "{\"rules\":{\".read\":false}}\(comment)"
    let target = "/.settings/rules.json?auth=\(secret)"
    let answer = try served.client().request("PUT", target, new)
    #expect(answer.status == 503)
    #expect(answer.body.contains("no space left, and the old rules are in force"), "\(answer.body)")
    #expect(try served.client().request("GET", "/a.json").body == "1")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == old)
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  @Test func aLargeBodyThatCannotBeKeptIsAnsweredWithAnError() throws {
    let database = try TestDatabase("{\"a\":1}")
    let secret = try Program.run(["serve", "secret", "new", "ci", database.file]).output
      .filter { !$0.isNewline }
    // In blocks of 512 bytes.
    let served = try Served(
      ["-c", "ulimit -f 2000; exec \"$0\" serve \"$@\"", try Program.path(), database.file],
      program: "/bin/sh")
    let client = try served.client()
    let text = "\"" + String(repeating: "x", count: 1_000_000) + "\""
    let body = "[" + Array(repeating: text, count: 20).joined(separator: ",") + "]"
    let answer = try client.request("PUT", "/big.json?auth=\(secret)", body)
    #expect(answer.status == 503)
    #expect(try JSONValue(parsing: answer.body)["error"] != nil)
    #expect(try served.client().request("GET", "/big.json").body == "null")
    #expect(try served.client().request("GET", "/a.json").body == "1")
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    let left = try FileManager.default.contentsOfDirectory(atPath: database.folder.path)
    #expect(!left.contains { $0.contains("-put-") || $0.contains("undo") }, "\(left)")
  }

  @Test func aLargeBodyThatWasPutCanBeUndone() throws {
    let database = try TestDatabase("{\"big\":{\"old\":[1,2,3]}}")
    let secret = try Program.run(["serve", "secret", "new", "ci", database.file]).output
      .filter { !$0.isNewline }
    let served = try Served([database.file])
    let text = "\"" + String(repeating: "x", count: 1_000_000) + "\""
    let body = "[" + Array(repeating: text, count: 20).joined(separator: ",") + "]"
    let put = try served.client().request("PUT", "/big.json?print=silent&auth=\(secret)", body)
    #expect(put.status == 204)
    #expect(try served.client().request("GET", "/big/19.json").body == text)
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
    let history = try database.run(["history"]).output
    #expect(history.contains("/big"), "\(history)")
    #expect(history.contains("administrator"), "\(history)")
    #expect(try database.run(["undo"]).status == 0)
    let restored = try JSONValue(parsing: database.get("/big"))
    #expect(try restored == JSONValue(parsing: "{\"old\":{\"0\":1,\"1\":2,\"2\":3}}"))
  }

  @Test func aFileThatIsGoneIsToldAndNothingIsWrittenElsewhere() throws {
    let database = try TestDatabase("{\"a\":1}")
    let served = try Served([database.file])
    let client = try served.client()
    #expect(try client.request("PUT", "/b.json", "2").status == 200)
    try FileManager.default.moveItem(atPath: database.file, toPath: database.file + ".moved")
    // The first write that finds the file gone is refused, and all that come after it.
    let answer = try client.request("PUT", "/c.json", "3")
    #expect(answer.status >= 500, "\(answer)")
    #expect(try client.request("PUT", "/c.json", "3").status >= 500)
    try served.program.send(SIGTERM)
    _ = try served.program.wait()
    #expect(!FileManager.default.fileExists(atPath: database.file))
  }

  /// Once, connections that had just been accepted came to threads that had ended.
  @Test func aServerThatIsStoppedAtOnceEndsInSilence() throws {
    let database = try TestDatabase("{\"a\":1}")
    for _ in 0..<4 {
      let served = try Served([database.file, "--no-access-log"])
      let clients = try (0..<20).map { _ in try served.client() }
      try served.program.send(SIGTERM)
      #expect(try served.program.wait() == 0)
      let errors = try served.program.errors()
      #expect(!errors.contains("EventLoop"), "\(errors)")
      withExtendedLifetime(clients) {}
    }
  }

  /// How many connections are opened; `RUNNEL_CONNECTIONS=10000` for more.
  private static let connectionCount =
    ProcessInfo.processInfo.environment["RUNNEL_CONNECTIONS"].flatMap { Int($0) } ?? 500

  @Test func idleConnectionsCostLittle() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let count = min(ServeFaultTests.connectionCount, Int(clamping: limit.rlim_max) - 200)
    let database = try TestDatabase("{\"a\":1}")
    // The clients of the test answer no pings, and a slow machine opens many for longer than a minute.
    let served = try Served([database.file, "--no-access-log", "--silence-time", "30m"])
    func residentBytes() throws -> Int {
      let path = "/proc/\(served.program.processID)/statm"
      let words = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
      return try #require(Int(words[1])) * 4096
    }
    func listening() throws -> RawClient {
      let client = try served.client()
      try client.openSocket()
      _ = try client.readMessage()
      try client.sendText(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#)
      _ = try client.readMessage()
      _ = try client.readMessage()
      return client
    }
    // What the first ones cost, all have.
    var clients = try (0..<50).map { _ in try listening() }
    let before = try residentBytes()
    for _ in 0..<count { clients.append(try listening()) }
    let each = (try residentBytes() - before) / count
    print("\(count) idle connections with a listen: \(each) bytes each")
    #expect(each < 40_000)
    let writer = try served.client()
    #expect(try writer.request("PUT", "/a.json", "2").status == 200)
    for client in clients {
      #expect(try client.readMessage().contains(#""d":2"#))
    }
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }
}
