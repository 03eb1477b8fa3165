import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// A log is taken in by the file that it was begun on, and by no other.
@Suite struct ForeignLogTests {
  /// A file and its log, as they lay there at a moment, and what they held.
  private struct Moment {
    var file: Data
    var log: Data?
    var export: String
    var event: String
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func moment(_ session: DatabaseSession, _ event: String) throws -> Moment {
    Moment(
      file: try folder.bytes(), log: try? folder.bytes("test.db-wal"),
      export: try session.export(), event: event)
  }

  /// Puts a file and a log beside each other; returns what is read there, or why nothing is.
  private func mixed(
    _ file: Data, _ log: Data?, isReadOnly: Bool
  ) throws -> Swift.Result<String, DatabaseError> {
    let other = try TemporaryFolder()
    try other.write(file)
    if let log { try other.write(log, to: "test.db-wal") }
    do {
      // Nobody else is there to wait for.
      let session = try other.session(isReadOnly: isReadOnly, busyTimeout: .zero)
      let export = try session.export()
      if !isReadOnly { try session.set("/written", "1") }
      try session.close()
      return .success(export)
    } catch let error as DatabaseError {
      #expect(try other.bytes() == file)
      if let log { #expect(try other.bytes("test.db-wal") == log) }
      return .failure(error)
    }
  }

  @Test(arguments: [true, false]) func theLogOfAnotherDatabaseIsRefused(isReadOnly: Bool) throws {
    let (one, other) = (try folder.session(), try folder.session("other.db"))
    try one.set("/a", largeObject(100))
    try other.set("/a", largeObject(50))
    let log = try folder.bytes("test.db-wal")
    try other.close()
    let result = try mixed(folder.bytes("other.db"), log, isReadOnly: isReadOnly)
    #expect(throws: DatabaseError.self) { try result.get() }
    if case .failure(let error) = result {
      #expect(error.code == .foreignLog)
      #expect(error.message.contains("-wal.old"))
    }
    try one.close()
  }

  /// The file was moved and its log stayed: to make a new one there would take away what the moved one lacks.
  @Test(arguments: [nil, Data()]) func aLogWithoutItsFileIsKept(file: Data?) throws {
    let session = try folder.session()
    try session.set("/a", "1")
    let other = try TemporaryFolder()
    let log = try folder.bytes("test.db-wal")
    try other.write(log, to: "test.db-wal")
    if let file { try other.write(file) }
    let error = #expect(throws: DatabaseError.self) { try other.session() }
    #expect(error?.code == .foreignLog)
    #expect(try other.bytes("test.db-wal") == log)
    #expect((try? other.bytes()) == file)
    try session.close()
  }

  /// What lies there after the writer was killed, from the first moment on.
  @Test func aNewFileWhoseTablesAreInItsLogOnlyIsTakenIn() throws {
    let session = try folder.session()
    let fresh = try moment(session, "fresh")
    try session.set("/a", "1")
    let written = try moment(session, "written")
    for moment in [fresh, written] {
      #expect(try mixed(moment.file, moment.log, isReadOnly: false) == .success(moment.export))
    }
    #expect(try mixed(written.file, written.log, isReadOnly: true) == .success(written.export))
  }

  @Test func aFileOfAnOlderVersionTakesInItsLog() throws {
    for version in 1...2 {
      let name = "version\(version).db"
      let old = try OldFile(folder.file(name), version: version)
      let file = try folder.bytes(name)
      let log = try folder.bytes("\(name)-wal")
      #expect(!log.isEmpty)
      #expect(try mixed(file, log, isReadOnly: true) == .success(#"{"a":1}"#))
      #expect(try mixed(file, log, isReadOnly: false) == .success(#"{"a":1}"#))
      try old.close()
    }
  }

  /// Two go on from copies of one file and its log: neither takes in the log of the other.
  @Test func logsOfTwoCopiesAreNotExchanged() throws {
    let session = try folder.session()
    try session.set("/a", largeObject(60))
    let start = try moment(session, "start")
    var moments: [Moment] = []
    for name in ["x", "y"] {
      let copy = try TemporaryFolder()
      try copy.write(start.file)
      try copy.write(try #require(start.log), to: "test.db-wal")
      let copied = try copy.session()
      try copied.set("/\(name)", largeObject(40))
      let log = try copy.bytes("test.db-wal")
      let export = try copied.export()
      try copied.close()
      moments.append(Moment(file: try copy.bytes(), log: log, export: export, event: name))
    }
    for (one, other) in [(0, 1), (1, 0)] {
      let result = try mixed(moments[one].file, moments[other].log, isReadOnly: true)
      #expect(throws: DatabaseError.self) { try result.get() }
      #expect(
        try mixed(moments[one].file, moments[one].log, isReadOnly: true)
          == .success(moments[one].export))
    }
    try session.close()
  }

  /// Any file of a history with any log of it: what is read is what was there with that log, or nothing.
  ///
  /// Where the log is the beginning of one that the file has taken in since, and has no part of the tree, it
  /// is what the file has.
  ///
  /// In the first one a reader held back the copying of a log, so that the file was shorter than it said. In
  /// the second one a log began with an index.
  @Test(
    arguments: [7_016_439_754_160_766_294, 8_203_449_575_819_903_481]
      + Seeds.first(0, oneOf: 5))
  func noFileIsMixedWithALogOfAnotherTime(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var session = try folder.session()
    var reader: IdleReader?
    var moments = [try moment(session, "open")]
    for step in 0..<22 {
      let event: String
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        event = "set"
        try session.set("/a/k\(Int.random(in: 0..<9, using: &random))", "\(step)")
      case 4:
        event = "large"
        try session.set("/l\(step % 3)", largeObject(.random(in: 1...90, using: &random)))
      case 5:
        let mode = ["PASSIVE", "RESTART", "TRUNCATE"].randomElement(using: &random) ?? ""
        event = "checkpoint \(mode)"
        // One that has to wait for the reader ends without its end.
        try? session.checkpoint(reader == nil ? mode : "PASSIVE")
      case 6:
        event = "reopen"
        try session.close()
        session = try folder.session(seed: UInt64(step) + 2)
      case 7:
        event = "index"
        try session.declareIndexes([IndexDefinition(pattern: "/p\(step)", child: .root)])
      case 8 where reader == nil:
        event = "reader"
        reader = try IdleReader(folder.file())
      case 8:
        event = "no reader"
        try reader?.end()
        reader = nil
      default:
        event = "compact"
        // With a reader in it, it is not finished.
        _ = try? DatabaseCare.compact(file: folder.file(), busyTimeout: .milliseconds(1))
      }
      #expect(try session.catchUp().isEmpty)
      moments.append(try moment(session, event))
    }
    try reader?.end()
    try session.close()
    for (i, file) in moments.enumerated() {
      let alone = try mixed(file.file, nil, isReadOnly: true)
      for (j, log) in moments.enumerated() where (log.log?.count ?? 0) > 32 {
        let result = try mixed(file.file, log.log, isReadOnly: true)
        let words: Comment = "seed \(seed): file after \(i) (\(file.event)), log after \(j)"
        switch result {
        case .success(let export):
          if export == log.export { continue }
          #expect(alone == .success(export), words)
        case .failure(let error):
          // Pages of two times may contradict each other before their changes are compared.
          #expect([.foreignLog, .corrupt].contains(error.code), "\(words): \(error)")
          #expect(i != j, words)
        }
      }
    }
  }

