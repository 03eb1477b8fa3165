import RunnelBase
import RunnelTree
import Testing

/// The stories of `Scenarios/`, told to the engine.
@Suite struct ScenarioTests {
  @Test(arguments: try Scenario.all("origin-"))
  func replicaDoesWhatTheScenarioSays(scenario: Scenario) throws {
    try scenario.run(in: ReplicaWorld(scenario))
  }

  /// What stands in full is told alike, whether it is a tree of its own or a replica of another.
  @Test(arguments: try Scenario.all("tree-"))
  func treeDoesWhatTheScenarioSays(scenario: Scenario) throws {
    try scenario.run(in: TreeWorld(scenario))
  }

  @Test(arguments: try Scenario.all("tree-"))
  func pendingWritesAreToldLikeWritesOfATreeOfItsOwn(scenario: Scenario) throws {
    try scenario.run(in: ReplicaWorld(scenario))
  }

  @Test(arguments: try Scenario.all("tree-"))
  func pushesAreToldLikeWritesOfATreeOfItsOwn(scenario: Scenario) throws {
    try scenario.run(in: PushedWorld(scenario))
  }

  @Test func thereAreManyScenarios() throws {
    let names = try (Scenario.all("origin-") + Scenario.all("tree-")).map(\.testDescription)
    #expect(Set(names).count == names.count, "Each scenario has a name of its own.")
    #expect(names.count >= 220)
  }
}

/// A tree without an origin.
private struct TreeWorld: ScenarioWorld {
  private var tree = MemoryTree()
  private var engine = TreeEngine()
  private var names = ListenerNames()

  init(_ scenario: Scenario) throws {
    if let start = scenario.start { tree = MemoryTree(try Node(json: start)) }
  }

  func shown(at path: Path) -> JSONValue { tree.root[path].exportJSON }

  mutating func carryOut(_ input: ScenarioInput) throws -> ScenarioResult {
    switch input {
    case .listen(let name, let request):
      let told = try engine.listen(names.add(name), request, reader: tree)
      return ScenarioResult(events: names.texts(told))
    case .stop(let name):
      engine.unlisten(try names.id(name))
      return ScenarioResult()
    case .write(let write):
      let parts = try write.assignments(now: ReplicaWorld.now, reader: tree)
      for part in parts { tree.perform(part) }
      let told = try engine.apply(touched: parts.map(\.path), reader: tree)
      return ScenarioResult(events: names.texts(told))
    default: throw ScenarioError("a tree of its own has no origin")
    }
  }
}

/// A replica that is told every write by its origin.
private struct PushedWorld: ScenarioWorld {
  private var world: ReplicaWorld

  init(_ scenario: Scenario) throws { world = try ReplicaWorld(scenario) }

  func shown(at path: Path) -> JSONValue { world.shown(at: path) }

  mutating func carryOut(_ input: ScenarioInput) throws -> ScenarioResult {
    guard case .write(let write) = input else { return try world.carryOut(input) }
    let parts = try write.assignments(now: ReplicaWorld.now, reader: world.storage)
    var tree = world.storage.shown
    for part in parts { tree = MemoryTree(part.applied(to: tree.root)) }
    let told = Set(parts.map(\.path)).sorted().map { path in
      Assignment(path: path, target: .node(tree.root[path]))
    }
    return try world.carryOut(.message(.push(.merge(told), .root, tag: nil)))
  }
}

extension Assignment {
  fileprivate func applied(to root: Node) -> Node {
    switch target {
    case .node(let node): root.replacing(path, with: node)
    case .priority(let priority):
      root.replacing(path, with: root[path].with(priority: priority))
    }
  }
}
