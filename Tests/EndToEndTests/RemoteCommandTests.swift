import Foundation
import Synchronization
import TestSupport
import Testing

/// Commands on a server's database, with this program as the server.
@Suite(.timeLimit(.minutes(5))) struct RemoteCommandTests {
  private let database: TestDatabase
  private let served: Served

  init() throws {
    database = try TestDatabase(
      "{\"list\":{\"a\":{\"n\":3},\"b\":{\"n\":1},\"c\":{\"n\":2}},\"x\":\"ö\"}")
    served = try Served([database.file, "--emulator"])
  }

  private var url: String { "http://localhost:\(served.port)/?ns=test" }

  private func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) throws -> Program.Outcome {
    try Program.run(arguments + ["-d", url], input: input, environment: environment)
  }

  private func output(_ arguments: String..., input: String = "") throws -> String {
    let outcome = try Program.run(arguments + ["-d", url], input: input)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  @Test func valuesAndQueriesArePrinted() throws {
    #expect(try output("get", "/x") == "\"ö\"\n")
    #expect(try output("get", "/none") == "null\n")
    #expect(try output("get", "/", "--shallow") == "{\"list\":true,\"x\":true}\n")
    #expect(try output("get", "/list", "--limit-to-last", "1") == "{\"c\":{\"n\":2}}\n")
    #expect(
      try output("get", "/list", "--start-after", "\"a\"", "--limit-to-first", "1", "--pretty")
        == "{\n  \"b\": {\n    \"n\": 1\n  }\n}\n")
    #expect(try output("get", "/list", "--format", "csv") == "$key,n\r\na,3\r\nb,1\r\nc,2\r\n")
    let inner = try Program.run(["get", "-d", "http://localhost:\(served.port)/list/a?ns=test"])
    #expect(inner.output == "{\"n\":3}\n")
  }

  @Test func requestsThatServersDoNotSupportAreUsageErrors() throws {
    #expect(try run("get", "/list", "--where", "n > 1").status == 2)
    #expect(try run("get", "/list", "--explain").status == 2)
    #expect(try run("doctor").status == 2)
  }

  @Test(arguments: [
    "https://a.example/?ns=x&auth=secret", "https://a.example:x/?auth=secret",
    "https://me:sec.ret/secret@a.example/", "https://a example/?auth=secret",
  ])
  func noErrorRepeatsAnAddressThatMayHoldASecret(address: String) throws {
    for arguments in [
      ["get", "-d", address], ["get", address], ["set", address, "1"], ["open", address],
      [address, "--plain"], ["-d", address], ["get", address, "-d", "other.db"],
      [address, "-d", address], ["copy", address, "other.db:/x"], ["diff", "/", address],
      ["sync", "pull", address, "x.db"], ["sync", "pull", "other.db:/x", address],
      ["sync", "push", address],
    ] {
      let outcome = try Program.run(arguments)
      #expect(outcome.status == 2, "\(arguments): \(outcome.errors)")
      #expect(!(outcome.errors + outcome.output).contains("secret"), "\(arguments)")
    }
  }

  /// A place that moved: what its servers were asked is done by the others.
  @Test func readsAndWritesAreSentOn() throws {
    let port = served.port
    let former = try RawServer { request, _ in
      let line = String(decoding: request.bytes.prefix { $0 != 13 }, as: UTF8.self)
      let target = line.split(separator: " ").dropFirst().first ?? "/"
      return "HTTP/1.1 307 Moved\r\nLocation: http://localhost:\(port)\(target)\r\n"
        + "Content-Length: 0\r\nConnection: close\r\n\r\n"
    }
    let address = "http://localhost:\(former.port)/?ns=test"
    func sent(_ arguments: String..., input: String = "") throws -> String {
      let outcome = try Program.run(arguments + ["-d", address], input: input)
      #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
      return outcome.output
    }
    _ = try sent("set", "/moved", "{\"a\":1}")
    _ = try sent("update", "/moved", "{\"b\":{\".sv\":{\"increment\":2}},\"c\":3}")
    _ = try sent("remove", "/moved/c")
    #expect(try sent("get", "/moved") == "{\"a\":1,\"b\":2}\n")
    let key = try sent("push", "/pushed", "7").split(separator: "\n").first ?? ""
    #expect(try output("get", "/pushed") == "{\(key):7}\n")
    _ = try sent("import", "-", "/imported", input: "{\"x\":1}")
    #expect(try output("get", "/imported") == "{\"x\":1}\n")
    #expect(Set(former.methods) == ["GET", "PUT", "PATCH"])
  }

  @Test func aReadThatFailsBeforeAWriteSaysThatNothingWasChanged() throws {
    let server = try RawServer { _, _ in
      "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }
    let address = "http://localhost:\(server.port)/?ns=test"
    let outcome = try Program.run(["import", "-", "/new", "-d", address], input: "{\"a\":1}")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Nothing was changed."), "\(outcome.errors)")
    let copied = try Program.run(["copy", "/list", "/copy", "-d", address])
    #expect(copied.errors.contains("Nothing was copied."), "\(copied.errors)")
    let read = try Program.run(["get", "/new", "-d", address])
    #expect(!read.errors.contains("Nothing was changed."), "\(read.errors)")
    #expect(Set(server.methods) == ["GET"])
  }

  /// The signal comes while the server has the second batch, and has not answered it.
  @Test func importThatIsStoppedSaysHowToGoOn() throws {
    let number = Mutex<pid_t>(0)
    let server = try RawServer { _, earlierCount in
      if earlierCount == 0 { return "HTTP/1.1 204 Done\r\nConnection: close\r\n\r\n" }
      var processID: pid_t = 0
      while processID == 0 { processID = number.withLock(\.self) }
      if earlierCount == 1 { kill(processID, SIGINT) }
      return nil
    }
    let values = (0..<20_001).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
    let file = try database.folder.write("{\(values)}", to: "large.json")
    let program = try RunningProgram([
      "import", file, "/large", "--merge", "--force", "-d",
      "http://localhost:\(server.port)/?ns=test",
    ])
    number.withLock { $0 = program.processID }
    #expect(try program.wait() == 130)
    let errors = try program.errors()
    #expect(errors.contains("whether batch 2 of 3 was written is not known"), "\(errors)")
    #expect(errors.contains("continue with --from-batch 2."), "\(errors)")
  }

  @Test func theAddressOfAPlaceMayStandUnencoded() throws {
    _ = try output("set", "/stände/am Markt", "1")
    let place = "http://localhost:\(served.port)/stände/am Markt?ns=test"
    let outcome = try Program.run(["get", place])
    #expect(outcome.status == 0 && outcome.output == "1\n", "\(outcome.errors)")
  }

  @Test func valuesAreWritten() throws {
    #expect(try output("set", "/new", "{\"a\":1}") == "")
    #expect(try output("update", "/new", "{\"b/c\":2}") == "")
    #expect(try output("get", "/new") == "{\"a\":1,\"b\":{\"c\":2}}\n")
    #expect(try output("remove", "/new/b") == "")
    #expect(try output("get", "/new") == "{\"a\":1}\n")
    let keys = try output("push", "/log", "--lines", input: "1\n2\n")
      .split(separator: "\n").map(String.init)
    #expect(keys.count == 2 && keys == keys.sorted())
    #expect(try output("get", "/log") == "{\(keys[0]):1,\(keys[1]):2}\n")
    #expect(try run("set", "/", "1").status == 2)
    #expect(try run("remove", "/").status == 2)
  }

  @Test func whatNoHistoryKeepsNeedsForce() throws {
    let text = String(repeating: "x", count: 1000)
    let members = (0..<300).map { "\"k\($0)\":\"\(text)\"" }
    let large = "{" + members.joined(separator: ",") + "}"
    #expect(try run("set", "/big", "-", input: large).status == 0)
    let value = "\"" + String(repeating: "x", count: 70_000) + "\""
    #expect(try run("set", "/value", "-", input: value).status == 0)
    for (command, deed) in [
      (["set", "/big", "1"], "replace /big"), (["remove", "/big"], "remove /big"),
      (["update", "/", "{\"big\":1,\"x\":2}"], "replace /big"),
      (["set", "/value/below/it", "1"], "replace /value"),
    ] {
      let outcome = try Program.run(command + ["-d", url])
      #expect(outcome.status == 2, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains("This would \(deed) of "), "\(outcome.errors)")
      #expect(outcome.errors.contains("larger than 64 KiB"), "\(outcome.errors)")
      #expect(outcome.errors.contains("--force"), "\(outcome.errors)")
    }
    #expect(try output("get", "/value") == value + "\n")
    #expect(try output("get", "/x") == "\"ö\"\n")
    // What is small within it is written without a question.
    #expect(try run("set", "/big/k1", "1").status == 0)
    #expect(try run("remove", "/big/k2").status == 0)
    #expect(try run("update", "/big", "{\"k3\":1,\"new\":{\"a\":2}}").status == 0)
    #expect(try run("remove", "/value/below").status == 0)
    let many = (0..<20).map { "\"k\($0)\":null" }.joined(separator: ",")
    #expect(try run("update", "/big", "{\(many)}").status == 0)
    let tooMany = (0..<101).map { "\"k\($0)\":null" }.joined(separator: ",")
    let refused = try run("update", "/big", "{\(tooMany)}")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("This would write 101 values below /big of "))
    #expect(try run("update", "/big", "{\(tooMany)}", "--force").status == 0)
    #expect(try run("update", "/list", "{\(tooMany)}").status == 0)
    #expect(try run("set", "/value", "1", "--force").status == 0)
    #expect(try run("remove", "/big", "--force").status == 0)
    #expect(try output("get", "/big") == "null\n")
  }

  @Test func atATerminalThePersonIsAskedForWhatNoHistoryKeeps() throws {
    let value = "\"" + String(repeating: "x", count: 70_000) + "\""
    #expect(try run("set", "/value", "-", input: value).status == 0)
    for (answer, status) in [("n\n", 1), ("y\n", 0)] as [(String, Int32)] {
      let terminal = try PseudoTerminal()
      let program = try RunningProgram(
        ["set", "/value", "1", "-d", url], .init(input: .file(terminal.programEnd)))
      try program.answer(answer, at: terminal)
      #expect(try program.wait() == status)
      #expect(try program.errors().contains("It is larger than 64 KiB"))
    }
    #expect(try output("get", "/value") == "1\n")
  }

  @Test func aWriterWhoMayNotReadIsNotAsked() throws {
    let database = try TestDatabase("{\"in\":{\"a\":1}}")
    let rules = try database.folder.write(
      "{\"rules\":{\"in\":{\".write\":true}}}", to: "write.rules.json")
    let closed = try Served([database.file, "--emulator", "--rules", rules, "--name", "test"])
    let url = "http://localhost:\(closed.port)/?ns=test"
    let outcome = try Program.run(["set", "/in/a", "2", "-d", url])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try Program.run(["set", "/out", "2", "-d", url]).errors.contains("Permission denied"))
    #expect(try database.run(["get", "/in/a"]).output == "2\n")
  }

  @Test func aMoveOnAServerSaysWhatToDoInstead() throws {
    let other = database.folder.file("other.db")
    for command in [
      ["move", "/x", "/y", "-d", url], ["move", url, "/y"], ["move", "\(other):/x", url],
    ] {
      let outcome = try Program.run(command)
      #expect(outcome.status == 2, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains("`runnel move` works on files only"), "\(outcome.errors)")
      #expect(outcome.errors.contains("`runnel copy`, and then `runnel remove`"))
    }
    #expect(try output("get", "/x") == "\"ö\"\n")
  }

  @Test func aTreeIsExportedAndImportedAgain() throws {
    let exported = try output("export")
    #expect(try run("import", "-", "/copy", input: exported).status == 0)
    #expect(try output("export", "/copy") == exported)
    #expect(try run("import", "-", "/copy", input: "{}").status == 2)
    #expect(try run("import", "-", "/copy", "--merge", input: "{\"x\":5}").status == 0)
    #expect(try output("get", "/copy/x") == "5\n")
    #expect(try output("get", "/copy/list/a/n") == "3\n")
  }

  @Test func aLargeDocumentIsImportedInBatches() throws {
    let text = String(repeating: "x", count: 1000)
    let members = (0..<5000).map { "\"k\($0)\":{\"t\":\"\(text)\"}" }
    let document = "{" + members.joined(separator: ",") + "}"
    #expect(try run("import", "-", "/big", input: document).status == 0)
    let shallow = try output("get", "/big", "--shallow")
    #expect(shallow.split(separator: ",").count == 5000)
    // Sends the last batch again.
    let again = try run("import", "-", "/big", "--replace", "--from-batch", "4", input: document)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try output("get", "/big/k4999/t") == "\"\(text)\"\n")
    #expect(
      try run("import", "-", "/big", "--replace", "--from-batch", "99", input: "{}").status == 2)
  }

  @Test func changesArePrintedAsTheyHappen() throws {
    let program = try RunningProgram(["watch", "/list", "--limit-to-last", "2", "-d", url])
    func next() throws -> String {
      let line = try program.readLine() ?? ""
      return String(line.dropFirst("{\"event\":\"".count).prefix { $0 != "\"" })
    }
    #expect(try next() == "child_added")
    #expect(try next() == "child_added")
    _ = try served.client().request("PUT", "/list/d.json", "4")
    #expect(try [next(), next()].sorted() == ["child_added", "child_removed"])
    try program.send(SIGINT)
    _ = try program.wait()
  }

  /// Once, it ended when the first request after that was refused.
  @Test func aServerThatIsAwayForAWhileIsWatchedAgain() throws {
    let program = try RunningProgram(["watch", "/list", "-d", url])
    for _ in 0..<3 { #expect(try program.readLine() != nil) }
    try served.program.send(SIGTERM)
    _ = try served.program.wait()
    let end = ContinuousClock.now + .seconds(60)
    while try !program.errors().contains("It is tried until it succeeds") {
      try #require(try !program.ends(within: 50) && ContinuousClock.now < end)
    }
    #expect(try database.run(["set", "/list/d", "4"]).status == 0)
    let back = try Served([database.file, "--emulator"], listen: "localhost:\(served.port)")
    #expect(try program.readLine()?.contains("\"path\":\"/list/d\"") == true)
    #expect(try program.errors().split(separator: "\n").count == 1)
    try program.send(SIGINT)
    _ = try program.wait()
    try back.program.send(SIGTERM)
    _ = try back.program.wait()
  }

  @Test func anUnreachableServerGivesTheRetryStatus() throws {
    let outcome = try Program.run(["get", "-d", "http://localhost:1/?ns=x"])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("cannot be reached"))
  }

  @Test func aTokenComesFromAFileOrTheEnvironment() throws {
    let database = try TestDatabase("{\"x\":\"ö\"}")
    let rules = try database.folder.write("{\"rules\":{}}", to: "closed.rules.json")
    let closed = try Served([database.file, "--emulator", "--rules", rules, "--name", "test"])
    let url = "http://localhost:\(closed.port)/?ns=test"
    let refused = try Program.run(["get", "/x", "-d", url])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("401: Permission denied. Sign in with `runnel login`, or"))
    let token = try database.folder.write("owner\n", to: "token")
    #expect(
      try Program.run(["get", "/x", "-d", url, "--token-file", token]).output == "\"ö\"\n")
    let environment = ["RUNNEL_TOKEN": "owner"]
    #expect(
      try Program.run(["get", "/x", "-d", url], environment: environment).output == "\"ö\"\n")
  }
}