  /// While somebody reads an older state, the log is copied as far as that: the file says already that
  /// it has pages which are in the log only.
  @Test func aLogThatIsCopiedInPartIsNoLoss() throws {
    let session = try folder.session()
    for round in 1...8 {
      try session.set("/l\(round)", largeObject(90))
      let reader = try IdleReader(folder.file())
      try session.set("/l\(round)", largeObject(95))
      try session.checkpoint("PASSIVE")
      try session.set("/a", "\(round)")
      try reader.end()
      try session.checkpoint("TRUNCATE")
    }
    try session.close()
  }

  /// A page that changed again later is not copied while somebody reads an older state: such as the one with
  /// the mark, while the pages of changes are copied.
  @Test(arguments: [1, 3, 12]) func aFileThatHasPartOfItsLogIsTakenIn(writes: Int) throws {
    try folder.session().close()
    let session = try folder.session()
    try session.set("/a", "1")
    try session.checkpoint()
    var random = SeededRandom(seed: UInt64(writes))
    for number in 0..<(60 * writes) {
      try session.set("/l/k\(Int.random(in: 0..<50, using: &random))", "\(number)")
    }
    let reader = try IdleReader(folder.file())
    let writer = try folder.session(seed: 7)
    for number in 0..<writes { try writer.set("/later/k\(number)", "1") }
    try writer.checkpoint("PASSIVE")
    let (file, log) = (try folder.bytes(), try folder.bytes("test.db-wal"))
    let export = try session.export()
    #expect(try mixed(file, log, isReadOnly: true) == .success(export))
    #expect(try mixed(file, log, isReadOnly: false) == .success(export))
    let other = try folder.session(seed: 8)
    #expect(try other.export() == export)
    #expect(try session.catchUp().isEmpty)
    try session.set("/end", "1")
    try reader.end()
    for open in [other, writer, session] { try open.close() }
    try folder.session().close()
  }

