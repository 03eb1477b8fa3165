import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStore

@Suite struct SubscriptionLifeTests {
  private let tree: TreeHarness

  init() throws { tree = try TreeHarness() }

  private var all: Subscribe<Group> { Group.subscribeToObjects(tree.query, as: "all") }

  private func listen(_ id: Int, _ query: Query, _ events: EventKinds = .all) -> TreeEffect {
    .listen(ListenerID(id), ListenRequest(query: query, events: events))
  }

  private func row(_ key: String, _ name: String, rank: Int64? = nil) throws -> TreeRow {
    let json = try Group(name: name, rank: rank).json()
    return try tree.row(key, json, in: tree.query)
  }

  // MARK: Beginning and loading

  @Test func subscribingIsToldBeforeAnythingIsKnown() {
    #expect(tree.dispatch(all) == ["subscribed /group"])
    #expect(tree.access.takeEffects() == [listen(1, tree.query)])
    #expect(tree.store.state.groups.isSubscribed)
    #expect(!tree.store.state.groups.isLoaded)
  }

  @Test func initialObjectsAreOneActionInTheOrderOfTheQuery() throws {
    _ = tree.dispatch(all)
    let said = tree.dispatch(
      tree.deliveries(
        1, .childAdded(try row("b", "B"), previous: nil),
        .childAdded(try row("a", "A"), previous: nil), .value(.empty)))
    #expect(said == ["loaded a=A b=B"])
    #expect(tree.store.state.groups.isLoaded)
  }

  @Test func emptyQueryIsLoadedToo() {
    _ = tree.dispatch(all)
    #expect(tree.dispatch(tree.deliveries(1, .value(.empty))) == ["loaded "])
    #expect(tree.store.state.groups.isLoaded)
  }

  @Test func whatHappensBeforeTheLoadIsCompleteIsInIt() throws {
    _ = tree.dispatch(all)
    let early = tree.deliveries(
      1, .childAdded(try row("a", "A"), previous: nil),
      .childAdded(try row("b", "B"), previous: nil))
    #expect(tree.dispatch(early) == [])
    let late = tree.deliveries(
      1, .childRemoved(try row("a", "A")), .childChanged(try row("b", "BB"), previous: nil),
      .value(.empty))
    #expect(tree.dispatch(late) == ["loaded b=BB"])
  }

  @Test func malformedChildrenAreErrorsWithTheirPaths() throws {
    _ = tree.dispatch(all)
    let said = tree.dispatch(
      tree.deliveries(
        1, .childAdded(try tree.row("a", 5, in: tree.query), previous: nil),
        .childAdded(try row("b", "B"), previous: nil), .value(.empty)))
    #expect(said == ["loaded b=B", "errored /group/a: malformed_data"])
    let error = tree.store.state.groups.errors[try Key("a")]
    #expect(error == TreeError(.malformedData, "no name", path: "/group/a"))
  }

  @Test func childOfWhichNothingWasReadHasNoData() throws {
    _ = tree.dispatch(all)
    let child = Child(key: try Key("a"), node: try Node(json: ["name": "A"]))
    let row = TreeRow(child, index: tree.query.index, detail: .shallow)
    let said = tree.dispatch(
      tree.deliveries(1, .childAdded(row, previous: nil), .value(.empty)))
    #expect(said == ["loaded ", "errored /group/a: no_data"])
  }

  // MARK: Events

  @Test func eachEventIsOneAction() throws {
    _ = tree.dispatch(Group.subscribeToObjects(tree.ranked, as: "ranked"))
    func row(_ key: String, _ name: String, _ rank: Int64) throws -> TreeRow {
      try tree.row(key, try Group(name: name, rank: rank).json(), in: tree.ranked)
    }
    let cases: [(TreeEvent, String)] = [
      (.value(.empty), "loaded "),
      (.childAdded(try row("a", "A", 1), previous: nil), "added a=A after -"),
      (.childAdded(try row("b", "B", 2), previous: try Key("a")), "added b=B after a"),
      (.childChanged(try row("b", "BB", 2), previous: try Key("a")), "changed b=BB"),
      (.childMoved(try row("a", "A", 3), previous: try Key("b")), "moved a=A after b"),
      (.childRemoved(try row("b", "BB", 2)), "removed b BB"),
    ]
    for (event, words) in cases { #expect(tree.dispatch(tree.deliveries(1, event)) == [words]) }
    #expect(tree.dispatch(tree.deliveries(1, .page(hasMore: true), .value(.empty))) == [])
    let entries = tree.store.state.ranked.entries
    #expect(
      entries == [
        ObjectEntry(id: try Key("a"), object: Group(id: try Key("a"), name: "A", rank: 3))
      ])
    #expect(tree.store.state.groups.entries == [])
  }

