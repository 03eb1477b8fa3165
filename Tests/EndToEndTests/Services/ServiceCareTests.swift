import Foundation
import RunnelBase
import Testing

/// What `runnel service` does not do: call as nobody, or change what the query does not mean.
@Suite(.enabled("pip reaches the packages of the servers", { ServicePeer.isThere }))
struct ServiceCareTests {
  private let peer: ServicePeer
  private let host: String
  private let folder: TemporaryFolder

  init() throws {
    peer = try ServicePeer(.five)
    host = "http://127.0.0.1:\(peer.port)"
    folder = try TemporaryFolder()
  }

  private func run(_ words: [String], input: String = "") throws -> Program.Outcome {
    try Program.run(["service", words[0], host] + words.dropFirst(), input: input)
  }

  private func create(_ records: JSONValue) throws {
    #expect(try run(["create", "messages", records.jsonText()]).status == 0)
  }

  private func total() throws -> Int? {
    try JSONValue(parsing: run(["find", "messages", "--limit", "0"]).output)["total"]?.int
  }

  /// Waits until the program has written a text to standard error.
  private func wait(_ program: RunningProgram, for text: String) throws {
    try program.waitForErrors(text)
    let errors = try program.errors()
    try #require(errors.contains(text), "\(errors)")
  }

  // MARK: Who asks

