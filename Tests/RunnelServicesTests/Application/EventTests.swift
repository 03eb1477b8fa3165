import RunnelBase
import RunnelServices
import Synchronization
import Testing

@Suite struct EventTests {
  private func application() async throws -> (Feathers, ServiceHandle) {
    let app = Feathers()
    try await app.use("things", MemoryService(multi: .all))
    return (app, app.service("things"))
  }

  @Test func endingOneListenerLeavesTheOthers() async throws {
    let (app, things) = try await application()
    let trace = Trace()
    let first = things.on(.created) { _ in trace.add("1") }
    let second = things.on(.created) { _ in trace.add("2") }
    things.once(.created) { _ in trace.add("once") }
    app.service("things").on(.removed) { _ in trace.add("gone") }
    try await things.create(["n": 1])
    things.off(first)
    things.off(first)
    try await things.create(["n": 2])
    second.cancel()
    try await things.create(["n": 3])
    try await things.remove(0)
    #expect(trace.text == "1 2 once 2 gone")
  }

  @Test func oneEventIsRaisedForEachRecord() async throws {
    let (_, things) = try await application()
    let trace = Trace()
    for event in [ServiceEvent.created, .updated, .patched, .removed] {
      things.on(event) { record in
        trace.add("\(record.event.rawValue) \(record.data["id"]?.int ?? -1)")
        #expect(record.origin == .local && record.path == "things")
        #expect(record.context?.method.event == record.event)
      }
    }
    try await things.create([["n": 1], ["n": 2]])
    try await things.patch(nil, ["m": 1])
    try await things.update(0, ["n": 5])
    try await things.remove(nil, ["n": 5])
    _ = try await things.find()
    #expect(trace.text == "created 0 created 1 patched 0 patched 1 updated 0 removed 0")
  }

  @Test func aHookMayHideChangeOrSuppressAnEvent() async throws {
    let (_, things) = try await application()
    let trace = Trace()
    things.on(.created) { trace.add("\($0.data["secret"] == nil)") }
    things.on("archived") { _ in trace.add("archived") }
    things.after(
      HookSet(
        create: [.hide("secret")], patch: [Hook { $0.event = nil }],
        remove: [Hook { $0.event = "archived" }]))
    things.on(.patched) { _ in trace.add("patched") }
    try await things.create(["secret": 1])
    try await things.patch(0, ["n": 1])
    try await things.remove(0)
    #expect(trace.text == "true archived")
  }

  @Test func aServiceRaisesTheEventsThatItNamesItself() async throws {
    let (app, trace) = (Feathers(), Trace())
    let service = try await app.use(
      "jobs", MemoryService(), options: ServiceOptions(events: [.created, "progress"]))
    service.on(.created) { trace.add("created \($0.data)") }
    service.on("progress") { trace.add("progress \($0.data["p"]?.int ?? 0)") }
    try await service.create(["n": 1])
    service.emit("progress", ["p": 50])
    #expect(trace.text == "progress 50")
  }

  @Test func eventsCanBeReadAsAStream() async throws {
    let (_, things) = try await application()
    let events = things.events()
    try await things.create(["n": 1])
    try await things.remove(0)
    var names: [String] = []
    for await record in events {
      names.append(record.event.rawValue)
      if names.count == 2 { break }
    }
    #expect(names == ["created", "removed"])
  }

  // MARK: Channels

  private func connection(_ name: String, _ trace: Trace) -> ServiceConnection {
    ServiceConnection { path, event, data in
      trace.add("\(name):\(path) \(event.rawValue) \(data["n"]?.int ?? -1)")
    }
  }

  @Test func nothingIsPublishedWithoutAPublisher() async throws {
    let (app, things) = try await application()
    let trace = Trace()
    app.channel("all").join(connection("a", trace))
    try await things.create(["n": 1])
    #expect(trace.all == [])
  }

  @Test func thePublisherThatFitsBestChooses() async throws {
    let (app, things) = try await application()
    let trace = Trace()
    for name in ["app", "appCreated", "service", "serviceCreated"] {
      app.channel(name).join(connection(name, trace))
    }
    app.publish { [unowned app] _, _ in [app.channel("app")] }
    try await things.create(["n": 1])
    app.publish(.created) { [unowned app] _, _ in [app.channel("appCreated")] }
    try await things.create(["n": 2])
    things.publish { [unowned app] _, _ in [app.channel("service")] }
    try await things.create(["n": 3])
    things.publish(.created) { [unowned app] _, _ in [app.channel("serviceCreated")] }
    try await things.create(["n": 4])
    try await things.remove(0)
    #expect(
      trace.all == [
        "app:things created 1", "appCreated:things created 2", "service:things created 3",
        "serviceCreated:things created 4", "service:things removed 1",
      ])
  }

  @Test func aConnectionInSeveralChannelsGetsOneMessageAndTheFirstDataWin() async throws {
    let (app, things) = try await application()
    let trace = Trace()
    let (a, b) = (connection("a", trace), connection("b", trace))
    app.channel("x", "y").join(a)
    app.channel("y").join(b)
    b.user = ["id": 7]
    app.publish { [unowned app] _, _ in
      [
        app.channel("x").send(["n": 100]), app.channel("x", "y"),
        app.channel("y").filter { $0.user["id"] == 7 }.send(["n": 300]),
      ]
    }
    try await things.create(["n": 1])
    app.channel("y").leave(b)
    try await things.create(["n": 2])
    app.disconnect(a)
    try await things.create(["n": 3])
    #expect(
      trace.all == ["a:things created 100", "b:things created 1", "a:things created 100"])
    #expect(app.channelNames == [])
    app.channel("x").join(a)
    #expect(app.channelNames == [], "a closed connection joins nothing")
  }
}