  /// The same name, the same inode, other pages: as `cp` replaces a file.
  @Test(arguments: [1, 60, 300]) func aFileThatIsOverwrittenInItsPlaceIsALoss(size: Int) throws {
    let session = try folder.session()
    try session.set("/a", largeObject(60))
    try session.checkpoint()
    try session.set("/b", "1")
    let other = try folder.session("other.db")
    try other.set("/a", largeObject(size))
    try other.close()
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file()))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: folder.bytes("other.db"))
    let error = #expect(throws: DatabaseError.self) { try session.set("/c", "1") }
    #expect(error?.code == .fileGone, "\(String(describing: error))")
    try session.close()
    #expect(try folder.bytes() == folder.bytes("other.db"))
  }

  /// The log is copied to the file, and begun anew, while its readers look at head and size.
  @Test func aFileThatGrowsUnderItsReadersIsNoLoss() throws {
    let session = try folder.session()
    let file = folder.file()
    let writer = Thread {
      do {
        let writer = try DatabaseSession(
          file: file,
          environment: DatabaseEnvironment(
            now: { 1_700_000_000_000 }, random: SeededRandom(seed: 2)))
        for round in 0..<120 {
          try writer.set("/l\(round)", largeObject(60))
          try writer.checkpoint("PASSIVE")
        }
        try writer.set("/end", "1")
        try writer.close()
      } catch {
        Issue.record(error)
      }
    }
    writer.start()
    while !writer.isFinished { _ = try session.catchUp() }
    #expect(try session.export("/end") == "1")
    try session.close()
  }

  /// What was acknowledged stood in the log.
  @Test(arguments: ["cut off", "half", "another"]) func aLogThatIsOverwrittenIsALoss(
    how: String
  ) throws {
    let other = try folder.session("other.db")
    try other.set("/b", largeObject(90))
    let session = try folder.session()
    try session.set("/a", largeObject(60))
    try session.set("/b", "1")
    let log = try folder.bytes("test.db-wal")
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file() + "-wal"))
    switch how {
    case "cut off": try handle.truncate(atOffset: 0)
    case "half": try handle.truncate(atOffset: UInt64(log.count / 2))
    default: try handle.write(contentsOf: folder.bytes("other.db-wal"))
    }
    let error = #expect(throws: DatabaseError.self) { try session.set("/c", "1") }
    #expect(error?.code == .fileGone, "\(String(describing: error))")
    #expect(throws: DatabaseError.self) { try session.checkFile() }
    try session.close()
    try other.close()
  }

  /// The last connection would copy the log to the file, whatever it holds.
  @Test(arguments: ["cut off", "its header", "its middle", "zeros"])
  func aLogThatIsOverwrittenWhileNobodyWritesIsNotPutIntoTheFile(how: String) throws {
    try folder.session().close()
    let session = try folder.session()
    try session.set("/a", largeObject(60))
    try session.set("/b", "1")
    let (file, log) = (try folder.bytes(), try folder.bytes("test.db-wal"))
    let idle = try folder.session()
    #expect(try idle.catchUp().isEmpty)
    try session.close()
    #expect(try folder.bytes("test.db-wal").count == log.count)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file() + "-wal"))
    switch how {
    case "cut off": try handle.truncate(atOffset: 0)
    case "its header": try handle.write(contentsOf: Data(repeating: 7, count: 3000))
    case "its middle":
      try handle.seek(toOffset: 5000)
      try handle.write(contentsOf: Data(repeating: 7, count: 3000))
    default: try handle.write(contentsOf: Data(count: log.count))
    }
    let error = #expect(throws: DatabaseError.self) { try idle.close() }
    let code = how == "its middle" ? DatabaseError.Code.corrupt : .fileGone
    // It was: by writes that were acknowledged before.
    #expect(error?.message.contains("Nothing was changed") == false)
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(try folder.bytes() == file)
    #expect(FileManager.default.fileExists(atPath: folder.file() + "-wal"))
  }

  /// The program that overwrites a log closes it, and that is what is noticed.
  @Test func aLogThatIsClosedByAnotherProgramIsLookedAt() throws {
    let session = try folder.session()
    try session.set("/a", "1")
    let watch = try #require(ChangeWatch(database: folder.file()))
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file() + "-wal"))
    #expect(!watch.drain())
    try handle.close()
    #expect(watch.drain())
    try session.close()
  }

  /// Another program that begins a log gives it no mark.
  @Test func aLogThatAnotherProgramBeganIsTakenIn() throws {
    try folder.session().close()
    let session = try folder.session()
    try FileEditor.execute("UPDATE meta SET value = value", in: folder.file())
    try session.set("/a", "1")
    let moment = try moment(session, "written")
    #expect(try mixed(moment.file, moment.log, isReadOnly: false) == .success(moment.export))
    try session.close()
  }

  @Test func whatTiesLogsToTheFileIsMendedByARepair() throws {
    try folder.session().close()
    try FileEditor.execute("DELETE FROM log_start", in: folder.file())
    #expect(try !DatabaseCare.check(file: folder.file()).isSound)
    let session = try folder.session()
    try session.set("/a", "1")
    try session.close()
    #expect(try DatabaseCare.repair(file: folder.file()).after?.isSound == true)
    #expect(try folder.session().export() == #"{"a":1}"#)
  }
}