  @Test func callWithARefusedTokenIsNotSent() throws {
    let token = ["--token-file", try folder.write("expired", to: "token")]
    let calls = [
      ["find", "messages"], ["create", "messages", "{\"a\":1}"],
      ["call", "messages", "archive", "{\"a\":1}"], ["watch", "messages"],
    ]
    for call in calls {
      let outcome = try run(call + token)
      #expect(outcome.status == 1 && outcome.output.isEmpty, "\(call): \(outcome)")
      #expect(
        outcome.errors.hasPrefix("runnel: NotAuthenticated (401): jwt expired"), "\(outcome.errors)"
      )
      #expect(!outcome.errors.contains("ended the session"), "\(outcome.errors)")
    }
    let login = try folder.write(
      "{\"strategy\":\"local\",\"email\":\"a@b.c\",\"password\":\"no\"}", to: "login.json")
    let outcome = try run(["create", "messages", "{\"a\":1}", "--sign-in", login])
    #expect(outcome.status == 1 && outcome.errors.contains("Invalid login"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("not known"), "\(outcome.errors)")
    #expect(try total() == 0)
  }

  @Test func profileSaysWhereTheServerIsAndWhoAsks() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("config/runnel"), withIntermediateDirectories: true)
    _ = try folder.write(
      "{\"strategy\":\"local\",\"email\":\"a@b.c\",\"password\":\"pw\"}",
      to: "config/runnel/chat.json")
    _ = try folder.write(
      """
      origins:
        chat: { url: "feathers+\(host)", services: messages, sign-in: chat.json }
        archive: { url: "feathers+\(host)", read-only: true }
        tree: { url: "http://localhost:1/?ns=a" }
      """, to: "config/runnel/config.yaml")
    let run = { (words: [String]) in
      try Program.run(
        ["service"] + words,
        environment: [
          "XDG_CONFIG_HOME": folder.file("config"), "XDG_DATA_HOME": folder.file("data"),
          "XDG_STATE_HOME": folder.file("state"),
        ])
    }
    for name in ["chat", "chat:"] {
      let outcome = try run(["find", name, "secret"])
      #expect(outcome.output == "[]\n", "\(outcome.errors)")
    }
    let refused = try run(["create", "archive", "messages", "{}"])
    #expect(refused.status == 1 && refused.errors.contains("archive is read-only"))
    #expect(try run(["find", "archive", "messages"]).status == 0)
    let tree = try run(["find", "tree", "messages"])
    #expect(tree.status == 2 && tree.errors.contains("no Feathers server"), "\(tree.errors)")
    let unknown = try run(["find", "chta", "messages"])
    #expect(
      unknown.status == 2 && unknown.errors.contains("the profile chat?"), "\(unknown.errors)")
  }

  // MARK: What is meant

  /// Over REST the peer compares texts with numbers, as a service without a schema does: `$ne` holds for all.
  @Test func recordsThatDoNotMatchAreNotChangedOverREST() throws {
    // The only one that does not match is not on the first page.
    let rest = ["--transport", "rest"]
    try create(.array((0..<12).map { ["n": .number(JSONNumber(Int64($0 == 11 ? 2 : 1)))] }))
    let unequal = ["--query", "{\"n\":{\"$ne\":2}}"]
    for call in [["remove", "messages", "--all"], ["patch", "messages", "--all", "{\"a\":1}"]] {
      let outcome = try run(call + unequal + rest)
      #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.contains("1 of 12 records"), "\(outcome.errors)")
      #expect(outcome.errors.contains("--transport socket"), "\(outcome.errors)")
    }
    let conditional = try run(["patch", "messages", "11", "{\"a\":1}"] + unequal + rest)
    #expect(conditional.status == 1 && conditional.errors.contains("Nothing was changed"))
    let find = try run(["find", "messages", "--limit", "50"] + unequal + rest)
    #expect(find.status == 0 && find.errors.contains("1 of 12 records"), "\(find.errors)")
    #expect(try total() == 12)
    #expect(try !run(["find", "messages", "--lines"]).output.contains("\"a\""))

    let meant = try run(
      ["remove", "messages", "--all", "--query", "{\"n\":{\"$nin\":[7]}}"] + rest)
    #expect(meant.status == 0 && meant.errors.isEmpty, "\(meant.errors)")
    #expect(try total() == 0)
    try create([["n": 5]])
    let none = try run(
      ["patch", "messages", "--all", "--query", "{\"n\":5}", "{\"a\":1}"] + rest)
    #expect(none.output == "[]\n" && none.errors.contains("are sent as texts"), "\(none.errors)")
    #expect(try run(["remove", "messages", "--all", "--force"]).status == 0)
    try create([["text": "a"], ["text": "b"]])
    let texts = try run(["remove", "messages", "--all", "--query", "{\"text\":\"a\"}"] + rest)
    #expect(texts.status == 0)
    #expect(try total() == 1)
  }

  /// Nobody can be asked, and all records are concerned.
  @Test(arguments: [["remove"], ["patch", "{\"a\":1}"]])
  func allRecordsNeedAnOptionWithoutAQuery(words: [String]) throws {
    try create([["n": 1], ["n": 2]])
    let call = [words[0], "messages", "--all"] + words.dropFirst()
    let refused = try run(call)
    #expect(refused.status == 2 && refused.output.isEmpty, "\(refused.output)")
    #expect(refused.errors.contains("all records of messages"), "\(refused.errors)")
    #expect(refused.errors.contains("Nothing was changed: --force does it"), "\(refused.errors)")
    #expect(try total() == 2)
    #expect(try run(call + ["--force"]).status == 0)
  }

  @Test(arguments: ["remove", "patch"])
  func questionNamesTheQueryAndHowManyRecordsMatch(method: String) throws {
    try create([["n": 1], ["n": 1], ["n": 2]])
    let words =
      ["messages", "--all", "--query", "{\"n\":1}"] + (method == "patch" ? ["{\"a\":1}"] : [])
    let ask = { (answer: String) in
      let terminal = try PseudoTerminal()
      let program = try RunningProgram(
        ["service", method, host] + words, .init(input: .file(terminal.programEnd)))
      try program.answer(answer, at: terminal)
      return (status: try program.wait(), errors: try program.errors())
    }
    let refused = try ask("n\n")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("that match {\"n\":1} (2 now)? [y/N]"), "\(refused.errors)")
    let before = try run(["find", "messages", "--lines"]).output
    #expect(before.split(separator: "\n").count == 3 && !before.contains("\"a\""))
    #expect(try ask("y\n").status == 0)
    #expect(try run(["find", "messages", "--lines"]).output != before)
  }

  // MARK: Watching

  @Test func watcherSaysWhenTheConnectionIsLostAndBack() throws {
    let watcher = try RunningProgram(["service", "watch", host, "messages"])
    var line: String?
    for _ in 0..<100 where line == nil {
      try create(["text": "w"])
      line = try watcher.readLines(countMax: 1, milliseconds: 200).first
    }
    try #require(line != nil)
    try peer.kill()
    // That it is lost, or that the first attempt to make it again failed at once.
    try wait(watcher, for: "made again.")
    let next = try ServicePeer(.five, port: peer.port)
    try wait(watcher, for: "\(host) is connected again; events may be missing.")
    try watcher.send(15)
    _ = try watcher.wait()
    try next.kill()
  }

  @Test func watcherWhoseSessionEndsForGoodEndsWithTheReason() throws {
    let answer = try run([
      "create", "authentication",
      "{\"strategy\":\"local\",\"email\":\"a@b.c\",\"password\":\"pw\"}",
    ])
    let token = try JSONValue(parsing: answer.output)["accessToken"]?.string ?? ""
    let signedIn = ["--token-file", try folder.write(token, to: "token")]
    let watcher = try RunningProgram(["service", "watch", host, "messages"] + signedIn)
    var line: String?
    for _ in 0..<100 where line == nil {
      try create(["text": "w"])
      line = try watcher.readLines(countMax: 1, milliseconds: 200).first
    }
    try #require(line != nil)
    #expect(try run(["call", "control", "expire", "{\"all\":true}"] + signedIn).status == 0)
    #expect(try watcher.wait() == 1)
    let errors = try watcher.errors()
    #expect(errors.contains("\(host) has ended the session."), "\(errors)")
    #expect(
      errors.hasSuffix(
        "NotAuthenticated (401): jwt expired\n  data: {\"name\":\"TokenExpiredError\"}\n"),
      "\(errors)")
  }
}
