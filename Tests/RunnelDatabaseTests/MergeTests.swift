import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

/// Writing what was made of a node that others may have written since.
@Suite struct MergeTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let path: Path

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
    path = try Path("/record")
    _ = try session.write(.set(path, ["name": "Ana", "team": "red"]))
  }

  private func node(_ json: JSONValue) throws -> Node { try Node(json: json) }

  @Test func whatNobodyElseWroteIsWrittenAsItIs() throws {
    let base = try session.node(at: path)
    let result = try session.merge(node(["name": "Bo"]), at: path, base: base)
    #expect(try session.node(at: path) == node(["name": "Bo"]))
    #expect(try result.node == node(["name": "Bo"]))
  }

  @Test func fieldsThatAnotherProcessWroteAreKept() throws {
    let base = try session.node(at: path)
    _ = try folder.session().write(.set(Path("/record/team"), "blue"))
    let mine = try node(["name": "Bo", "team": "red"])
    #expect(
      try session.merge(mine, at: path, base: base).node == node(["name": "Bo", "team": "blue"]))
  }

  @Test func thePolicyIsAskedWithAllThree() throws {
    let base = try session.node(at: path)
    _ = try session.write(.set(Path("/record/name"), "Cy"))
    let policy = ConflictPolicy { conflict in
      Node(
        .string(
          [conflict.base, conflict.mine, conflict.theirs].map(Self.name).joined(separator: "+"))
      )
    }
    let mine = try node(["name": "Bo", "team": "red"])
    _ = try session.merge(mine, at: path, base: base, policy: policy)
    #expect(try session.node(at: path).exportJSON == "Ana+Bo+Cy")
  }

  private static func name(_ node: Node) -> String {
    guard let key = try? Key("name"), case .string(let name)? = node[key].leaf else { return "?" }
    return name
  }

  @Test func listenersAreToldAndTheHistoryKnows() throws {
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(path)))
    let base = try session.node(at: path)
    let told = try session.merge(node(["name": "Bo", "team": "red"]), at: path, base: base)
    #expect(told.deliveries.count == 1)
    #expect(try session.history(of: path).count == 2)
  }

  @Test func aReplicaMergesToo() throws {
    let replica = try folder.session("replica.db")
    try replica.becomeReplica(ofOrigin: "home")
    _ = try replica.write(.set(path, ["name": "Ana", "team": "blue"]))
    let mine = try node(["name": "Bo", "team": "red"])
    let base = try node(["name": "Ana", "team": "red"])
    let merged = try replica.merge(mine, at: path, base: base).node
    #expect(try merged == node(["name": "Bo", "team": "blue"]))
    #expect(replica.pendingWrites.count == 2)
  }
}
