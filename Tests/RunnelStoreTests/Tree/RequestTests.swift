import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStore

@Suite struct RequestTests {
  private let tree: TreeHarness
  private let path: Path

  init() throws {
    tree = try TreeHarness()
    path = try Path("/group/a")
  }

  // MARK: What is to be done

  @Test func eachRequestIsPendingAndBecomesOneEffect() throws {
    let group = Group(name: "A", rank: 2)
    let query = try Query(Path("/group")).ordered(by: .key)
    let cases: [(ObjectRequest<Group>, String, TreeEffect)] = [
      (
        Group.createObject(group, at: path, id: "r"), "create /group/a",
        .write("r", .set(path, ["name": "A", "rank": 2]))
      ),
      (
        Group.updateObject(at: path, ["name": "B", "tag/x": nil], id: "r"), "update /group/a",
        .write("r", .update(path, [JSONMember("name", "B"), JSONMember("tag/x", nil)]))
      ),
      (
        Group.mergeObject(at: path, ["tag": ["x": 1, "y": ["z": 2]]], id: "r"), "merge /group/a",
        .write("r", .update(path, [JSONMember("tag/x", 1), JSONMember("tag/y/z", 2)]))
      ),
      (Group.removeObject(at: path, id: "r"), "remove /group/a", .write("r", .remove(path))),
      (Group.getObject(at: path, id: "r"), "get /group/a", .get("r", path)),
      (Group.searchObjects(query, id: "r"), "search /group", .search("r", query)),
    ]
    for (request, words, effect) in cases {
      let tree = try TreeHarness()
      #expect(tree.dispatch(request) == ["pending r " + words])
      #expect(tree.access.takeEffects() == [effect])
      #expect(tree.access.takeEffects() == [])
    }
  }

  @Test func newChildHasAKeyThatSortsAfterTheOneBefore() throws {
    let group = Group(name: "A")
    let said = [
      tree.dispatch(Group.createObject(group, in: try Path("/group"), id: "1")),
      tree.dispatch(Group.createObject(group, in: try Path("/group"), id: "2")),
    ]
    let paths = tree.access.takeEffects().compactMap { effect -> Path? in
      if case .write(_, .set(let path, _)) = effect { path } else { nil }
    }
    try #require(paths.count == 2)
    #expect(said == [["pending 1 create \(paths[0])"], ["pending 2 create \(paths[1])"]])
    #expect(paths[0] < paths[1])
    #expect(paths.allSatisfy { $0.keys.count == 2 && $0.keys[1].text.utf8.count == 20 })
    let next = tree.access.newObjectID()
    #expect(paths[1].keys[1] < next)
  }

  @Test func searchByAValueAsksForThoseThatHaveIt() throws {
    let request = try Group.searchObjects(
      in: Path("/group"), where: "owner/name", equals: .string("ana"), id: "r")
    _ = tree.dispatch(request)
    let query = try Query(Path("/group")).ordered(byChild: "owner/name")
      .equal(to: .leaf(.string("ana")))
    #expect(tree.access.takeEffects() == [.search("r", query)])
  }

  @Test func requestsWithoutANameAreNumbered() throws {
    #expect(tree.dispatch(Group.getObject(at: path)) == ["pending #1 get /group/a"])
    _ = tree.dispatch(Group.getObject(at: path, id: "#2"))
    #expect(tree.dispatch(Group.getObject(at: path)) == ["pending #3 get /group/a"])
  }

  @Test func whatCannotBeAskedFailsAndIsNotPending() throws {
    let cases: [(ObjectRequest<Group>, String)] = [
      (Group.createObject(Group(name: ""), at: path, id: "r"), "create /group/a: malformed_data"),
      (Group.updateObject(at: path, 5, id: "r"), "update /group/a: invalid_value"),
      (Group.mergeObject(at: path, [1, 2], id: "r"), "merge /group/a: invalid_value"),
    ]
    for (request, words) in cases {
      #expect(tree.dispatch(request) == ["failed r " + words])
    }
    #expect(tree.access.takeEffects() == [])
  }

  @Test func nameOfARequestThatWaitsIsRefusedAndFreeAfterwards() throws {
    _ = tree.dispatch(Group.getObject(at: path, id: "r"))
    let second = Group.removeObject(at: path, id: "r")
    #expect(tree.dispatch(second) == ["failed r remove /group/a: name_in_use"])
    #expect(tree.access.takeEffects() == [.get("r", path)])
    _ = tree.dispatch(TreeAnswer.found("r", .empty))
    #expect(tree.dispatch(second) == ["pending r remove /group/a"])
  }

