import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// The exchanges of the protocol's section D.
@Suite struct EventStreamTests {
  private func event(_ name: String, _ data: String) -> String {
    "event: \(name)\ndata: \(data)\n\n"
  }

  @Test func aStreamTellsChanges() throws {
    var world = try RESTWorld(#"{"list":{"a":1,"b":2}}"#)
    let (stream, head) = world.stream("/list.json?ns=demo")
    #expect(head.status == 200)
    #expect(head["Content-Type"] == "text/event-stream; charset=utf-8")
    #expect(world.take(stream) == event("put", #"{"path":"/","data":{"a":1,"b":2}}"#))
    _ = world.ask("PUT", "/list/c.json", "3")
    #expect(world.take(stream) == event("put", #"{"path":"/c","data":3}"#))
    _ = world.ask("PATCH", "/list.json", #"{"a":9,"b":null}"#)
    #expect(world.take(stream) == event("patch", #"{"path":"/","data":{"a":9,"b":null}}"#))
    _ = world.ask("PUT", "/.json", #"{"list":{"z":1}}"#)
    #expect(world.take(stream) == event("put", #"{"path":"/","data":{"z":1}}"#))
    _ = world.ask("PUT", "/other.json", "1")
    _ = world.ask("PUT", "/list/z.json", "1")
    #expect(world.take(stream).isEmpty)
    world.now.uptime += 30_000
    world.change(stream) { $0.advance(now: $1) }
    #expect(world.take(stream) == event("keep-alive", "null"))
  }

  @Test func aStreamOfAQueryTellsItsWindow() throws {
    var world = try RESTWorld(#"{"list":{"a":1,"b":2,"c":{"x":1}}}"#)
    let (stream, _) = world.stream(#"/list.json?orderBy="$key"&limitToLast=2"#)
    #expect(world.take(stream) == event("put", #"{"path":"/","data":{"b":2,"c":{"x":1}}}"#))
    _ = world.ask("PUT", "/list/c/x.json", "5")
    #expect(world.take(stream) == event("put", #"{"path":"/c/x","data":5}"#))
    _ = world.ask("PUT", "/list/d.json", "4")
    #expect(world.take(stream) == event("patch", #"{"path":"/","data":{"d":4,"b":null}}"#))
    world.change(stream) { exchange, _ in exchange.revoked() }
    #expect(world.take(stream) == event("cancel", "null"))
    #expect(!world.isOpen(stream))
    _ = world.ask("PUT", "/list/e.json", "4")
    #expect(world.take(stream).isEmpty)
  }

  /// The integration test of a client library: one event for one push, with an empty string.
  @Test func aPushIsOneEvent() throws {
    var world = try RESTWorld()
    let (stream, _) = world.stream("/_adminsdk/python.json")
    #expect(world.take(stream) == event("put", #"{"path":"/","data":null}"#))
    let answer = world.ask("POST", "/_adminsdk/python/users.json", #""""#)
    let name = try #require(JSONValue(parsing: answer.body)["name"])
    guard case .string(let key) = name else { return }
    #expect(world.take(stream) == event("put", #"{"path":"/users/\#(key)","data":""}"#))
  }

  @Test func prioritiesAreToldWhereTheyAreAskedFor() throws {
    var world = try RESTWorld(#"{"a":{".value":1,".priority":2}}"#)
    let (plain, _) = world.stream("/.json")
    let (export, _) = world.stream("/.json?format=export")
    #expect(world.take(plain) == event("put", #"{"path":"/","data":{"a":1}}"#))
    #expect(
      world.take(export)
        == event("put", #"{"path":"/","data":{"a":{".value":1,".priority":2}}}"#))
  }

  @Test func aCredentialEndsItsStream() throws {
    var world = try RESTWorld(#"{"a":1}"#)
    let end = world.now.calendar + 1000
    let (stream, head) = world.stream("/a.json?auth=user:ana:\(end)")
    #expect(head.status == 200)
    _ = world.take(stream)
    world.now.calendar += 1000
    world.change(stream) { $0.advance(now: $1) }
    #expect(world.take(stream) == event("auth_revoked", "credential is no longer valid"))
    #expect(!world.isOpen(stream))
  }

  @Test func aStreamThatIsDeniedIsAnError() throws {
    var world = try RESTWorld(access: .init(canRead: { _, _, _ in false }))
    let (stream, head) = world.stream("/a.json")
    #expect((head.status, head.body) == (401, #"{"error":"Permission denied"}"#))
    #expect(!world.isOpen(stream))
  }
}
