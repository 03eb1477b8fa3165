import Foundation
import Glibc
import Testing

/// `runnel service` over REST against a server that answers a write badly.
@Suite struct ServiceAnswerTests {
  /// Runs a call, a creation if no other is named, against a server that reads the request, writes these bytes and
  /// closes.
  private func create(
    answered bytes: String, method: String = "create"
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
      let end = method == "create" ? "}" : "\r\n\r\n"
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
      words + (method == "create" ? ["{\"a\":1}"] : []) + ["--transport", "rest"])
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

  @Test func answerWithoutContentIsAnAnswer() throws {
    let outcome = try create(answered: "HTTP/1.1 204 No Content\r\n\r\n")
    #expect(outcome.status == 0 && outcome.output == "null\n", "\(outcome.errors)")
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
