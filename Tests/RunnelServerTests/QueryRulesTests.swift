import Foundation
import RunnelBase
import TestSupport
import Testing

@testable import RunnelServer

/// Rules about queries hold for what is sent: without an index a listen is sent its whole place, so that this
/// must be allowed too.
@Suite struct QueryRulesTests {
  private static let rules = #"""
    {"rules": {
      "letters": {
        ".read": "auth !== null && query.orderByChild === 'from' && query.equalTo === auth.uid"
      },
      "log": {".read": "auth !== null && query.limitToLast <= 2"},
      "open": {".read": true}
    }}
    """#
  private static let data = #"""
    {"letters":{"a":{"from":"ana","text":"hers"},"b":{"from":"bo","text":"his"}},
    "log":{"a":{"at":1},"b":{"at":2},"c":{"at":3}},"open":{"a":{"at":1}}}
    """#
  private static let owner = ["Authorization": "Bearer owner"]
  private static let letters =
    #"{"p":"/letters","q":{"i":"from","sp":"ana","ep":"ana"},"t":1,"h":""}"#
  private static let log = #"{"p":"/log","q":{"i":"at","l":2,"vf":"r"},"t":2,"h":""}"#

  /// Runs `body` with a WebSocket of Ana.
  private func withAna(
    _ body: (TestServer, Socket) throws -> Void
  ) async throws {
    try await withServer(rules: QueryRulesTests.rules) { server in
      _ = try server.request("PUT", "/.json", QueryRulesTests.data, headers: QueryRulesTests.owner)
      let socket = try server.socket()
      let ana = #"{"cred":"owner","authvar":{"uid":"ana"}}"#
      #expect(try socket.status(1, "gauth", ana) == "ok")
      try body(server, socket)
    }
  }

  /// Replaces the rules by these with another rule for the letters and the log.
  private func declare(_ letters: String, _ log: String, _ server: TestServer) throws {
    let rules = QueryRulesTests.rules
      .replacing("\"letters\": {", with: "\"letters\": {\(letters)")
      .replacing("\"log\": {", with: "\"log\": {\(log)")
    let answer = try server.request(
      "PUT", "/.settings/rules.json", rules, headers: QueryRulesTests.owner)
    #expect(answer.status == 200, "\(answer.body)")
  }

  @Test func aListenWithoutAnIndexIsDecidedByWhatItIsSent() async throws {
    try await withAna { _, socket in
      #expect(try socket.status(2, "q", QueryRulesTests.letters) == "permission_denied")
      #expect(try socket.status(3, "q", QueryRulesTests.log) == "permission_denied")
      // What everybody may read is sent as before.
      try socket.ask(4, "q", #"{"p":"/open","q":{"i":"at","l":1,"vf":"r"},"t":3,"h":""}"#)
      #expect(try socket.next()["a"] == "d")
      #expect(try socket.nextText().contains("no_index"))
      // The order by keys needs no index.
      try socket.ask(5, "q", #"{"p":"/log","q":{"i":".key","l":2,"vf":"r"},"t":4,"h":""}"#)
      #expect(try socket.nextText().contains(#""d":{"b":{"at":2},"c":{"at":3}}"#))
      #expect(try socket.next()["b"]?["s"] == "ok")
    }
  }

  @Test func aListenWithItsIndexGetsWhatItAsked() async throws {
    try await withAna { server, socket in
      try declare(#"".indexOn": "from","#, #"".indexOn": "at","#, server)
      try socket.ask(2, "q", QueryRulesTests.letters)
      let told = try socket.nextText()
      #expect(told.contains("hers") && !told.contains("his"), "\(told)")
      #expect(try socket.nextText() == #"{"r":2,"b":{"s":"ok","d":{}}}"#)
      try socket.ask(3, "q", QueryRulesTests.log)
      #expect(try !socket.nextText().contains(#""a":{"#))
      #expect(try socket.nextText() == #"{"r":3,"b":{"s":"ok","d":{}}}"#)
    }
  }

  /// A listen that is sent everything ends when the rules allow only what it asked.
  @Test func aListenThatIsSentEverythingIsReviewedAsThat() async throws {
    let open = #"{"rules": {"log": {".read": "auth !== null"}}}"#
    try await withAna { server, socket in
      let answer = try server.request(
        "PUT", "/.settings/rules.json", open, headers: QueryRulesTests.owner)
      #expect(answer.status == 200)
      try socket.ask(2, "q", QueryRulesTests.log)
      #expect(try socket.next()["a"] == "d")
      #expect(try socket.nextText().contains("no_index"))
      try declare("", #"".indexOn": "at","#, server)
      let told = try socket.next()
      #expect(told["a"] == "c", "\(told.jsonText())")
    }
  }

  /// A place that is read on another thread is decided by the same rules.
  @Test func aLargePlaceIsNoWayAroundThem() async throws {
    try await withAna { server, socket in
      let long = String(repeating: "x", count: 300_000)
      _ = try server.request(
        "PUT", "/log/d.json", #"{"at":4,"text":"\#(long)"}"#, headers: QueryRulesTests.owner)
      #expect(try socket.status(2, "q", QueryRulesTests.log) == "permission_denied")
    }
  }
}
