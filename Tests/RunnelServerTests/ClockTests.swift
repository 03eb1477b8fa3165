import RunnelBase
@testable import RunnelServer
import Synchronization
import TestSupport
import Testing

/// Servers whose clock jumps.
@Suite struct ClockTests {
  private static let day: Int64 = 86_400_000

  /// The machine's clock with an offset.
  private final class Clock: Sendable {
    private let offset = Mutex<Int64>(0)
    var now: Int64 { ServerWorld.calendar + offset.withLock { $0 } }
    func jump(_ milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
  }

  private func withClock(
    rules: String? = nil, _ body: (TestServer, Clock) async throws -> Void
  ) async throws {
    let clock = Clock()
    try await withServer(rules: rules) {
      $0.isEmulator = rules == nil
      $0.calendar = { clock.now }
    } _: {
      try await body($0, clock)
    }
  }

  @Test(arguments: [-ClockTests.day, -1000, ClockTests.day, 400 * ClockTests.day])
  func connectionsOutliveAJump(milliseconds: Int64) async throws {
    try await withClock { server, clock in
      let socket = try server.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      let stream = try server.client()
      try stream.sendRequest("GET", "/x.json", headers: ["Accept": "text/event-stream"])
      _ = try stream.readHead()
      _ = try stream.readEvent()
      clock.jump(milliseconds)
      #expect(try server.request("PUT", "/x.json", "7").status == 200)
      #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"x\",\"d\":7}}"))
      #expect(try stream.readEvent().data == #"{"path":"/","data":7}"#)
      let time = try json(server.request("PUT", "/t.json", "{\".sv\":\"timestamp\"}").body)
      #expect(try abs(Int64(#require(time.int)) - clock.now) < 60_000)
    }
  }

  @Test func newKeysStayInOrderWhenTheClockGoesBack() async throws {
    try await withClock { server, clock in
      var names: [String] = []
      for jump in [0, -ClockTests.day, -1, ClockTests.day / 2] {
        clock.jump(jump)
        let answer = try json(server.request("POST", "/log.json", "1").body)
        guard case .string(let name)? = answer["name"] else {
          throw RawClient.Failure(what: "no name")
        }
        names.append(name)
      }
      #expect(names == names.sorted())
    }
  }

  @Test func aCredentialThatExpiredInAJumpAllowsNoMoreRequests() async throws {
    let rules = "{\"rules\":{\".read\":\"auth.uid === 'ana'\",\".write\":\"auth.uid === 'ana'\"}}"
    try await withClock(rules: rules) { server, clock in
      var secrets = try ServerSecrets(file: "/nowhere")
      let added = secrets.add("x", now: 0)
      let secret = try #require(added).text
      try secrets.write(to: ServerSecrets.file(beside: server.file))
      await server.server.reloadFiles()
      let now = clock.now / 1000
      let token = MatrixIdentity.signed(
        by: secret,
        [
          "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 3600)),
          "d": ["uid": "ana"],
        ])
      let socket = try server.socket()
      #expect(try socket.status(1, "auth", "{\"cred\":\"\(token)\"}") == "ok")
      #expect(try socket.status(2, "p", "{\"p\":\"/x\",\"d\":1}") == "ok")
      clock.jump(2 * 3_600_000)
      try socket.ask(3, "p", "{\"p\":\"/x\",\"d\":2}")
      let revoked = try socket.next()
      #expect(revoked["a"] == "ac")
      #expect(revoked["b"]?["s"] == "expired_token")
      #expect(try socket.next()["b"]?["s"] == "permission_denied")
      let read = try server.request("GET", "/x.json?auth=\(token)")
      #expect(read.body == #"{"error":"Auth token is expired"}"#)
      let owned = try server.request("GET", "/x.json?auth=\(secret)")
      #expect(owned.body == "1")
    }
  }
}
