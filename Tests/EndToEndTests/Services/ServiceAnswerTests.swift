import Foundation
import Glibc
import Testing

/// `runnel service` over REST against a server that answers a write badly.
@Suite struct ServiceAnswerTests {
  /// Runs a call, a creation if no other is named, against a server that reads the request, writes these bytes and
  /// closes.
  private func create(
    answered bytes: String, method: String = "create", _ more: [String] = []
  ) throws -> Program.Outcome {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(listener >= 0)
    defer { close(listener) }
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
      }
    }
    try #require(status == 0 && listen(listener, 1) == 0)
    let port = UInt16(bigEndian: place.sin_port)
    Thread.detachNewThread {
      let line = accept(listener, nil, nil)
      if line < 0 { return }
      var request: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 4096)
      // The body ends the request.
      let end = method == "create" || more.contains("{}") ? "}" : "\r\n\r\n"
      while !String(decoding: request, as: UTF8.self).contains(end) {
        let count = read(line, &piece, piece.count)
        if count <= 0 { break }
        request += piece.prefix(count)
      }
      let answer = Array(bytes.utf8)
      _ = write(line, answer, answer.count)
      close(line)
    }
    let words = ["service", method, "http://127.0.0.1:\(port)", "messages"]
    return try Program.run(
      words + (method == "create" ? ["{\"a\":1}"] : more) + ["--transport", "rest"])
  }

  @Test(arguments: [
    "", "HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n{\"a\":",
    "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n{\"a\":",
  ])
  func writeWhoseAnswerBreaksOffIsOfUnknownOutcome(answer: String) throws {
    let outcome = try create(answered: answer)
    #expect(outcome.status == 3 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("what became of the call is not known"), "\(outcome.errors)")
  }

  /// It may be a proxy that answers, before the server has the request or after.
  @Test(arguments: [
    "200 OK\r\nContent-Length: 6\r\n\r\n<html>", "200 OK\r\nContent-Length: 8\r\n\r\n\"<html>\"",
    "200 OK\r\nContent-Length: 11\r\n\r\n[{\"a\":1},3]", "200 OK\r\nContent-Length: 2\r\n\r\n[]",
    "200 OK\r\nContent-Length: 0\r\n\r\n",
    "408 Late\r\nContent-Length: 26\r\n\r\n{\"code\":408,\"message\":\"a\"}",
    "502 Bad\r\nContent-Length: 26\r\n\r\n{\"code\":502,\"message\":\"a\"}",
    "503 Busy\r\nContent-Length: 26\r\n\r\n{\"code\":503,\"message\":\"a\"}",
    "504 Late\r\nContent-Length: 26\r\n\r\n{\"code\":504,\"message\":\"a\"}",
    "500 Oh\r\nContent-Length: 6\r\n\r\n<html>", "500 Oh\r\nContent-Length: 9\r\n\r\n{\"code\":5",
    "520 Oh\r\nContent-Length: 0\r\n\r\n", "524 Oh\r\nContent-Length: 6\r\n\r\n<html>",
  ])
  func answerThatDoesNotTellTheOutcomeOfAWriteIsNotTakenForOne(answer: String) throws {
    let outcome = try create(answered: "HTTP/1.1 " + answer)
    #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome.output)")
    #expect(outcome.errors.contains("what became of the call is not known"), "\(outcome.errors)")
  }

  @Test func errorThatTheServiceTellsIsARefusal() throws {
    let outcome = try create(
      answered: "HTTP/1.1 500 Oh\r\nContent-Length: 26\r\n\r\n{\"code\":500,\"message\":\"a\"}")
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)")
    #expect(!outcome.errors.contains("not known"), "\(outcome.errors)")
  }

  @Test func readThatSomethingElseAnswersMayBeRepeated() throws {
    let outcome = try create(
      answered: "HTTP/1.1 524 Oh\r\nContent-Length: 6\r\n\r\n<html>", method: "find")
    #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome.output)")
    #expect(
      outcome.errors.contains("GeneralError (524)") && !outcome.errors.contains("not known"),
      "\(outcome.errors)")
  }

  @Test(arguments: ["create", "remove", "remove --all"])
  func answerWithoutARecordIsOfUnknownOutcome(call: String) throws {
    let words = call.split(separator: " ").map(String.init)
    let more = words.count > 1 ? ["--all", "--force"] : ["7"]
    for answer in [
      "204 No Content\r\n\r\n", "201 Made\r\nContent-Length: 4\r\n\r\nnull",
      "200 OK\r\nContent-Length: 1\r\n\r\n5",
    ] {
      let outcome = try create(answered: "HTTP/1.1 " + answer, method: words[0], more)
      #expect(outcome.status == 3 && outcome.output.isEmpty, "\(answer): \(outcome.output)")
      #expect(outcome.errors.contains("what became of the call is not known"), "\(outcome.errors)")
    }
  }

  @Test(arguments: [("patch", ["7", "{}"]), ("update", ["7", "{}"]), ("remove", ["7"])])
  func changeOfOneRecordIsAnsweredByOne(method: String, words: [String]) throws {
    for answer in ["5", "[]", "[{}]"] {
      let outcome = try create(
        answered: "HTTP/1.1 200 OK\r\nContent-Length: \(answer.count)\r\n\r\n\(answer)",
        method: method, words)
      #expect(outcome.status == 3 && outcome.output.isEmpty, "\(answer): \(outcome.output)")
    }
    let outcome = try create(
      answered: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", method: method, words)
    #expect(outcome.status == 0 && outcome.output == "{}\n", "\(outcome.errors)")
  }

  @Test func removalOfAllMayFindNothing() throws {
    let outcome = try create(
      answered: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", method: "remove",
      ["--all", "--force"])
    #expect(outcome.status == 0 && outcome.output == "[]\n", "\(outcome.errors)")
  }

  @Test(arguments: [
    ("{\"n\":5}", true), ("{\"on\":{\"$ne\":true}}", true), ("{\"n\":\"5\"}", false),
    ("{\"$limit\":0,\"n\":5}", false),
  ])
  func nothingThatIsFoundForANumberIsExplained(query: String, isExplained: Bool) throws {
    let outcome = try create(
      answered: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", method: "find",
      ["--query", query])
    #expect(outcome.status == 0 && outcome.output == "[]\n")
    #expect(outcome.errors.contains("are sent as texts") == isExplained, "\(outcome.errors)")
  }

  // MARK: What is not sent

  /// Nobody listens at the port: the refusal comes before anything is sent.
  @Test(arguments: ["{\"$or\":[]}", "{\"$or\":[{\"text\":{\"$in\":[]}}]}", "{\"text\":{}}"])
  func conditionThatRESTWouldLoseIsRefused(query: String) throws {
    for call in [["find"], ["remove", "--all"], ["patch", "--all", "{}"]] {
      let outcome = try Program.run(
        ["service", call[0], "http://127.0.0.1:9", "messages", "--query", query] + call.dropFirst()
          + ["--transport", "rest"])
      #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)")
      #expect(outcome.errors.contains("over REST it would be lost"), "\(outcome.errors)")
    }
  }

  @Test(arguments: [":desc", ":asc", "a:"])
  func sortNeedsAFieldAndADirectionAfterAColon(term: String) throws {
    let outcome = try Program.run([
      "service", "find", "http://127.0.0.1:9", "messages", "--sort", term,
    ])
    #expect(outcome.status == 2 && outcome.errors.contains("--sort is FIELD"), "\(outcome.errors)")
  }

  @Test(arguments: [["update", "7", "{}"], ["patch", "7", "{}"], ["remove", "7"]])
  func profileWithConfirmAsksBeforeOneRecordIsChanged(call: [String]) throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("config/runnel"), withIntermediateDirectories: true)
    _ = try folder.write(
      "origins:\n  live: { url: \"feathers+http://127.0.0.1:9\", confirm: true }\n",
      to: "config/runnel/config.yaml")
    let words = ["service", call[0], "live", "geraete"] + call.dropFirst()
    let run = { (more: [String], words: [String]) in
      try Program.run(
        words + more,
        environment: [
          "XDG_CONFIG_HOME": folder.file("config"), "XDG_DATA_HOME": folder.file("data"),
          "XDG_STATE_HOME": folder.file("state"),
        ])
    }
    let refused = try run([], words)
    #expect(refused.status == 2, "\(refused.errors)")
    #expect(refused.errors.contains("7 in geraete of live. Nothing was changed: --force does it"))
    if call[0] != "update" {
      let all = ["--all", "--query", "{\"$or\":[]}", "--transport", "rest"]
      let lost = try run(all, ["service", call[0], "live", "geraete"] + call.dropFirst(2))
      #expect(lost.status == 1, "\(lost.errors)")
      #expect(lost.errors.contains("over REST it would be lost"), "\(lost.errors)")
    }
    let sent = try run(["--force"], words)
    #expect(sent.status == 3 && !sent.errors.contains("Nothing was changed"), "\(sent.errors)")
  }

  @Test(arguments: ["--limit", "--sort"])
  func longListThatCannotBeSplitSaysWhy(option: String) throws {
    let list = (0..<25).map(String.init).joined(separator: ",")
    let outcome = try Program.run([
      "service", "find", "http://127.0.0.1:9", "messages", "--query",
      "{\"id\":{\"$in\":[\(list)]}}", option, option == "--limit" ? "5" : "id", "--transport",
      "rest",
    ])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("cannot be joined with $"), "\(outcome.errors)")
  }

  @Test(arguments: [300, 301, 304, 307])
  func statusThatSendsTheCallerNowhereIsNoSuccess(status: Int) throws {
    let outcome = try create(
      answered: "HTTP/1.1 \(status) Elsewhere\r\nContent-Length: 0\r\n\r\n")
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)")
    #expect(outcome.errors.contains("\(status)"), "\(outcome.errors)")
  }
}
