import CFaults
import Foundation
import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Operations on resources in a file, by two sessions and with storage that fails.
@Suite struct ResourceSessionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Two sessions

  @Test(arguments: Seeds.first(4))
  func countersAreCountsWhateverTwoSessionsDoInTurn(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let registry = try ChatResources.registry()
    var sessions = [try folder.session(seed: 1), try folder.session(seed: 1)]
    var done = 0
    for step in 0..<60 {
      let writer = Int.random(in: 0..<2, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        // It ends without a word, as a process that is killed does.
        sessions[writer] = try folder.session(seed: UInt64(step))
      case 1: _ = try sessions[writer].catchUp()
      default:
        let operation = try ChatResources.operation(&random)
        do {
          if try sessions[writer].perform(operation, in: registry).plan.write != nil { done += 1 }
        } catch is ResourceError {
          continue
        }
      }
      let tree = try sessions[1 - writer].node(at: .root)
      try #require(ChatResources.fault(in: tree) == nil, "seed \(seed), step \(step)")
    }
    #expect(done > 10, "Too few operations were done to tell anything.")
    let report = try #require(try sessions[0].audit(registry))
    #expect(report.isInStep, "seed \(seed)")
    #expect(try FileInspector(folder.file()).report().faults == [], "seed \(seed)")
  }

  @Test func theOtherSessionHearsAllOfAnOperationAtOnce() throws {
    let registry = try ChatResources.registry()
    let (first, second) = (try folder.session(seed: 1), try folder.session(seed: 2))
    _ = try second.listen(ListenerID(1), ListenRequest(query: Query(.root), events: .value))
    _ = try first.perform(ChatResources.create("group", "g", ["name": "G"]), in: registry)
    _ = try second.catchUp()
    _ = try first.perform(ChatResources.create("message", "m", ["text": "x"]), in: registry)
    let told = try second.catchUp()
    #expect(told.count == 1)
    guard case .value(let node)? = told.first?.event else { return }
    #expect(ChatResources.fault(in: node) == nil)
    #expect(try second.node(at: Path("group/g/message_count")).json == 1)
  }

  // MARK: Undoing and repairing

  @Test func anUndoneOperationIsUndoneAsAWhole() throws {
    let registry = try ChatResources.registry()
    let session = try folder.session()
    _ = try session.perform(ChatResources.create("group", "g", ["name": "G"]), in: registry)
    let before = try session.node(at: Path("group"))
    _ = try session.perform(ChatResources.create("message", "m", ["text": "x"]), in: registry)
    let entry = try #require(try session.history(count: 1).first)
    _ = try session.undo(entry.id, in: registry)
    #expect(try session.node(at: Path("group")) == before)
    #expect(try session.audit(registry)?.isInStep == true)
  }

  @Test func aRepairPutsCountersRightInOneWrite() throws {
    let registry = try ChatResources.registry()
    let session = try folder.session()
    _ = try session.perform(ChatResources.create("group", "g", ["name": "G"]), in: registry)
    #expect(try #require(try session.repair(registry)).found.isInStep)
    try session.set("/group/g/message_count", "9")
    try session.set("/group_message/g/m", #"{"text":"x"}"#)
    let repair = try #require(try session.repair(registry))
    #expect(repair.found.counters.map(\.path.description) == ["/group/g/message_count"])
    #expect(try session.node(at: Path("group/g/message_count")).json == 1)
    try session.set("/group/g/message_count", "9")
    #expect(try session.repair(registry) { _, _ in false } == nil)
    #expect(try session.node(at: Path("group/g/message_count")).json == 9)
  }

  @Test func nothingIsWrittenWhereThereIsNothingToDo() throws {
    let registry = try ChatResources.registry()
    let session = try folder.session()
    let outcome = try session.perform(
      ResourceOperation(.destroy, ResourceObject("group", key: "none")), in: registry)
    #expect(outcome.plan.write == nil && outcome.deliveries.isEmpty)
    #expect(try session.history().isEmpty)
  }

  // MARK: Storage that fails

  @Test(arguments: [FAULTS_IO, FAULTS_FULL])
  func storageThatFailsLeavesCountersInStep(kind: faults_kind) throws {
    let registry = try ChatResources.registry()
    let base = try makeBase(registry)
    let faulty = try FaultyFile(folder.file())
    var failures = 0
    for operation in stride(from: 1, to: 5000, by: 7) {
      try reset(base)
      let session = try folder.session(busyTimeout: .zero)
      faulty.arm(kind, at: operation, lasts: false)
      var random = SeededRandom(seed: UInt64(operation))
      for _ in 0..<4 {
        do {
          _ = try session.perform(ChatResources.operation(&random), in: registry)
        } catch let error as DatabaseError {
          failures += 1
          #expect(error.code != .refused)
        } catch is ResourceError {}
      }
      let count = faulty.disarm()
      let tree = try session.node(at: .root)
      #expect(ChatResources.fault(in: tree) == nil, "\(kind) \(operation)")
      try session.close()
      let reopened = try folder.session(isReadOnly: true)
      #expect(try reopened.node(at: .root) == tree, "\(kind) \(operation)")
      try reopened.close()
      if count < operation { break }
    }
    #expect(failures > 2, "Too few failures to tell anything.")
  }

  private func makeBase(_ registry: ResourceRegistry) throws -> Data {
    let session = try folder.session()
    var random = SeededRandom(seed: 5)
    for _ in 0..<20 {
      do {
        _ = try session.perform(ChatResources.operation(&random), in: registry)
      } catch is ResourceError {}
    }
    try session.close()
    return try folder.bytes()
  }

  private func reset(_ base: Data) throws {
    for name in ["test.db", "test.db-wal", "test.db-shm", "test.db-notify"] {
      // It may not be there.
      try? FileManager.default.removeItem(atPath: folder.file(name))
    }
    try folder.write(base)
  }

  // MARK: Replicas

  @Test func aRefusedOperationIsTakenBackAsAWhole() throws {
    let registry = try ChatResources.registry()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(.root)))
    _ = try session.connectOrigin()
    _ = try session.receive(
      .push(.set(try node(#"{"group":{"g":{"message_count":4,"name":"G"}}}"#)), .root, tag: nil))
    _ = try session.receive(.listenComplete(AskID(1)))
    let before = try session.node(at: .root)
    _ = try session.perform(ChatResources.create("message", "m", ["text": "x"]), in: registry)
    let write = try #require(session.pendingWrites.last)
    #expect(session.pendingWrites.count == 1)
    #expect(try session.node(at: Path("group/g/message_count")).json == 5)
    _ = try session.receive(.rejected(id: write.id, TreeError(.permissionDenied, "no")))
    #expect(try session.node(at: .root) == before)
  }

  @Test func aRecordThatIsBroughtBackKeepsTheCopyOfAnOwnerThatIsNotKnown() throws {
    var registry = ResourceRegistry()
    try registry.resource("user", path: "/user/@")
    try registry.resource("note", path: "/note/@")
    try registry.copy(into: "note", from: "user", link: "from", fields: ["name": "from_name"])
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(Path("note"))))
    _ = try session.connectOrigin()
    let note = #"{"from":"ana","from_name":"Ana","text":"hi"}"#
    _ = try session.receive(.push(.set(try node("{\"n\":\(note)}")), Path("note"), tag: nil))
    _ = try session.receive(.listenComplete(AskID(1)))
    let destruction = ResourceOperation(.destroy, try ResourceObject("note", key: "n"))
    let change = try #require(session.perform(destruction, in: registry).plan.changes.first)
    #expect(try session.node(at: Path("note/n")).isEmpty)
    _ = try session.undo(
      RunnelStreams.ActionLogEntry(of: change, at: 0, author: ""), in: registry)
    #expect(try session.node(at: Path("note/n")) == node(note))
  }

  @Test func whatIsNotKnownOnAReplicaIsNotGuessed() throws {
    let registry = try ChatResources.registry()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    let error = try #require(throws: ResourceError.self) {
      try session.perform(ChatResources.create("message", "m", ["text": "x"]), in: registry)
    }
    #expect(error.code == .notKnown)
    var fresh = try ChatResources.create("message", "m", ["text": "x"])
    fresh.object.key = nil
    _ = try session.perform(fresh, in: registry)
    #expect(try session.node(at: Path("group/g/message_count")).json == 1)
  }
}
