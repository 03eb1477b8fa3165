import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelClient
@testable import RunnelWorkspace

/// The tree of a server: its levels are listed, and no node is loaded with what stands below it.
@Suite struct ListedTreeTests {
  private static let served: JSONValue = [
    "big": ["a": ["text": "deep"], "b": 2], "name": "Ana", "count": 7,
  ]

  private func open(
    _ levels: FakeLevels, known: JSONValue = .null, rows: Int = 24
  ) throws -> AppDriver {
    let app = try AppDriver(
      [], json: known, origin: "http://localhost/?ns=test", rows: rows, levels: levels)
    app.take(.origin(OriginFacts(.live)))
    return app
  }

  private func text(_ app: AppDriver, _ key: String) throws -> String {
    try #require(app.body.first { $0.contains(key) }, "\(app.body)")
  }

  @Test func levelIsListedAndWhatIsInSightIsLookedUp() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    #expect(app.body[0].hasSuffix("3 keys · read 18:20"), "\(app.body[0])")
    #expect(try text(app, "big").hasSuffix("2 keys"))
    #expect(try text(app, "name").contains("\"Ana\""))
    #expect(try text(app, "count").contains("7"))
    // Nothing below the level was asked for.
    #expect(levels.asked.allSatisfy { $0.path.keys.count < 2 })
  }

  @Test func whatIsNotKnownIsShownAsNotKnown() throws {
    let levels = FakeLevels(Self.served)
    levels.isHeld = true
    let app = try open(levels)
    #expect(app.line(of: "empty") == nil)
    levels.isHeld = false
    app.runtime.receive([])
    #expect(try text(app, "big").hasSuffix("…"))
    #expect(app.line(of: "0 keys") == nil)
    app.pump()
    #expect(try text(app, "big").hasSuffix("2 keys"))
  }

  @Test func nodeIsExpandedByItsKeysAndTellsWhenTheyWereRead() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    app.press("gg j l")
    #expect(try text(app, "big").hasSuffix("read 18:20"))
    #expect(app.line(of: "▸ a") != nil && app.line(of: "b ") != nil)
    #expect(levels.asked.allSatisfy { $0.path.keys.count < 3 })
    levels.tree = levels.tree.replacing(Fixture.path("/big/c"), with: try Node(json: 3))
    app.press("R")
    #expect(try text(app, "c    ").contains("3"))
  }

  @Test func levelOfValuesInSightIsFollowed() throws {
    let levels = FakeLevels(["flat": ["a": 1, "b": 2], "deep": ["c": ["d": 1]]])
    let app = try open(levels)
    app.press("gg j j l")
    let asked = levels.asked.count
    #expect(app.line(of: "a    ") != nil)
    // The connection tells that something else stands there.
    levels.tree = levels.tree.replacing(Fixture.path("/flat/zz"), with: try Node(json: 3))
    let listed = try #require(app.runtime.queries.listed)
    listed.take(try Node(json: ["a": 1, "b": 2, "zz": 3]), at: Fixture.path("/flat"))
    app.pump()
    #expect(try text(app, "zz").contains("3"))
    #expect(levels.asked.count > asked)
  }

  @Test func emptyLevelIsFollowedUntilSomethingStandsThere() throws {
    let levels = FakeLevels(.null)
    let app = try open(levels)
    #expect(app.body.contains { $0.contains("the database is empty") }, "\(app.body)")
    let listed = try #require(app.runtime.queries.listed)
    levels.tree = try Node(json: ["news": ["a": 1], "more": 2])
    let asked = levels.asked.count
    // Of what others wrote, the connection tells the first child.
    listed.take(try Node(json: ["more": 2]), at: .root)
    app.pump()
    #expect(levels.asked.count > asked)
    #expect(app.line(of: "news") != nil && app.line(of: "more") != nil)
    // It is followed no more: nothing below is loaded.
    let later = levels.asked.count
    listed.take(try Node(json: ["more": 3]), at: .root)
    app.pump()
    #expect(levels.asked.count == later)
    // And again, when it has become empty.
    levels.tree = .empty
    app.press("R")
    levels.tree = try Node(json: ["last": 1])
    listed.take(try Node(json: ["last": 1]), at: .root)
    app.pump()
    #expect(app.line(of: "last") != nil)
  }

  @Test func emptyLevelIsNotReadAgainForAChildThatOnlyTheReplicaKnows() throws {
    let levels = FakeLevels(.null)
    let app = try open(levels)
    let listed = try #require(app.runtime.queries.listed)
    let asked = levels.asked.count
    // A write that waits, or a copy that is old.
    for _ in 0..<3 {
      listed.take(try Node(json: ["own": 1]), at: .root)
      app.pump()
    }
    #expect(levels.asked.count == asked + 1)
  }

  @Test func largeLevelIsNeverReadOrShownWhole() throws {
    let members = (0..<5000).map { JSONMember("k\(10_000 + $0)", .number(JSONNumber(Int64($0)))) }
    let levels = FakeLevels(.object(members))
    let app = try open(levels)
    let page = app.state.settings.pageSize
    #expect(app.state.tabs.tree.expanded[.root]?.rows.count == page)
    #expect(levels.limitMax == page)
    #expect(levels.asked.count <= 24 + 1)
    app.press("G Enter")
    #expect(app.state.tabs.tree.expanded[.root]?.rows.count == 2 * page)
    #expect(app.body[0].contains("\(2 * page)+ keys · read "))
    #expect(levels.limitMax == page)
  }

  @Test func keysAreCountedOnRequest() throws {
    let members = (0..<300).map { JSONMember("k\(1000 + $0)", .number(JSONNumber(Int64($0)))) }
    let levels = FakeLevels(["log": .object(members)])
    let app = try open(levels)
    #expect(try text(app, "log").hasSuffix("100+ keys"))
    app.press("gg j g K")
    #expect(try text(app, "log").hasSuffix("300 keys"))
    app.press("g K")
    #expect(app.toast == "all keys are counted")
  }

  @Test func keysThatAreCountedAreShownThoughNotAllAreLoaded() throws {
    let members = (0..<300).map { JSONMember("k\(1000 + $0)", .number(JSONNumber(Int64($0)))) }
    let app = try open(FakeLevels(["log": .object(members)]))
    app.press("gg j l")
    #expect(try text(app, "log").contains("100+ keys"), "a known number is not lowered")
    app.press("g K")
    #expect(try text(app, "log").contains("300 keys"))
    app.press("h")
    #expect(try text(app, "log").hasSuffix("300 keys"))
  }

  @Test func refusalIsToldAtThePlace() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    levels.failure = OriginReadFailure(.forbidden, "Permission denied.")
    app.press("gg j l")
    #expect(app.line(of: "Permission denied: no rule lets you list /big") != nil)
    #expect(app.line(of: "name") != nil)
    levels.failure = nil
    app.press("j Enter")
    #expect(app.line(of: "▸ a") != nil)
  }

  /// What this program wrote there by itself may be all that is known.
  @Test func unreadableRootSaysHowToOpenAPlace() throws {
    let levels = FakeLevels(Self.served)
    levels.forbidden = [.root]
    let app = try open(levels)
    let line = try #require(app.line(of: "no rule lets you list /").map { app.body[$0] })
    #expect(line.contains("/PATH opens a place below"), "\(line)")
  }

  @Test func placeOfTheAddressIsShownThoughTheRootIsUnreadable() throws {
    let levels = FakeLevels(Self.served)
    (levels.isHeld, levels.failure) = (true, OriginReadFailure(.forbidden, "Permission denied."))
    var session = SessionState()
    session.place = try Path("/big")
    let app = try AppDriver(
      [], json: ["old": ["x": 1]], origin: "http://localhost/?ns=test", restoring: session,
      levels: levels)
    app.take(.origin(OriginFacts(.live)))
    #expect(!app.toast.contains("is not among"), "what the replica knows decides nothing")
    levels.isHeld = false
    app.pump()
    #expect(app.line(of: "big") != nil)
    guard case .node(let path, _, _)? = app.state.tabs.tree.cursorLine else {
      Issue.record("The cursor is on no node.")
      return
    }
    #expect(path.description == "/big")
  }

  @Test func whatIsOpenedBelowAnUnreadableRootStaysWhateverIsWrittenBesideIt() throws {
    let levels = FakeLevels(Self.served)
    levels.forbidden = [.root]
    let app = try open(levels)
    app.press(": / b i g Enter")
    app.press("j j")
    func expectThePlace(_ comment: Comment) {
      #expect(app.line(of: "▾ big") != nil && app.line(of: "b    ") != nil, comment)
      guard case .node(let path, _, _)? = app.state.tabs.tree.cursorLine else {
        Issue.record("The cursor is on no node: \(comment)")
        return
      }
      #expect(path.description == "/big/b", comment)
    }
    expectThePlace("it was gone to")
    // The session ends, and what the program notes about the device waits.
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    expectThePlace("without a connection")
    try app.set("/user-devices/zoe", ["seen": 1])
    #expect(app.line(of: "user-devices") != nil)
    expectThePlace("a write waits")
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
    }
    expectThePlace("the write was answered")
    app.take(.origin(OriginFacts(.live)))
    app.pump()
    expectThePlace("connected again")
    app.press("g g R")
    app.pump()
    #expect(app.line(of: "▾ big") != nil && app.line(of: "user-devices") != nil)
  }

  @Test func valueThatTheReplicaKnewIsLookedUpOnceTheServerHasToldTheKeys() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    let listed = try #require(app.runtime.queries.listed)
    levels.isHeld = true
    app.strike("R")
    // The replica answers first, also to what follows the value.
    let known = try Node(json: ["name": "Ana"])
    let rows = known.children.map { TreeRow($0, index: .key, detail: .shallow) }
    var id = ListedRequestID.first
    for _ in 1...9 {
      listed.take(.records(rows), to: id)
      id = id.next
    }
    listed.take(try Node(json: "Ana"), at: Fixture.path("/name"))
    levels.isHeld = false
    app.pump()
    #expect(try text(app, "name").contains("\"Ana\""))
  }

  @Test func requestsOfTheTreeOfTheStateAndOfNobodyNeverShareANumber() {
    var tree = ListedRequestID.first
    var askers: [DatabaseAsker] = [.nobody]
    for number in 1...20 {
      askers += [.state(AppRequestID(number)), .tree(tree)]
      tree = tree.next
    }
    #expect(Set(askers.map(\.number)).count == askers.count)
    #expect(askers.map { DatabaseAsker(number: $0.number) } == askers)
  }

  @Test func withoutAConnectionWhatTheReplicaKnowsIsShownAsCached() throws {
    let levels = FakeLevels(Self.served)
    levels.failure = OriginReadFailure(.unreachable, "no answer")
    let app = try open(levels, known: ["name": "Ana", "old": ["x": 1, "y": 2]])
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    app.press("R")
    #expect(try text(app, "name").contains("\"Ana\""))
    #expect(app.body[0].hasSuffix("cached"))
    #expect(app.line(of: "Only what was read before is shown") != nil)
    app.press("gg j j l")
    #expect(app.line(of: "What stands here is not known") == nil)
    levels.failure = nil
    let asked = levels.asked.count
    app.take(.origin(OriginFacts(.live)))
    #expect(levels.asked.count < asked + 10, "an old copy does not have the keys read for ever")
    #expect(app.line(of: "Only what was read before is shown") == nil)
    #expect(!app.body[0].hasSuffix("cached"))
  }

  @Test func replicaMayKnowOnlyAPartOfANode() throws {
    var level = ListedLevel(.root, pageSize: 50)
    let node = try Node(json: ["name": "Ana", "old": ["x": 1, "y": 2]])
    level.take(cached: node.children.map { TreeRow($0, index: .key, detail: .shallow) })
    #expect(level[Key(unchecked: "old")] == .node(.node(keyCount: 2, isAll: false)))
    #expect(level[Key(unchecked: "name")] == .value(.string("Ana")))
    #expect(level.change().listing?.time == nil)
    level.take([Key(unchecked: "name"), Key(unchecked: "old")], hasMore: false, at: 5)
    #expect(level[Key(unchecked: "old")] == .node(.unknown))
  }

  @Test func unknownPlaceIsNotShownAsEmptyWithoutAConnection() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    app.press("gg j l")
    #expect(app.line(of: "What stands here is not known") != nil)
    #expect(app.line(of: "empty") == nil)
  }

  @Test func ownWriteIsShownAtOnceAndReadWhenItIsAnswered() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    try app.set("/new", ["a": 1])
    #expect(try text(app, "new").hasSuffix("1 key"))
    try app.remove("/name")
    #expect(app.line(of: "name") == nil)
    levels.tree = levels.tree.replacing(
      Fixture.path("/new"), with: try Node(json: ["a": 1, "b": 2]))
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
    }
    #expect(try text(app, "new").hasSuffix("2 keys"))
    #expect(app.line(of: "name") == nil)
  }

  @Test func nodeOfWhichOnlyTheKeysAreKnownIsNotCopiedOrExportedAsIfItWereWhole() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    app.press("gg j y y")
    #expect(app.toast.contains("only the keys of /big are loaded"))
    app.press("y e")
    #expect(app.toast.contains("`runnel export` writes all of it"))
    app.press("D")
    #expect(app.toast.contains("only the keys of /big are loaded"))
    app.press("y p")
    #expect(app.clipboard == "/big")
    app.press("d")
    let screen = app.screen.joined()
    #expect(screen.contains("what stands below is not loaded"))
    #expect(screen.contains("this cannot be taken back"))
  }

  @Test func valueThatBecameANodeAndNodeThatBecameAValueAreShownAsTheyAre() throws {
    let levels = FakeLevels(Self.served)
    let app = try open(levels)
    levels.tree = levels.tree.replacing(Fixture.path("/big"), with: try Node(json: 5))
    app.press("gg j l")
    #expect(try text(app, "big").contains("5"))
    #expect(app.state.tabs.tree.expanded[Fixture.path("/big")] == nil)
  }

  @Test func recordedSessionShowsTheSameLines() throws {
    let levels = FakeLevels(Self.served)
    levels.isHeld = true
    let app = try open(levels)
    levels.isHeld = false
    app.runtime.receive([])
    let tree = app.state.tabs.tree
    let listing = try #require(tree.expanded[.root]?.listing)
    #expect(TreeListing(listing.json) == listing)
    let counted = TreeListing(
      facts: [
        Key(unchecked: "a"): .node(keyCount: 3, isAll: false), Key(unchecked: "b"): .failed("no"),
      ],
      time: nil)
    #expect(TreeListing(counted.json) == counted)
  }
}
