import RunnelBase
import Testing

/// `runnel service` against a server that was written by others.
@Suite(.enabled("pip reaches the packages of the servers", { ServicePeer.isThere }))
struct ServiceCommandTests {
  private let peer: ServicePeer
  private let host: String

  init() throws {
    peer = try ServicePeer(.five)
    host = "http://127.0.0.1:\(peer.port)"
  }

  private func run(_ words: [String], input: String = "") throws -> Program.Outcome {
    try Program.run(["service", words[0], host] + words.dropFirst(), input: input)
  }

  private func json(_ words: [String]) throws -> JSONValue {
    let outcome = try run(words)
    #expect(outcome.status == 0, "\(words): \(outcome.errors)")
    return try JSONValue(parsing: outcome.output)
  }

  @Test(arguments: ["auto", "rest", "socket", "websocket", "polling"])
  func theSixMethodsHaveTheirAnswersOverEachTransport(transport: String) throws {
    let choice = ["--transport", transport]
    #expect(
      try json(["create", "messages", "{\"text\":\"a\"}"] + choice) == ["text": "a", "id": 0])
    #expect(try json(["create", "messages", "[{\"n\":1},{\"n\":2}]"] + choice).array?.count == 2)
    #expect(try json(["get", "messages", "0"] + choice)["text"] == "a")
    #expect(try json(["patch", "messages", "0", "{\"n\":3}"] + choice)["n"] == 3)
    #expect(try json(["update", "messages", "0", "{\"n\":4}"] + choice) == ["n": 4, "id": 0])
    let page = try json(["find", "messages", "--sort", "n:desc", "--limit", "2"] + choice)
    #expect(page["data"]?.array?.map { $0["n"] } == [4, 2])
    let lines = try run(["find", "messages", "--select", "n", "--lines"] + choice).output
    #expect(lines.split(separator: "\n").count == 3)
    #expect(
      try json(["call", "messages", "archive", "{\"a\":1}"] + choice)["archived"] == ["a": 1])
    #expect(
      try json(["patch", "messages", "--all", "--force", "{\"seen\":true}"] + choice).array?.count
        == 3)
    #expect(try json(["remove", "messages", "0"] + choice)["id"] == 0)
    #expect(try json(["remove", "messages", "--all", "--force"] + choice).array?.count == 2)
  }

  @Test func errorsAreToldWithTheirFields() throws {
    let missing = try run(["get", "messages", "99"])
    #expect(missing.status == 1)
    #expect(missing.errors == "runnel: NotFound (404): No record found for id '99'\n")
    let bad = try run(["create", "messages", "{\"text\":\"bad\"}"])
    #expect(bad.status == 1 && bad.output.isEmpty)
    #expect(bad.errors.contains("bad thing") && bad.errors.contains("errors: {\"text\":\"bad\"}"))
    let usage = [
      ["remove", "messages"], ["remove", "messages", "1", "--all"], ["patch", "messages"],
      ["remove", "messages", "--all", "--limit", "0"],
      ["patch", "messages", "--all", "--skip", "1", "{\"a\":1}"],
      ["remove", "messages", "--all", "--query", "{\"$limit\":1}"],
      ["find", "messages", "--query", "[]"], ["find", "messages", "--sort", "a:up"],
      ["update", "messages", "{\"a\":1}"], ["patch", "messages", "{\"a\":1}"],
      ["patch", "messages", "-"], ["remove", "messages", "[1]"], ["patch", "messages", "7", "{a"],
      ["call", "messages", "find", "{}"], ["watch", "messages", "--transport", "rest"],
    ]
    for words in usage {
      let outcome = try run(words)
      #expect(outcome.status == 2, "\(words): \(outcome.status) \(outcome.errors)")
      #expect(
        outcome.errors.contains("Usage: runnel service \(words[0])"), "\(words): \(outcome.errors)")
    }
    let open = try Program.run(
      ["service", "find", "http://example.com", "messages"], environment: ["RUNNEL_TOKEN": "a.b.c"])
    #expect(open.status == 2 && open.errors.contains("no TLS"))
    let nobody = try Program.run([
      "service", "find", "http://127.0.0.1:\(try FreePort.any())", "messages",
    ])
    #expect(nobody.status == 3 && nobody.errors.contains("127.0.0.1"))
  }

  @Test(arguments: ["socket", "rest"])
  func signingInByCredentialsOrByToken(transport: String) throws {
    let choice = ["--transport", transport]
    let refused = try run(["find", "secret"] + choice)
    #expect(refused.errors.contains("NotAuthenticated (401)"))
    let folder = try TemporaryFolder()
    let login = try folder.write(
      "{\"strategy\":\"local\",\"email\":\"a@b.c\",\"password\":\"pw\"}", to: "login.json")
    #expect(try json(["find", "secret", "--sign-in", login] + choice) == [])
    let answer = try json([
      "create", "authentication",
      "{\"strategy\":\"local\",\"email\":\"a@b.c\",\"password\":\"pw\"}",
    ])
    let token = try folder.write(answer["accessToken"]?.string ?? "", to: "token")
    #expect(try json(["find", "secret", "--token-file", token] + choice) == [])
  }

  @Test func eventsArePrintedUntilTheReaderGoes() throws {
    let watching = try RunningProgram([
      "service", "watch", host, "messages", "--events", "created,removed",
    ])
    // The first event that is seen may be any of these: the watcher connects meanwhile.
    var line: String?
    for _ in 0..<100 where line == nil {
      #expect(try run(["create", "messages", "{\"text\":\"w\"}"]).status == 0)
      line = try watching.readLines(countMax: 1, milliseconds: 200).first
    }
    let event = try JSONValue(parsing: line ?? "")
    #expect(event["event"] == "created" && event["data"]?["text"] == "w")
    try watching.send(15)
    _ = try watching.wait()
  }
}
