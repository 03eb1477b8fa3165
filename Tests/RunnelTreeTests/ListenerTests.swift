import RunnelBase
import RunnelTree
import Testing

/// Several listeners, at one place and at several.
///
/// Source: section 6.6.
@Suite struct ListenerTests {
  /// Listens at a path and remembers the listener by it.
  private func listen(
    _ path: String, in harness: inout EngineHarness, _ names: inout [ListenerID: String],
    events: EventKinds
  ) throws {
    names[try harness.listen(Query(Path(path)), events: events).0] = path
  }

  private func texts(_ deliveries: [Delivery], _ names: [ListenerID: String]) -> [String] {
    deliveries.map { delivery in
      let kind = delivery.event.text.split(separator: "=")[0].split(separator: "(")[0]
      return "\(kind) at \(names[delivery.listener] ?? "?")"
    }
  }

  @Test func kindsOfEventsArePrintedByName() {
    #expect("\(EventKinds.removed)" == "removed")
    #expect("\(EventKinds([.value, .added]))" == "[added, value]")
    #expect("\(EventKinds())" == "[]")
  }

  @Test func deeperPlacesAreToldFirstThenThoseUpToTheRoot() throws {
    var harness = try EngineHarness(#"{"a":{"b":1,"c":2},"z":1}"#)
    var names: [ListenerID: String] = [:]
    for path in ["/", "/a", "/a/b", "/a/c", "/z"] {
      try listen(path, in: &harness, &names, events: [.value, .changed])
    }
    let deliveries = try harness.deliveries(.set(Path("a"), ["b": 5, "c": 6]))
    #expect(
      texts(deliveries, names) == [
        "value at /a/b", "value at /a/c", "changed b at /a", "changed c at /a", "value at /a",
        "changed a at /", "value at /",
      ])
  }

  @Test func theOrderDoesNotDependOnTheOrderOfRegistration() throws {
    for paths in [["/", "/a", "/a/10", "/a/9"], ["/a/9", "/a/10", "/a", "/"]] {
      var harness = try EngineHarness(#"{"a":{"9":1,"10":2}}"#)
      var names: [ListenerID: String] = [:]
      for path in paths { try listen(path, in: &harness, &names, events: .value) }
      let deliveries = try harness.deliveries(.set(Path("a"), ["9": 5, "10": 6]))
      #expect(
        texts(deliveries, names)
          == ["value at /a/9", "value at /a/10", "value at /a", "value at /"])
    }
  }

  @Test func anUpdateOfSeveralPlacesIsOneBatch() throws {
    var harness = try EngineHarness(#"{"a":{"x":1},"b":{"y":1}}"#)
    var names: [ListenerID: String] = [:]
    for path in ["/", "/a", "/b", "/b/y"] {
      try listen(path, in: &harness, &names, events: .value)
    }
    let deliveries = try harness.deliveries(
      .update(.root, [JSONMember("b/y", 2), JSONMember("a/x", 2)]))
    #expect(
      texts(deliveries, names) == ["value at /a", "value at /b/y", "value at /b", "value at /"])
  }

  @Test func viewsOfOnePlaceAreToldInTheOrderInWhichTheyWereMade() throws {
    var harness = try EngineHarness(#"{"l":{"a":1}}"#)
    let query = Query(try Path("l"))
    let (first, _) = try harness.listen(query.limited(to: 5, from: .last), events: .added)
    let (second, _) = try harness.listen(query, events: .added)
    let (third, _) = try harness.listen(query.limited(to: 5, from: .last), events: .added)
    let told = try harness.deliveries(.set(Path("l/b"), 2)).map(\.listener)
    #expect(told == [first, third, second])
  }

  @Test func eachEventIsToldToAllListenersBeforeTheNext() throws {
    var harness = try EngineHarness(#"{"l":{"a":1}}"#)
    let query = Query(try Path("l"))
    let (first, _) = try harness.listen(query)
    let (second, _) = try harness.listen(query, events: [.added, .value])
    let deliveries = try harness.deliveries(.set(Path("l"), ["b": 1, "c": 1]))
    let told = deliveries.map { "\($0.listener.rawValue) \($0.event.text.prefix(7))" }
    #expect(
      told
        == [
          "1 removed", "1 added b", "2 added b", "1 added c", "2 added c", "1 value={", "2 value={",
        ].map { String($0.prefix(9)) })
    #expect(first < second)
  }

  @Test func aSecondListenerGetsItsOwnInitialEventsAndTheFirstNone() throws {
    var harness = try EngineHarness(#"{"l":{"a":1}}"#)
    let query = Query(try Path("l"))
    _ = try harness.listen(query)
    #expect(try harness.listen(query).1 == ["added a(null)=1", #"value={"a":1}"#])
  }

  @Test func aListenerForTheValueJoinsAViewMadeForChildren() throws {
    var harness = try EngineHarness(#"{"l":7}"#)
    let query = Query(try Path("l"))
    #expect(try harness.listen(query, events: .children).1 == [])
    #expect(try harness.set("/l", "8") == [])
    #expect(try harness.listen(query, events: .value).1 == ["value=8"])
    #expect(try harness.set("/l", "9") == ["value=9"])
  }

  @Test func aRemovedListenerIsToldNothingAndOthersGoOn() throws {
    var harness = try EngineHarness(#"{"l":{"a":1}}"#)
    let query = Query(try Path("l"))
    let (first, _) = try harness.listen(query, events: .children)
    let (second, _) = try harness.listen(query, events: .children)
    harness.engine.unlisten(first)
    harness.engine.unlisten(first)
    #expect(try harness.deliveries(.set(Path("l/b"), 1)).map(\.listener) == [second])
    harness.engine.unlisten(second)
    #expect(!harness.engine.hasListeners)
    #expect(try harness.set("/l/c", "1") == [])
  }

  @Test func aWriteElsewhereTellsNothing() throws {
    var harness = try EngineHarness(#"{"l":{"a":1},"m":1}"#)
    _ = try harness.listen(Query(Path("l")))
    #expect(try harness.set("/m", "2") == [])
    #expect(try harness.set("/l/a/b/c", "null") == [])
  }

  @Test func aLeafOnTheWayIsReplacedAndItsListenersAreTold() throws {
    var harness = try EngineHarness(#"{"a":{"b":7}}"#)
    _ = try harness.listen(Query(Path("a/b")))
    _ = try harness.listen(Query(Path("a/b/c/d")))
    #expect(
      try harness.set("/a/b/c/d", "1")
        == ["value=1", #"added c(null)={"d":1}"#, #"value={"c":{"d":1}}"#])
  }

  /// With a cost that grows with the square of the parts this takes minutes.
  @Test func manyPartsOfOneWriteAreTakenInTogether() throws {
    let path = try Path("l")
    let keys = try (0..<20_000).map { try Key(String($0)) }
    var engine = TreeEngine()
    let request = ListenRequest(query: Query(path), events: .added)
    _ = try engine.listen(ListenerID(1), request, reader: MemoryTree())
    let children = keys.map { Child(key: $0, node: Node(.bool(true))) }
    let tree = MemoryTree(
      Node(children: [Child(key: path.keys[0], node: Node(children: children))]))
    let touched = try keys.map { try path.child($0) }
    #expect(try engine.apply(touched: touched, reader: tree).count == 20_000)
  }
}