  // MARK: What is answered

  @Test func eachAnswerIsToldOnceAndEndsTheRequest() throws {
    let good = try Node(json: ["name": "A"])
    let rows = [
      try tree.row("a", ["name": "A"], in: tree.query), try tree.row("b", 5, in: tree.query),
    ]
    let refused = TreeError(.permissionDenied, "Not you.")
    let cases: [(ObjectRequest<Group>, TreeAnswer, String)] = [
      (
        Group.removeObject(at: path, id: "r"), .written("r", awaitsOrigin: false),
        "succeeded r remove /group/a: written"
      ),
      (Group.getObject(at: path, id: "r"), .found("r", good), "succeeded r get /group/a: A"),
      (
        Group.getObject(at: path, id: "r"), .found("r", .empty),
        "succeeded r get /group/a: nothing"
      ),
      (
        Group.getObject(at: path, id: "r"), .found("r", try Node(json: 5)),
        "failed r get /group/a: malformed_data"
      ),
      (
        Group.searchObjects(tree.query, id: "r"), .rows("r", rows),
        "succeeded r search /group: a=A malformed /group/b"
      ),
      (
        Group.removeObject(at: path, id: "r"), .failed("r", refused),
        "failed r remove /group/a: permission_denied"
      ),
    ]
    for (request, answer, words) in cases {
      _ = tree.dispatch(request)
      #expect(tree.dispatch(answer) == [words])
      #expect(tree.dispatch(answer) == [])
    }
  }

  @Test(arguments: [true, false])
  func writeOfAReplicaIsAnsweredHereAndThenByTheOrigin(isAcknowledged: Bool) throws {
    _ = tree.dispatch(Group.removeObject(at: path, id: "r"))
    #expect(
      tree.dispatch(TreeAnswer.written("r", awaitsOrigin: true))
        == ["succeeded r remove /group/a: written here"])
    let answer: TreeAnswer =
      isAcknowledged ? .acknowledged("r") : .failed("r", TreeError(.permissionDenied, "No."))
    #expect(
      tree.dispatch(answer) == [
        isAcknowledged
          ? "acknowledged r remove /group/a" : "failed r remove /group/a: permission_denied"
      ])
    #expect(tree.dispatch(answer) == [])
  }

  @Test func answersFindTheirRequestsInAnyOrder() throws {
    _ = tree.dispatch(Group.getObject(at: path, id: "1"))
    _ = tree.dispatch(Group.getObject(at: try Path("/group/b"), id: "2"))
    let node = try Node(json: ["name": "B"])
    #expect(tree.dispatch(TreeAnswer.found("2", node)) == ["succeeded 2 get /group/b: B"])
    #expect(tree.dispatch(TreeAnswer.found("1", .empty)) == ["succeeded 1 get /group/a: nothing"])
  }

  // MARK: Cancelling

  @Test func cancelledRequestIsToldNothingMore() throws {
    _ = tree.dispatch(Group.getObject(at: path, id: "r"))
    _ = tree.access.takeEffects()
    #expect(tree.dispatch(CancelRequest("r")) == ["cancelled r get /group/a"])
    #expect(tree.access.takeEffects() == [.cancel("r")])
    #expect(tree.dispatch(TreeAnswer.found("r", .empty)) == [])
    #expect(tree.dispatch(CancelRequest("r")) == [])
    #expect(tree.access.takeEffects() == [])
  }

  // MARK: The store

  @Test func failuresOfAllKindsAreKnownByOneProtocol() throws {
    _ = tree.dispatch(Group.updateObject(at: path, 5, id: "r"))
    let failures = tree.store.state.actions.compactMap { ($0 as? any FailureAction)?.error.code }
    #expect(failures == [.invalidValue])
  }

  @Test func subscribersAreToldOnceOfAllThatOneAnswerComesTo() throws {
    var counts: [Int] = []
    _ = tree.store.subscribe(to: \.actions.count) { counts.append($0) }
    _ = tree.dispatch(Group.subscribeToObjects(tree.query, as: "all"))
    let rows = try ["a", "b"].map { try tree.row($0, ["name": .string($0)], in: tree.query) }
    _ = tree.dispatch(tree.deliveries(1, .value(.empty)))
    _ = tree.dispatch(
      tree.deliveries(1, .childAdded(rows[0], previous: nil), .childAdded(rows[1], previous: nil)))
    #expect(counts == [0, 1, 2, 4])
  }
}
