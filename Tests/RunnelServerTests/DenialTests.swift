import Foundation
import RunnelBase
import Synchronization
import TestSupport
import Testing

@testable import RunnelServer

/// What the rules deny is counted by protocol, and over WebSockets it has a line of the log.
@Suite struct DenialTests {
  private static let rules = """
    {"rules":{"open":{".read":true,".write":true},"last":{".read":"query.limitToLast <= 2"}}}
    """

  private final class Kept: Sendable {
    let lines = Mutex<[String]>([])

    /// The lines about denials.
    var denials: [JSONValue] {
      lines.withLock { $0 }.compactMap { try? JSONValue(parsing: $0) }
        .filter { $0["event"] == "denied" }
    }
  }

  @Test func denialsAreCountedAndThoseOfWebSocketsAreLogged() async throws {
    let kept = Kept()
    let log = try LogLines { line in
      kept.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    try await TestServer.$lines.withValue(log) {
      try await withServer(rules: DenialTests.rules) { server in
        #expect(
          server.server.metricsText.contains("runnel_denials_total{protocol=\"websocket\"} 0\n"))
        let socket = try server.socket()
        let ana = #"{"cred":"owner","authvar":{"uid":"ana"}}"#
        #expect(try socket.status(1, "gauth", ana) == "ok")
        #expect(try socket.status(2, "p", #"{"p":"/none","d":"a secret"}"#) == "permission_denied")
        #expect(try socket.status(3, "p", #"{"p":"/open/a","d":1}"#) == "ok")
        let query = #"{"p":"/last","q":{"i":"at","l":2,"vf":"r"},"t":1,"h":""}"#
        #expect(try socket.status(4, "q", query) == "permission_denied")
        #expect(try server.request("GET", "/none.json").status == 401)
        let text = server.server.metricsText
        #expect(text.contains("runnel_denials_total{protocol=\"websocket\"} 2\n"))
        #expect(text.contains("runnel_denials_total{protocol=\"http\"} 1\n"))
      }
    }
    log.flush()
    let denials = kept.denials
    #expect(denials.map { $0["action"] } == ["write", "listen"])
    #expect(denials.map { $0["path"] } == ["/none", "/last"])
    #expect(denials.allSatisfy { $0["user"] == "ana" && $0["connection"] != nil })
    #expect(denials.last?["reason"]?.string?.hasPrefix("The query has no index") == true)
    #expect(!kept.lines.withLock { $0.joined() }.contains("secret"))
  }

  @Test func linesHaveABoundAndTheOthersAreCounted() {
    let rate = DenialRate()
    let most = DenialRate.linesPerSecond
    #expect((0..<most).allSatisfy { _ in rate.takeLine(second: 1) == 0 })
    #expect((0..<3).allSatisfy { _ in rate.takeLine(second: 1) == nil })
    #expect(rate.takeLine(second: 2) == 3)
    #expect(rate.takeLine(second: 2) == 0)
  }

  @Test func everyMetricIsExplainedThereAndInThePage() async throws {
    let page = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Resources/docs/serve.md").standardizedFileURL,
      encoding: .utf8)
    for name in MetricHelp.texts.keys { #expect(page.contains("| `\(name)`"), "\(name)") }
    try await withServer { server in
      _ = try server.request("PUT", "/a.json", "1")
      let lines = server.server.metricsText.split(separator: "\n")
      for line in lines where line.hasPrefix("# TYPE ") {
        let name = line.split(separator: " ")[2]
        #expect(lines.contains { $0.hasPrefix("# HELP \(name) ") }, "\(name)")
      }
    }
  }

  @Test func connectionsOfADatabaseThatIsNotThereAreNotListedAsNone() async throws {
    try await withServer { server in
      let client = try server.administrator()
      #expect(try client.request("GET", "/connections?database=test").status == 200)
      #expect(try server.administrator().request("GET", "/connections?database=nix").status == 404)
    }
  }

  /// A gauge that is there from the start can be watched before the first fault.
  @Test func whetherADatabaseCanBeWrittenIsToldFromTheStartAndWhenItsFileIsLost() async throws {
    try await withServer { server in
      #expect(server.server.metricsText.contains("runnel_writable{database=\"test\"} 1\n"))
      try FileManager.default.moveItem(atPath: server.file, toPath: server.folder + "/away.db")
      #expect(try server.request("PUT", "/a.json", "1").status == 503)
      #expect(server.server.metricsText.contains("runnel_writable{database=\"test\"} 0\n"))
    }
  }
}
