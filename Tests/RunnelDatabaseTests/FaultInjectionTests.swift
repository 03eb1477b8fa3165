import CFaults
import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Storage that fails at operation n of a workload, for all n: what returned is stored, what failed
/// is not, listeners know exactly that, and the session goes on.
///
/// By default not every n is tried; a long run (`LongRun.faults`) tries every one that it asks for.
@Suite struct FaultInjectionTests {
  private static let stride = 11
  /// More than any workload has.
  private static let operationsMax = 5000

  /// The operations that fail, one after the other: each one by a step, or those that are asked for.
  private static func operations(by step: Int) -> StrideTo<Int> {
    guard let asked = LongRun.faults else {
      return Swift.stride(from: 1, to: operationsMax, by: step)
    }
    let first = max(1, Int(clamping: asked.lowerBound))
    return Swift.stride(from: first, to: min(operationsMax, Int(clamping: asked.upperBound)), by: 1)
  }

  /// What is done, beside a model of what is stored.
  private struct Workload {
    var model = MemoryTree()
    var failures: [any Error] = []
    let session: DatabaseSession
    /// What the listener was told, replayed: the keys and their values.
    var shown: [Key: Node] = [:]

    init(_ session: DatabaseSession) { self.session = session }

    mutating func attempt(_ body: (inout Workload) throws -> Void) {
      do {
        try body(&self)
      } catch {
        failures.append(error)
      }
    }

    mutating func take(_ deliveries: [Delivery]) {
      for delivery in deliveries {
        switch delivery.event {
        case .childAdded(let row, _), .childChanged(let row, _): shown[row.key] = row.node
        case .childRemoved(let row): shown[row.key] = nil
        case .childMoved, .value, .page, .pending, .answered: break
        }
      }
    }

    mutating func write(_ write: Write) throws {
      let parts = try write.assignments(now: 1_700_000_000_000, reader: model)
      take(try session.write(write))
      for part in parts { model.perform(part) }
    }

    mutating func importJSON(_ json: String, at path: Path) throws {
      take(try session.importJSON(json, at: path.description))
      for part in try Write.set(path, JSONValue(parsing: json)).assignments(now: 0, reader: model) {
        model.perform(part)
      }
    }

    mutating func run() throws {
      let list = try Path("l")
      var isListening = false
      attempt { workload in
        workload.take(
          try workload.session.listen(
            ListenerID(1), ListenRequest(query: Query(list).ordered(by: .key))))
        isListening = true
      }
      attempt { try $0.write(.set(list.child(Key("k3")), "changed")) }
      attempt { try $0.importJSON(largeObject(60), at: list.child(Key("import"))) }
      attempt { workload in
        try workload.session.declareIndexes([IndexDefinition(pattern: "/l", child: .root)])
      }
      let members = [JSONMember("k1", .null), JSONMember("new/x", 5), JSONMember("k2", 7)]
      attempt { try $0.write(.update(list, members)) }
      attempt { workload in workload.take(try workload.session.catchUp()) }
      attempt { try $0.write(.remove(list.child(Key("import")))) }
      if !isListening {
        attempt { workload in
          workload.take(
            try workload.session.listen(
              ListenerID(2), ListenRequest(query: Query(list).ordered(by: .key))))
        }
      }
    }
  }

  @Test(arguments: [FAULTS_IO, FAULTS_FULL, FAULTS_BUSY], [false, true])
  func storageThatFailsKeepsExactlyWhatReturned(kind: faults_kind, lasts: Bool) throws {
    let folder = try TemporaryFolder()
    let base = try makeBase(folder)
    let faulty = try FaultyFile(folder.file())
    var failureCount = 0
    // A workload asks for few locks.
    let step = kind == FAULTS_BUSY ? 1 : FaultInjectionTests.stride
    let operations = FaultInjectionTests.operations(by: step)
    for operation in operations {
      try reset(folder, base)
      let session = try folder.session(busyTimeout: .zero)
      var workload = Workload(session)
      workload.model = MemoryTree(try session.node(at: .root))
      faulty.arm(kind, at: operation, lasts: lasts)
      try workload.run()
      let count = faulty.disarm()
      failureCount += workload.failures.count
      try expectConsistent(&workload, folder, "\(kind) \(operation) \(lasts)")
      if count < operation { break }
    }
    // A part of a long run may begin where the workload has ended.
    if operations.first(where: { _ in true }) == 1 {
      #expect(failureCount > 2, "Too few failures to tell anything.")
    }
  }

