import TestSupport
import Testing

/// Commands on a server's database whose requests are carried out, and whose answers are lost.
@Suite(.timeLimit(.minutes(2))) struct LostAnswerTests {
  private static let increment = "{\"n\":{\".sv\":{\"increment\":1}}}"

  private let database: TestDatabase
  private let served: Served

  init() throws {
    database = try TestDatabase("{\"n\":1}")
    served = try Served([database.file, "--emulator"])
  }

  private func value(_ path: String) throws -> String {
    try Program.run(["get", path, "-d", "http://localhost:\(served.port)/?ns=test"]).output
  }

  /// What stands before the server and loses answers to writes, from the one after so many on, and so many.
  private func front(after first: Int, losing count: Int = .max) throws -> RawServer {
    let port = served.port
    return try RawServer { request, earlier in
      let answer = RawServer.answer(to: request, from: port)
      return earlier >= first && earlier - first < count && request.method != "GET" ? nil : answer
    }
  }

  private func url(_ server: RawServer) -> String { "http://127.0.0.1:\(server.port)/?ns=test" }

  @Test func incrementWhoseAnswerWasLostIsDoneOnceByServersThatKnowItsName() throws {
    let front = try front(after: 0, losing: 1)
    let outcome = try Program.run([
      "update", "/", LostAnswerTests.increment, "-f", "-d", url(front),
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(front.methods == ["PATCH", "GET", "PATCH"])
    #expect(try value("/n") == "2\n")
  }

  @Test func incrementWhoseAnswerWasLostIsNotSentAgainToOtherServers() throws {
    let other = try RawServer { request, _ in
      request.method == "GET" ? "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n" : nil
    }
    let outcome = try Program.run([
      "update", "/", LostAnswerTests.increment, "-f", "-d", url(other),
    ])
    #expect(outcome.status == 3)
    #expect(
      outcome.errors.contains("What became of the write is not known"), "\(outcome.errors)")
    #expect(other.methods == ["PATCH", "GET"])
  }

  @Test func setWhoseAnswersAreLostIsOfUnknownOutcome() throws {
    let front = try front(after: 0)
    let outcome = try Program.run(["set", "/n", "7", "--force", "-d", url(front)])
    #expect(outcome.status == 3)
    #expect(
      outcome.errors.contains("What became of the write is not known"), "\(outcome.errors)")
    #expect(try value("/n") == "7\n")
    #expect(front.methods.allSatisfy { $0 == "PUT" })
  }

  @Test func pushWhoseAnswersAreLostSaysItsKey() throws {
    let front = try front(after: 0)
    let outcome = try Program.run(["push", "/log", "5", "-d", url(front)])
    #expect(outcome.status == 3 && outcome.output.isEmpty)
    let key = String(try value("/log").dropFirst("{\"".count).prefix { $0 != "\"" })
    #expect(try value("/log") == "{\"\(key)\":5}\n")
    #expect(front.methods.allSatisfy { $0 == "PUT" })
    #expect(
      outcome.errors.contains("It is not known whether the value was added, as \"\(key)\": "),
      "\(outcome.errors)")
  }

  @Test func lineWhoseAnswersAreLostIsNotCalledMissing() throws {
    let front = try front(after: 1)
    let outcome = try Program.run(
      ["push", "/log", "--lines", "-d", url(front)], input: "1\n2\n3\n")
    #expect(outcome.status == 3)
    let keys = try value("/log").split(separator: "\"").filter { $0.hasPrefix("-") }
    try #require(keys.count == 2)
    #expect(front.methods.allSatisfy { $0 == "PUT" })
    #expect(outcome.output == "\"\(keys[0])\"\n")
    #expect(
      outcome.errors.contains("It is not known whether line 2 was added, as \"\(keys[1])\": "),
      "\(outcome.errors)")
    #expect(outcome.errors.contains("Those before it were added"), "\(outcome.errors)")
  }

  @Test func lineThatWasNeverSentWasNotAdded() throws {
    let outcome = try Program.run(
      ["push", "/log", "--lines", "-d", "http://localhost:1/?ns=test"], input: "1\n")
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("Line 1 was not added: "), "\(outcome.errors)")
  }
}
