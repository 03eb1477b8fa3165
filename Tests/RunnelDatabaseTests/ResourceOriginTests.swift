import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Counters of resources on a replica whose origin refuses some operations and is offline at times.
@Suite struct ResourceOriginTests {
  /// The origin: another database, which answers the replica's commands.
  private final class Origin {
    let session: DatabaseSession
    private let replica: DatabaseSession
    private let registry: ResourceRegistry
    private var done: Set<Int64> = []
    private(set) var refusedCount = 0
    private(set) var repeatedCount = 0
    private(set) var isConnected = false
    /// The commands that the origin has not received yet.
    private var sent: [OriginCommand] = []

    init(_ session: DatabaseSession, _ replica: DatabaseSession, _ registry: ResourceRegistry) {
      (self.session, self.replica, self.registry) = (session, replica, registry)
    }

    func connect() throws {
      if isConnected { return }
      isConnected = true
      _ = try replica.connectOrigin()
    }

    /// Disconnects; messages in both directions are lost.
    func disconnect() throws {
      if !isConnected { return }
      isConnected = false
      _ = try replica.disconnectOrigin()
      _ = replica.takeOriginOutput()
      sent = []
    }

    /// Does an operation of another client.
    func perform(_ operation: ResourceOperation) throws {
      do {
        _ = try session.perform(operation, in: registry)
      } catch is ResourceError {}
      if isConnected { try push() }
    }

    /// Answers up to a number of commands; `losesAnswer` decides whether the connection is lost
    /// before the answer to a write.
    func answer(_ count: Int = .max, losesAnswer: () -> Bool = { false }) throws {
      var left = count
      while isConnected, left > 0 {
        sent += replica.takeOriginOutput().commands
        if sent.isEmpty { return }
        left -= 1
        try answer(sent.removeFirst(), losesAnswer)
      }
    }

    private func answer(_ command: OriginCommand, _ losesAnswer: () -> Bool) throws {
      switch command {
      case .listen(let ask, _, _, _):
        try push()
        _ = try replica.receive(.listenComplete(ask))
      case .unlisten(let ask, _, _): _ = try replica.receive(.unlistened(ask))
      case .write(let id, let write), .writeIf(let id, let write, _):
        try carryOut(write, id, losesAnswer)
      case .compareAndSet, .get, .onDisconnect: Issue.record("\(command)")
      }
    }

    private func carryOut(_ write: Write, _ id: Int64, _ losesAnswer: () -> Bool) throws {
      // A rule of the origin: the message `m3` cannot be changed.
      if "\(write)".contains("m3") {
        refusedCount += 1
        _ = try replica.receive(.rejected(id: id, TreeError(.permissionDenied, "no")))
        return
      }
      if done.insert(id).inserted { _ = try session.write(write) } else { repeatedCount += 1 }
      if losesAnswer() { return try disconnect() }
      try push()
      _ = try replica.receive(.acknowledged(id: id))
    }

    private func push() throws {
      _ = try replica.receive(.push(.set(session.node(at: .root)), .root, tag: nil))
    }
  }

  /// An operation on a message; each client uses other names of messages.
  private func operation(
    _ client: String, _ random: inout SeededRandom
  ) throws -> ResourceOperation {
    let kinds: [ResourceOperation.Kind] = [
      .create, .create, .update, .destroy, .toggle(), .createOrUpdate(),
    ]
    let kind = try #require(kinds.randomElement(using: &random))
    let group = try ResourceObject("group", key: Bool.random(using: &random) ? "g" : "h")
    let key = "\(client)\(Int.random(in: 0..<5, using: &random))"
    let value: JSONValue = ["text": "x", "pinned": .bool(Bool.random(using: &random))]
    return ResourceOperation(
      kind, try ResourceObject("message", key: key, value: value), in: ["group": group])
  }

  @Test func countersAreCorrectAfterRefusalsAndOfflinePeriods() throws {
    let registry = try ChatResources.registry()
    var (refused, repeated) = (0, 0)
    for seed in Seeds.first(6) {
      var random = SeededRandom(seed: seed)
      let folder = try TemporaryFolder()
      let home = try folder.session("home.db", seed: seed + 100)
      for key in ["g", "h"] {
        _ = try home.perform(ChatResources.create("group", key, ["name": "G"]), in: registry)
      }
      let replica = try folder.session("replica.db", seed: seed)
      try replica.becomeReplica(ofOrigin: "home")
      _ = try replica.listen(ListenerID(1), ListenRequest(query: Query(.root)))
      let origin = Origin(home, replica, registry)
      try origin.connect()
      try origin.answer()
      for _ in 0..<60 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try origin.disconnect()
        case 1: try origin.connect()
        case 2, 3: try origin.perform(operation("n", &random))
        case 4, 5:
          let loses = Int.random(in: 0..<4, using: &random) == 0
          try origin.answer(Int.random(in: 1...4, using: &random)) { loses }
        default:
          do {
            _ = try replica.perform(operation("m", &random), in: registry)
          } catch is ResourceError {}
        }
        #expect(ChatResources.fault(in: try home.node(at: .root)) == nil, "seed \(seed)")
      }
      try origin.connect()
      try origin.answer()
      #expect(replica.pendingWrites.isEmpty, "seed \(seed)")
      let stored = try home.node(at: .root)
      #expect(ChatResources.fault(in: stored) == nil, "seed \(seed)")
      #expect(try replica.node(at: .root) == stored, "seed \(seed)")
      (refused, repeated) = (refused + origin.refusedCount, repeated + origin.repeatedCount)
    }
    #expect(refused > 10 && repeated > 0, "Too little happened to tell anything.")
  }
}
