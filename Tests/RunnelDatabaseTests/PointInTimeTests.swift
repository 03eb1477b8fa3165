import Glibc
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// A database as it was at an earlier time.
@Suite struct PointInTimeTests {
  /// A clock that a test sets.
  private final class Clock {
    var now: Int64 = 0
  }

  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let clock = Clock()

  init() throws {
    folder = try TemporaryFolder()
    var environment = DatabaseEnvironment.system
    let clock = clock
    environment.now = { clock.now }
    session = try DatabaseSession(file: folder.file("tree.db"), environment: environment)
  }

  private func set(_ path: String, _ json: JSONValue, at time: Int64) throws {
    clock.now = time
    _ = try session.write(.set(Path(path), json))
  }

  /// The whole tree as it was.
  private func state(at time: Int64) throws -> JSONValue {
    let file = folder.file("copy-\(time).db")
    try session.saveCopy(to: file, asOf: time)
    let copy = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    let json = try copy.node(at: .root).exportJSON
    try copy.close()
    return json
  }

  private func refusal(at time: Int64) throws -> String {
    let file = folder.file("no.db")
    let error = #expect(throws: DatabaseError.self) { try session.saveCopy(to: file, asOf: time) }
    #expect(throws: (any Error).self, "no file stays") {
      try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    }
    return error?.message ?? ""
  }

  @Test func eachStateIsThatAfterTheLastWriteByThen() throws {
    try set("/a", ["b": 1], at: 10)
    try set("/a/b", 1, at: 15)
    try set("/a/c", 2, at: 20)
    try set("/a", 3, at: 30)
    try set("/", .null, at: 40)
    #expect(try state(at: 10) == ["a": ["b": 1]])
    #expect(try state(at: 19) == ["a": ["b": 1]])
    #expect(try state(at: 20) == ["a": ["b": 1, "c": 2]])
    #expect(try state(at: 30) == ["a": 3])
    #expect(try state(at: 40) == .null)
    #expect(try state(at: 1000) == .null)
    #expect(try session.history().count == 4, "the database itself is as it was")
  }

  @Test func aTimeBeforeTheHistoryIsRefused() throws {
    #expect(try refusal(at: 5).contains("it has no history"))
    try set("/a", 1, at: 10)
    #expect(try refusal(at: 9).contains("its history begins at 1970-01-01T00:00:00.010Z"))
    try session.setHistoryLimit(2)
    for number in 0..<5 {
      try set("/n", .number(JSONNumber(Int64(number))), at: 20 + Int64(number))
    }
    #expect(try refusal(at: 22).contains("its history begins at 1970-01-01T00:00:00.023Z"))
    #expect(try state(at: 23) == ["a": 1, "n": 3])
  }

  @Test func manyWritesAreTakenBackThoughTheHistoryIsShort() throws {
    try session.setHistoryLimit(50)
    for number in 0..<60 {
      try set("/n\(number % 7)", .number(JSONNumber(Int64(number))), at: Int64(number))
    }
    let early = try state(at: 20)
    #expect(early["n6"] == 20)
    #expect(early["n0"] == 14)
  }

  @Test func undoingAndPrioritiesAreTakenBackToo() throws {
    try set("/a", [".value": 1, ".priority": 5], at: 10)
    try set("/a", .null, at: 20)
    clock.now = 30
    _ = try session.undo(2)
    clock.now = 40
    _ = try session.write(.update(Path("/a"), [JSONMember(".priority", 6)]))
    #expect(try state(at: 20) == .null)
    #expect(try state(at: 30) == ["a": [".value": 1, ".priority": 5]])
  }

  /// A write that makes no entry, as those that tell who is here.
  private func setLeftOut(_ path: String, _ json: JSONValue) throws {
    let place = try Path(path)
    let part = Assignment(path: place, target: .node(try Node(json: json)))
    try session.store.write { transaction in
      try transaction.carryOut(part)
      _ = try transaction.appendChange([place])
    }
  }

  @Test func placesThatTheHistoryLeavesOutDoNotStopIt() throws {
    try set("/m", 1, at: 10)
    try setLeftOut("/presence/a", ["name": "ana"])
    try set("/presence/a", .null, at: 20)
    try set("/m", 2, at: 30)
    try setLeftOut("/presence/a", ["name": "bo"])
    #expect(try state(at: 10) == ["m": 1, "presence": ["a": ["name": "ana"]]])
    let leftOut = try session.saveCopy(to: folder.file("left-out.db"), asOf: 10)
    #expect(try leftOut == [Path("/presence/a")])
    #expect(try session.saveCopy(to: folder.file("later.db"), asOf: 20).isEmpty)
  }

  @Test func whatIsTooLargeToKeepIsTold() throws {
    try set("/a", 1, at: 10)
    let large = JSONValue.string(String(repeating: "x", count: 70_000))
    try set("/b", ["x": large], at: 20)
    try set("/b", ["y": large], at: 30)
    let text = try refusal(at: 10)
    #expect(text.contains("replaced a value at /b that was too large to keep"))
    #expect(!text.contains("undone"))
    #expect(
      text.contains("earliest time that can be told is \(CivilTime.utcText(30)); take a backup"))
    #expect(try state(at: 30) == ["a": 1, "b": ["y": large]])
  }

  /// Writes above the place count as far as they concern it.
  @Test func whatIsTooLargeElsewhereDoesNotConcernAPlace() throws {
    let large = JSONValue.string(String(repeating: "x", count: 70_000))
    try set("/m", ["a": ["n": 1], "b": ["n": 1]], at: 10)
    try set("/m/a/n", 2, at: 20)
    try set("/m", ["a": ["n": 3], "c": [1, 2]], at: 30)
    try set("/m/b", large, at: 40)
    try set("/m/b", .null, at: 50)
    try set("/m/a/n", 4, at: 60)
    func value(_ path: String, at time: Int64) throws -> JSONValue {
      let file = folder.file("place-\(time).db")
      let leftOut = try session.saveCopy(to: file, asOf: time, of: Path(path))
      #expect(leftOut.isEmpty)
      let copy = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
      let json = try copy.node(at: Path(path)).exportJSON
      try copy.close()
      for suffix in ["", "-wal", "-shm", "-notify"] { unlink(file + suffix) }
      return json
    }
    #expect(try value("/m/a", at: 10) == ["n": 1])
    #expect(try value("/m/a/n", at: 20) == 2)
    #expect(try value("/m/a", at: 30) == ["n": 3])
    #expect(try value("/m/c", at: 10) == .null)
    #expect(try value("/m/c", at: 40) == node("[1,2]").exportJSON)
    #expect(try value("/m/a", at: 60) == ["n": 4])
    let error = #expect(throws: DatabaseError.self) { try value("/m/b", at: 10) }
    #expect(error?.message.hasPrefix("What /m/b held at") == true)
    #expect(try state(at: 50) == node(#"{"m":{"a":{"n":3},"c":[1,2]}}"#).exportJSON)
  }

  @Test func largeImportsOfOnePlaceAreTakenBackOneAfterTheOther() throws {
    func document(_ number: Int64) -> String { largeObject(1000, bytes: 70 + Int(number)) }
    for number in 1...3 as ClosedRange<Int64> {
      clock.now = number * 10
      _ = try Array(document(number).utf8).withUnsafeBufferPointer {
        try session.importJSON($0, at: Path("/big"), mode: .replace)
      }
    }
    clock.now = 40
    _ = try session.undo(3)
    clock.now = 50
    _ = try session.undo(4)
    for (time, number) in [(10, 1), (20, 2), (30, 3), (40, 2), (50, 3)] as [(Int64, Int64)] {
      let expected = try node(#"{"big":\#(document(number))}"#).exportJSON
      #expect(try state(at: time) == expected, "at \(time)")
    }
  }

  @Test func stoppingLeavesNoFile() throws {
    try set("/a", 1, at: 10)
    try set("/a", 2, at: 20)
    let file = folder.file("no.db")
    let error = #expect(throws: DatabaseError.self) {
      try session.saveCopy(to: file, asOf: 10, isWanted: { false })
    }
    #expect(error?.code == .cancelled)
  }
}
