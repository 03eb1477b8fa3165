import RunnelServer
import RunnelSync
import TestSupport
import Testing

// Event streams over real sockets. Source: wire protocol, section D.

@Suite struct EventStreamTests {
  private static let accept = ["Accept": "text/event-stream"]

  private func stream(_ server: TestServer, _ target: String) throws -> RawClient {
    let client = try server.client()
    try client.sendRequest("GET", target, headers: EventStreamTests.accept)
    let head = try client.readHead()
    #expect(head.status == 200)
    #expect(head.headers["content-type"] == "text/event-stream; charset=utf-8")
    return client
  }

  @Test func changesAreSentAsEvents() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/list.json", "{\"a\":1,\"b\":2}")
      let client = try stream(server, "/list.json")
      func event() throws -> String {
        let (name, data) = try client.readEvent()
        return name + " " + data
      }
      #expect(try event() == #"put {"path":"/","data":{"a":1,"b":2}}"#)
      _ = try server.request("PUT", "/list/c.json", "3")
      #expect(try event() == #"put {"path":"/c","data":3}"#)
      _ = try server.request("PUT", "/list/c.json", "3")
      _ = try server.request("PATCH", "/list.json", "{\"a\":9,\"b\":null}")
      #expect(try event() == #"patch {"path":"/","data":{"a":9,"b":null}}"#)
      _ = try server.request("DELETE", "/.json")
      #expect(try event() == #"put {"path":"/","data":null}"#)
    }
  }

  @Test func aWindowGetsEnteringAndLeavingChildren() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/list.json", "{\"a\":1,\"b\":2,\"c\":{\"x\":1}}")
      let client = try stream(server, "/list.json?orderBy=%22$key%22&limitToLast=2")
      #expect(try client.readEvent().data == #"{"path":"/","data":{"b":2,"c":{"x":1}}}"#)
      _ = try server.request("PUT", "/list/c/x.json", "5")
      #expect(try client.readEvent().data == #"{"path":"/c/x","data":5}"#)
      _ = try server.request("PUT", "/list/d.json", "4")
      let (name, data) = try client.readEvent()
      #expect(name == "patch")
      #expect(data == #"{"path":"/","data":{"d":4,"b":null}}"#)
    }
  }

  @Test func aStreamEndsWhenTheRulesDenyIt() async throws {
    try await withServer(rules: "{\"rules\":{\".read\":true}}") { server in
      let client = try stream(server, "/list.json")
      _ = try client.readEvent()
      let owner = ["Authorization": "Bearer owner"]
      _ = try server.request(
        "PUT", "/.settings/rules.json", "{\"rules\":{\".read\":false}}", headers: owner)
      let (name, data) = try client.readEvent()
      #expect(name == "cancel")
      #expect(data == "null")
      #expect(try client.readChunk() == nil)
    }
  }

  @Test func aStreamSendsKeepAlives() async throws {
    try await withServer({ $0.rest.keepAliveMilliseconds = 50 }) { server in
      let client = try stream(server, "/x.json")
      _ = try client.readEvent()
      #expect(try client.readEvent().name == "keep-alive")
      #expect(try client.readEvent().name == "keep-alive")
    }
  }
}