  private func expectConsistent(
    _ workload: inout Workload, _ folder: TemporaryFolder, _ place: String
  ) throws {
    for failure in workload.failures { #expect(failure is DatabaseError, "\(place): \(failure)") }
    // The session goes on, and its listeners know what is stored.
    let list = try Path("l")
    try workload.write(.set(list.child(Key("after")), true))
    let stored = try workload.session.node(at: .root)
    #expect(stored == workload.model.root, "\(place)")
    if !workload.shown.isEmpty {
      let children = stored[list].children.map { ($0.key, $0.node) }
      #expect(workload.shown == Dictionary(uniqueKeysWithValues: children), "\(place)")
    }
    try workload.session.close()
    #expect(try DatabaseCare.check(file: folder.file()).faults == [], "\(place)")
    let reopened = try folder.session(isReadOnly: true)
    #expect(try reopened.node(at: .root) == workload.model.root, "\(place)")
    try reopened.close()
  }

  /// A file that cannot be opened now can be opened later, and holds what it held.
  @Test(arguments: [FAULTS_IO, FAULTS_FULL, FAULTS_BUSY], [false, true])
  func openingThatFailsLeavesTheFile(kind: faults_kind, isNew: Bool) throws {
    let folder = try TemporaryFolder()
    let base = isNew ? Data() : try makeBase(folder)
    let faulty = try FaultyFile(folder.file())
    for operation in FaultInjectionTests.operations(by: 1) {
      try reset(folder, base)
      faulty.arm(kind, at: operation, lasts: false)
      let session: DatabaseSession?
      do {
        session = try folder.session(busyTimeout: .zero)
      } catch {
        #expect(error is DatabaseError, "\(operation)")
        session = nil
      }
      let count = faulty.disarm()
      // It may fail to close what failed to open.
      try? session?.close()
      let reopened = try folder.session()
      let isEmpty = try reopened.node(at: .root).isEmpty
      #expect(isEmpty == isNew, "\(operation)")
      try reopened.close()
      #expect(try DatabaseCare.check(file: folder.file()).faults == [], "\(operation)")
      if count < operation { break }
    }
  }

  /// A repair that fails at any operation leaves the file as damaged as it was, or repaired.
  @Test func aRepairThatFailsIsNoHalfRepair() throws {
    let folder = try TemporaryFolder()
    _ = try makeBase(folder)
    try FileEditor.execute("UPDATE split SET children = 7", in: folder.file())
    let base = try folder.bytes()
    let whole = try DatabaseCare.check(file: folder.file())
    // Of each of two split nodes the checksum, and of what it says the number of children.
    #expect(whole.faultCount == 2)
    let faulty = try FaultyFile(folder.file())
    for operation in FaultInjectionTests.operations(by: FaultInjectionTests.stride) {
      try reset(folder, base)
      faulty.arm(FAULTS_IO, at: operation, lasts: false)
      let repair = try? DatabaseCare.repair(file: folder.file(), busyTimeout: .zero)
      let count = faulty.disarm()
      let report = try DatabaseCare.check(file: folder.file())
      if repair?.after != nil { #expect(report.isSound, "\(operation)") }
      #expect(report.faults == [] || report.faults == whole.faults, "\(operation)")
      if count < operation { break }
    }
  }

  // MARK: Files

  private func makeBase(_ folder: TemporaryFolder) throws -> Data {
    let session = try folder.session()
    try session.set("/", #"{"l":\#(largeObject(50)),"m":{"n":1}}"#)
    try session.close()
    return try folder.bytes()
  }

  private func reset(_ folder: TemporaryFolder, _ base: Data) throws {
    for name in ["test.db", "test.db-wal", "test.db-shm", "test.db-notify"] {
      // It may not be there.
      try? FileManager.default.removeItem(atPath: folder.file(name))
    }
    if !base.isEmpty { try folder.write(base) }
  }
}
