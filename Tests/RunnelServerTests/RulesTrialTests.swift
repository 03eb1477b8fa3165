import Foundation
import Logging
import RunnelBase
import RunnelSync
import RunnelTree
import Synchronization
import TestSupport
import Testing

@testable import RunnelServer

/// Rules on trial deny nothing: what they would deny is counted and logged.
@Suite struct RulesTrialTests {
  private static let strict = #"""
    {"rules": {
      "open": {".read": true, ".write": true},
      "own": {"$user": {".write": "auth.uid === $user", ".validate": "newData.isNumber()"}}
    }}
    """#

  private final class Kept: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// Runs `body` with a file that has the strict rules.
  private func withFile(_ body: (String) async throws -> Void) async throws {
    let file =
      FileManager.default.temporaryDirectory.path + "/runnel-trial-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Data(RulesTrialTests.strict.utf8).write(to: URL(fileURLWithPath: file))
    try await body(file)
  }

  @Test func whatTheyWouldDenyIsCountedAndDone() async throws {
    try await withFile { file in
      let change: (inout ServerConfiguration) -> Void = {
        ($0.isEmulator, $0.trialRulesFile) = (true, file)
      }
      try await withServer(change) { server in
        func count() -> String? {
          server.server.metricsText.split(separator: "\n").first {
            $0.hasPrefix("runnel_trial_denials_total")
          }.map { String($0.split(separator: " ")[1]) }
        }
        #expect(try server.request("PUT", "/open/x.json", "1").body == "1")
        #expect(count() == "0")
        #expect(try server.request("PUT", "/own/ana.json", "1").body == "1")
        #expect(try server.request("GET", "/own/ana.json").body == "1")
        #expect(count() == "2")
        let socket = try server.socket()
        #expect(try socket.status(1, "p", "{\"p\":\"/own/bo\",\"d\":2}") == "ok")
        #expect(try socket.status(2, "q", "{\"p\":\"/none\",\"h\":\"\"}") == "ok")
        #expect(count() == "4")
        let owner = ["Authorization": "Bearer owner"]
        #expect(try server.request("PUT", "/own/bo.json", "3", headers: owner).body == "3")
        #expect(count() == "4")
        // A file with a mistake changes nothing, a sound one does.
        try Data("{\"rules\": {\".read\": \"nonsense\"}}".utf8)
          .write(to: URL(fileURLWithPath: file))
        await server.server.reloadFiles()
        #expect(try server.request("PUT", "/own/bo.json", "4").body == "4")
        #expect(count() == "5")
        try Data("{\"rules\": {\".read\": true, \".write\": true}}".utf8)
          .write(to: URL(fileURLWithPath: file))
        await server.server.reloadFiles()
        #expect(try server.request("PUT", "/own/bo.json", "5").body == "5")
        #expect(count() == "5")
      }
    }
  }

  @Test func aLineSaysWhatWouldBeDeniedToWhomAndWhyAndLinesHaveABound() async throws {
    try await withFile { file in
      let kept = Kept()
      let lines = try LogLines { line in
        kept.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
      }
      let trial = try RulesTrial(
        file: file, database: "chat", .test,
        Logger(label: "test", factory: { _ in LineLogHandler(lines) }))
      let ana = Caller(auth: ["uid": "ana"])
      let text = Assignment(path: try Path("/own/ana"), target: .node(try Node(json: "x")))
      let operations: [(RulesOperation, Caller)] = [
        (.write([text]), ana), (.read(try Path("/own")), .nobody),
      ]
      for number in 0..<20 {
        let (operation, caller) = operations[number % 2]
        try trial.look(at: operation, by: caller, now: 5000, before: MemoryTree())
      }
      lines.flush()
      let messages = try kept.lines.withLock { $0 }.map { try json($0)["message"]?.string }
      #expect(messages.count == LineRate.linesPerSecond)
      #expect(
        messages.first
          == "chat: trial of \(file): write /own/ana by user ana would be denied: "
          + ".validate of /own/$user does not hold at /own/ana (line 3)")
      #expect(
        messages[1]
          == "chat: trial of \(file): read /own by somebody who is not signed in would be denied: "
          + "no .read is on the way to /own, so nobody may")
    }
  }

  @Test func aFileWithAMistakeIsRefusedAtTheStart() async throws {
    try await withFile { file in
      try Data("{".utf8).write(to: URL(fileURLWithPath: file))
      await #expect(throws: ServerError.self) {
        try await withServer({ $0.trialRulesFile = file }) { _ in }
      }
      await #expect(throws: ServerError.self) {
        try await withServer({ $0.trialRulesFile = file + ".none" }) { _ in }
      }
    }
  }
}