  @Test func childThatTurnsMalformedLeavesAndComesBackWhenItIsGoodAgain() throws {
    _ = tree.dispatch(all)
    _ = tree.dispatch(
      tree.deliveries(
        1, .childAdded(try row("a", "A"), previous: nil),
        .childAdded(try row("b", "B"), previous: nil), .value(.empty)))
    let bad = TreeEvent.childChanged(try tree.row("a", 5, in: tree.query), previous: nil)
    #expect(
      tree.dispatch(tree.deliveries(1, bad))
        == ["removed a -", "errored /group/a: malformed_data"])
    #expect(tree.dispatch(tree.deliveries(1, bad)) == ["errored /group/a: malformed_data"])
    let good = TreeEvent.childChanged(try row("a", "AA"), previous: nil)
    #expect(tree.dispatch(tree.deliveries(1, good)) == ["added a=AA after -"])
    #expect(tree.store.state.groups.errors == [:])
    #expect(tree.store.state.groups.entries.map(\.object.name) == ["AA", "B"])
  }

  /// A write of the field that orders has two events: the child is moved, and changed.
  @Test func malformedChildThatIsMovedAndChangedByOneWriteIsToldOnce() throws {
    _ = tree.dispatch(Group.subscribeToObjects(tree.ranked, as: "ranked"))
    _ = tree.dispatch(tree.deliveries(1, .value(.empty)))
    func events(_ rank: Int64) throws -> TreeAnswer {
      let row = try tree.row("a", ["rank": .number(JSONNumber(rank))], in: tree.ranked)
      return tree.deliveries(
        1, .childMoved(row, previous: nil), .childChanged(row, previous: nil))
    }
    let good = try tree.row("a", ["name": "A", "rank": 1], in: tree.ranked)
    _ = tree.dispatch(tree.deliveries(1, .childAdded(good, previous: nil)))
    let errored = "errored /group/a: malformed_data"
    #expect(try tree.dispatch(events(2)) == ["removed a -", errored])
    // The next write is told again.
    #expect(try tree.dispatch(events(3)) == [errored])
  }

  @Test func placesAreCountedAmongObjectsOnly() throws {
    _ = tree.dispatch(all)
    _ = tree.dispatch(
      tree.deliveries(
        1, .childAdded(try row("a", "A"), previous: nil),
        .childAdded(try tree.row("b", 5, in: tree.query), previous: nil), .value(.empty)))
    let added = TreeEvent.childAdded(try row("c", "C"), previous: try Key("b"))
    #expect(tree.dispatch(tree.deliveries(1, added)) == ["added c=C after a"])
  }

  // MARK: Names

  @Test func sameSubscriptionUnderTheSameNameIsNothingNew() {
    _ = tree.dispatch(all)
    _ = tree.access.takeEffects()
    #expect(tree.dispatch(all) == [])
    #expect(tree.access.takeEffects() == [])
    #expect(tree.dispatch(Unsubscribe("all")) == ["unsubscribed /group"])
  }

  @Test func sharedQueryIsListenedToOnceAndUntilTheLastNameIsGone() {
    _ = tree.dispatch(all)
    #expect(tree.dispatch(Group.subscribeToObjects(tree.query, as: "more")) == [])
    #expect(tree.access.takeEffects() == [listen(1, tree.query)])
    #expect(tree.dispatch(Unsubscribe("all")) == [])
    #expect(tree.access.takeEffects() == [])
    #expect(tree.dispatch(Unsubscribe("more")) == ["unsubscribed /group"])
    #expect(tree.access.takeEffects() == [.unlisten(ListenerID(1))])
  }

  @Test func unsubscribingTwiceCountsOnce() {
    _ = tree.dispatch(all)
    _ = tree.dispatch(Group.subscribeToObjects(tree.query, as: "more"))
    _ = tree.dispatch(Unsubscribe("all"))
    #expect(tree.dispatch(Unsubscribe("all")) == [])
    #expect(tree.store.state.groups.isSubscribed)
  }

  @Test func nameGivenToAnotherQueryEndsWhatItStoodFor() {
    _ = tree.dispatch(all)
    _ = tree.access.takeEffects()
    #expect(
      tree.dispatch(Group.subscribeToObjects(tree.ranked, as: "all"))
        == ["unsubscribed /group", "subscribed /group first 2"])
    #expect(tree.access.takeEffects() == [.unlisten(ListenerID(1)), listen(2, tree.ranked)])
  }

  @Test func unsubscribingEndsThatSubscriptionAndNoOther() throws {
    _ = tree.dispatch(all)
    _ = tree.dispatch(Group.subscribeToObjects(tree.ranked, as: "ranked"))
    _ = tree.dispatch(Group.observeObject(at: try Path("/group"), as: "one"))
    _ = tree.dispatch(tree.deliveries(2, .value(.empty)))
    _ = tree.dispatch(Unsubscribe("all"))
    let added = TreeEvent.childAdded(try row("a", "A"), previous: nil)
    #expect(tree.dispatch(tree.deliveries(1, added)) == [])
    #expect(tree.dispatch(tree.deliveries(2, added)) == ["added a=A after -"])
    #expect(
      tree.dispatch(tree.deliveries(3, .value(.empty))) == ["observed /group nothing"])
  }

  @Test func eventsOnTheirWayWhenItEndedAreDropped() throws {
    _ = tree.dispatch(all)
    _ = tree.dispatch(Unsubscribe("all"))
    _ = tree.dispatch(all)
    #expect(tree.dispatch(tree.deliveries(1, .value(.empty))) == [])
    #expect(tree.dispatch(tree.deliveries(2, .value(.empty))) == ["loaded "])
  }

  @Test func objectsRemovedMeanwhileVanishWhenSubscribedAgain() throws {
    _ = tree.dispatch(all)
    _ = tree.dispatch(
      tree.deliveries(
        1, .childAdded(try row("a", "A"), previous: nil),
        .childAdded(try row("b", "B"), previous: nil), .value(.empty)))
    _ = tree.dispatch(Unsubscribe("all"))
    #expect(tree.store.state.groups.entries.count == 2)
    _ = tree.dispatch(all)
    _ = tree.dispatch(
      tree.deliveries(2, .childAdded(try row("b", "B"), previous: nil), .value(.empty)))
    #expect(tree.store.state.groups.entries.map(\.id.text) == ["b"])
  }

  // MARK: Guarding

  @Test func guardedSubscribingLooksAtTheStateWhenItIsHandled() {
    let guarded = { (name: SubscriptionName) in
      Group.subscribeToObjects(of: \TreeHarness.State.groups, tree.query, as: name)
    }
    let thunk: Middleware<TreeHarness.State> = thunkMiddleware()
    let store = Store(
      state: tree.store.state, middleware: [thunk, tree.access.middleware()],
      reducer: reducing(\.groups, by: ObjectsState.reduce))
    let (first, second) = (guarded("first"), guarded("second"))
    store.dispatch(
      Thunk<TreeHarness.State> { dispatch, _ in
        dispatch(first)
        dispatch(second)
      })
    #expect(tree.access.takeEffects() == [listen(1, tree.query)])
    store.dispatch(Unsubscribe("second"))
    #expect(store.state.groups.isSubscribed)
    store.dispatch(Unsubscribe("first"))
    #expect(!store.state.groups.isSubscribed)
  }

  @Test func requestOfAMiddlewareWaitsForTheRestOfWhatTheTreeSaid() throws {
    let leaving: Middleware<[String]> = { dispatch, _ in
      { next in
        { action in
          next(action)
          if action is ObjectAdded<Group> { dispatch(Unsubscribe("all")) }
        }
      }
    }
    let store = Store(state: [String](), middleware: [tree.access.middleware(), leaving]) {
      state, action in state.append(TreeHarness.text(action))
    }
    store.dispatch(all)
    store.dispatch(tree.deliveries(1, .value(.empty)))
    store.dispatch(
      tree.deliveries(
        1, .childAdded(try row("a", "A"), previous: nil),
        .childAdded(try row("b", "B"), previous: try Key("a"))))
    #expect(
      store.state == [
        "subscribed /group", "loaded ", "added a=A after -", "added b=B after a",
        "unsubscribed /group",
      ])
  }

  // MARK: Failing

  @Test func refusedListenerIsAnErrorAndTheEndOfAllItsNames() throws {
    _ = tree.dispatch(all)
    _ = tree.dispatch(Group.subscribeToObjects(tree.query, as: "more"))
    _ = tree.access.takeEffects()
    let failed = TreeAnswer.listenFailed(ListenerID(1), TreeError(.permissionDenied, "No."))
    #expect(
      tree.dispatch(failed) == ["errored /group: permission_denied", "unsubscribed /group"])
    #expect(tree.dispatch(failed) == [])
    #expect(tree.store.state.groups.failure?.code == .permissionDenied)
    #expect(tree.dispatch(Unsubscribe("all")) == [])
    #expect(tree.access.takeEffects() == [])
    #expect(tree.dispatch(all) == ["subscribed /group"])
    #expect(tree.store.state.groups.failure == nil)
  }

  // MARK: One object

  @Test func observedObjectIsToldWheneverItIsAnother() throws {
    let path = try Path("/group/a")
    let observe = Group.observeObject(at: path, as: "open")
    #expect(tree.dispatch(observe) == ["observed /group/a began"])
    #expect(tree.access.takeEffects() == [listen(1, Query(path), .value)])
    let cases: [(JSONValue, String)] = [
      (nil, "observed /group/a nothing"), (["name": "A"], "observed /group/a A"),
      (5, "errored /group/a: malformed_data"), (["name": "B"], "observed /group/a B"),
    ]
    for (json, words) in cases {
      let event = TreeEvent.value(try Node(json: json))
      #expect(tree.dispatch(tree.deliveries(1, event)) == [words])
    }
    #expect(tree.dispatch(Unsubscribe("open")) == ["observed /group/a ended"])
    #expect(tree.access.takeEffects() == [.unlisten(ListenerID(1))])
  }

  @Test func observedObjectThatFailsIsAnErrorAndTheEnd() throws {
    _ = tree.dispatch(Group.observeObject(at: try Path("/group/a"), as: "open"))
    let failed = TreeAnswer.listenFailed(ListenerID(1), TreeError(.permissionDenied, "No."))
    #expect(
      tree.dispatch(failed)
        == ["errored /group/a: permission_denied", "observed /group/a ended"])
  }

  // MARK: The connection

  @Test func connectionIsToldToThoseWhoWatchAndNothingTwice() {
    #expect(tree.dispatch(TreeAnswer.connection(isConnected: true)) == [])
    #expect(tree.dispatch(MonitorConnection(as: "bar")) == [])
    #expect(tree.dispatch(MonitorConnection(as: "log")) == [])
    #expect(tree.access.takeEffects() == [.monitorConnection])
    #expect(tree.dispatch(TreeAnswer.connection(isConnected: true)) == ["connected"])
    #expect(tree.dispatch(TreeAnswer.connection(isConnected: true)) == [])
    #expect(tree.dispatch(TreeAnswer.connection(isConnected: false)) == ["disconnected"])
    _ = tree.dispatch(StopMonitoringConnection("bar"))
    _ = tree.dispatch(StopMonitoringConnection("bar"))
    #expect(tree.access.takeEffects() == [])
    #expect(tree.dispatch(TreeAnswer.connection(isConnected: true)) == ["connected"])
    _ = tree.dispatch(StopMonitoringConnection("log"))
    #expect(tree.access.takeEffects() == [.stopMonitoringConnection])
    #expect(tree.dispatch(TreeAnswer.connection(isConnected: false)) == [])
  }
}
