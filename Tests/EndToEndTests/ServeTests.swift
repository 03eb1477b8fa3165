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
    let absent = try Program.run(["serve", database.folder.file("no.db")])
    #expect(absent.status == 2)
    #expect(absent.errors.contains("--create"))
  }

  // MARK: Durability

  /// A client that sends what was not answered again, under the same name.
  private struct Writer {
    let name: String
    var sent = 0
    var unanswered: [Int] = []
    var farewells = 0

    func message(_ number: Int) -> String {
      """
      {"t":"d","d":{"r":\(number),"a":"p","b":{"p":"/count/\(name)",\
      "d":{".sv":{"increment":1}},"w":["\(name)",\(number)]}}}
      """
    }

    /// What is done when the connection ends.
    var farewell: String {
      """
      {"t":"d","d":{"r":1000000,"a":"o","b":{"p":"/gone/\(name)","d":{".sv":{"increment":1}}}}}
      """
    }

    mutating func take(_ answer: String) throws {
      let data = try JSONValue(parsing: answer)["d"]
      guard data?["b"]?["s"] == "ok", case .number(let number)? = data?["r"] else { return }
      if number == JSONNumber(1_000_000) { farewells += 1 }
      unanswered.removeAll { JSONNumber(Int64($0)) == number }
    }
  }

  @Test(arguments: Seeds.byChance())
  func writesAreDoneOnceHoweverOftenTheServerIsKilled(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let database = try TestDatabase("{\"a\":1}")
    var writers = (0..<8).map { Writer(name: "w\($0)") }
    for round in 0...30 {
      let served = try Served([database.file, "--no-access-log"])
      let clients = try writers.map { _ in
        let client = try served.client()
        try client.openSocket()
        _ = try client.readMessage()
        return client
      }
      let last = round == 30
      for index in writers.indices { try send(&writers[index], on: clients[index], isLast: last) }
      let count = last ? Int.max : Int.random(in: 0...8, using: &random)
      for index in writers.indices {
        try takeAnswers(&writers[index], clients[index], countMax: count)
      }
      try served.program.send(last ? SIGTERM : SIGKILL)
      if !last {
        for index in writers.indices {
          try takeAnswers(&writers[index], clients[index], countMax: nil)
        }
      }
      _ = try served.program.wait()
    }
    for writer in writers {
      #expect(writer.unanswered.isEmpty)
      #expect(try database.get("/count/\(writer.name)") == "\(writer.sent)")
      // One may have been kept whose answer did not arrive.
      let gone = Int(try database.get("/gone/\(writer.name)")) ?? 0
      #expect(gone >= writer.farewells)
      #expect(gone <= 30)
    }
    #expect(try database.run(["doctor"]).status == 0)
  }

  private func send(_ writer: inout Writer, on client: RawClient, isLast: Bool) throws {
    if !isLast { try client.sendText(writer.farewell) }
    if !isLast {
      for _ in 0..<5 {
        writer.sent += 1
        writer.unanswered.append(writer.sent)
      }
    }
    for number in writer.unanswered { try client.sendText(writer.message(number)) }
  }

  /// Takes so many answers; without a number, those that were on their way when the server ended.
  private func takeAnswers(
    _ writer: inout Writer, _ client: RawClient, countMax: Int?
  ) throws {
    var count = 0
    while count < countMax ?? .max, !writer.unanswered.isEmpty {
      guard let answer = try? client.readMessage() else { return }
      try writer.take(answer)
      count += 1
    }
  }
}
