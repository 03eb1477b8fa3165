import Foundation
import Glibc
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// The file goes while it is open: nothing is called saved from then on.
@Suite struct FileLossTests {
  private let database: DeepDatabase

  init() throws { database = try DeepDatabase() }

  private func expectGone(_ error: (any Error)?, _ way: WayToLose) {
    let error = error as? DatabaseError
    #expect(error?.code == .fileGone, "\(way): \(String(describing: error))")
    #expect(error?.message.contains(database.file) == true, "\(way)")
    #expect((error?.message.count ?? 0) < 600)
  }

  @Test(arguments: WayToLose.allCases)
  func noWriteIsAcknowledgedAfterTheFileWent(way: WayToLose) throws {
    let session = try database.filledSession()
    try way.lose(database.file)
    for _ in 0..<2 {
      expectGone(#expect(throws: DatabaseError.self) { try session.set("/d", "1") }, way)
      expectGone(#expect(throws: DatabaseError.self) { try session.push(1, to: .root) }, way)
      expectGone(#expect(throws: DatabaseError.self) { try session.importJSON("1", at: "/e") }, way)
      expectGone(
        #expect(throws: DatabaseError.self) {
          try session.declareIndexes([IndexDefinition(pattern: "/l", child: .root)])
        }, way)
    }
    expectGone(session.fileLoss, way)
    #expect(throws: Never.self) { try session.close() }
  }

  @Test(arguments: WayToLose.allCases, [false, true])
  func itIsFoundWithoutAWrite(way: WayToLose, isReadOnly: Bool) throws {
    let writer = try database.filledSession()
    let session = try database.session(isReadOnly: isReadOnly)
    #expect(try session.catchUp().isEmpty)
    try way.lose(database.file)
    expectGone(#expect(throws: DatabaseError.self) { try session.catchUp() }, way)
    expectGone(#expect(throws: DatabaseError.self) { try session.checkFile() }, way)
    expectGone(#expect(throws: DatabaseError.self) { try writer.catchUp() }, way)
  }

  @Test(arguments: WayToLose.allCases.filter { !$0.losesPages })
  func whatIsOpenIsStillReadAndSavedElsewhere(way: WayToLose) throws {
    let session = try database.filledSession()
    let before = try session.export()
    try way.lose(database.file)
    #expect(throws: DatabaseError.self) { try session.catchUp() }
    #expect(try session.export() == before)
    let copy = database.folder.file("copy.db")
    let bytes = try session.saveCopy(to: copy)
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy)).count == bytes)
    try session.close()
    let saved = try database.folder.session("copy.db")
    #expect(try saved.export() == before)
    try saved.set("/d", "1")
    try saved.close()
    #expect(try DatabaseCare.check(file: copy).isSound)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: database.folder.path)
        .allSatisfy { !$0.hasSuffix(".part") })
  }

  /// Writes into the file itself, as `cp` does: the name leads to the same file with other content.
  private func writeOver(_ content: Data) throws {
    try database.folder.write(content, to: database.name)
    // The time of a file is not exact: two writes may have the same.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 10)], ofItemAtPath: database.file)
  }

  @Test(arguments: [false, true])
  func aFileWithOtherContentIsNotWritten(hasLog: Bool) throws {
    let first = try database.session()
    try first.set("/a", largeObject(200))
    try first.close()
    let earlier = try database.folder.bytes(database.name)
    let second = try database.session(seed: 2)
    try second.set("/b", "1")
    try second.close()
    let session = try database.session(seed: 3)
    if hasLog {
      try session.set("/c", "1")
      try session.checkpoint("PASSIVE")
    }
    try session.checkFile()
    try writeOver(earlier)
    for _ in 0..<2 {
      let error = #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
      #expect(error?.code == .fileGone)
      #expect(error?.message.contains("overwritten while it was open") == true)
    }
    #expect(throws: DatabaseError.self) { try session.catchUp() }
    try session.close()
    #expect(try database.folder.bytes(database.name) == earlier)
  }

  @Test(arguments: [false, true])
  func aFileWithTheSameContentIsWritten(hasLog: Bool) throws {
    let first = try database.session()
    try first.set("/a", largeObject(200))
    try first.close()
    let session = try database.session(seed: 2)
    if hasLog {
      try session.set("/c", "1")
      try session.checkpoint("PASSIVE")
    }
    try writeOver(try database.folder.bytes(database.name))
    try session.set("/d", "1")
    try session.checkFile()
    try session.close()
    #expect(try DatabaseCare.check(file: database.file).isSound)
  }

  /// What the name leads to now is somebody else's.
  @Test func aSessionMayBeClosedTwice() throws {
    let session = try database.filledSession()
    try session.set("/d", "1")
    for _ in 0..<2 { try session.close() }
  }

  @Test func aFileThatTookThePlaceIsLeftAlone() throws {
    let session = try database.filledSession()
    try FileEditor.execute("CREATE TABLE t (a)", in: database.folder.file("other.db"))
    let other = try database.folder.bytes("other.db")
    #expect(rename(database.folder.file("other.db"), database.file) == 0)
    #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
    try session.close()
    #expect(try database.folder.bytes(database.name) == other)
  }

  @Test func aLogThatTookThePlaceIsLeftAlone() throws {
    let session = try database.filledSession()
    let file = try database.folder.bytes(database.name)
    let other = Data("somebody's".utf8)
    try database.folder.write(other, to: "other")
    #expect(rename(database.folder.file("other"), database.file + "-wal") == 0)
    #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
    try session.close()
    #expect(try database.folder.bytes(database.name + "-wal") == other)
    #expect(try database.folder.bytes(database.name) == file)
  }

  /// Whoever deletes the log alone loses nothing where somebody has it open.
  @Test func aLogThatWasDeletedIsPutIntoTheFile() throws {
    let session = try database.filledSession()
    let before = try session.export()
    #expect(unlink(database.file + "-wal") == 0)
    let error = #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
    #expect(error?.message.contains("put into") == true, "\(String(describing: error))")
    try session.close()
    let next = try database.session()
    #expect(try next.export() == before)
    try next.set("/d", "1")
  }

  /// The log is whole: whoever opens the file next finds all of it, and what others wrote meanwhile.
  @Test func withoutItsIndexTheLogIsKept() throws {
    let session = try database.filledSession()
    let before = try session.export()
    #expect(unlink(database.file + "-shm") == 0)
    #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
    try session.close()
    #expect(try database.session().export() == before)
  }

  /// An access to what was cut off would end the process by SIGBUS.
  @Test func anIndexThatIsCutOffUnderSeveralConnectionsEndsNoProcess() throws {
    let sessions = try [database.filledSession(), database.session(seed: 2)]
    let before = try sessions[0].export()
    #expect(truncate(database.file + "-shm", 0) == 0)
    for session in sessions {
      #expect(try session.export() == before)
      let error = #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
      #expect(error?.message.contains("-shm, the index of the log") == true)
      #expect(error?.message.contains("was cut off while it was open") == true)
    }
    for session in sessions { try session.close() }
    let next = try database.session(seed: 3)
    #expect(try next.export() == before)
    try next.set("/d", "1")
  }

  /// SQLite fills the missing part with zeros, and reads the old pages of the file then.
  @Test(arguments: [100, 4096, 16_384, 20_000])
  func nobodyOpensAnIndexOfWhichAPartWasCutOff(byteCount: Int) throws {
    let sessions = [try database.filledSession(), try database.session(seed: 2)]
    let before = try sessions[0].export()
    #expect(truncate(database.file + "-shm", byteCount) == 0)
    for isReadOnly in [true, false, false] {
      let error = #expect(throws: DatabaseError.self) {
        try database.session(isReadOnly: isReadOnly, seed: 4).close()
      }
      #expect(error?.message.contains("-shm, the index of the log") == true)
      #expect(error?.message.contains("was cut off while it was open") == true)
    }
    // Who had it open tells of it at the end.
    for session in sessions { #expect(throws: DatabaseError.self) { try session.close() } }
    let next = try database.session(seed: 3)
    #expect(try next.export() == before)
    try next.set("/d", "1")
  }

  /// As another program does that opens the file.
  @Test func anIndexThatWasFilledUpWithZerosIsFound() throws {
    let session = try database.filledSession()
    let before = try session.export()
    #expect(truncate(database.file + "-shm", 16_384) == 0)
    #expect(truncate(database.file + "-shm", 32_768) == 0)
    let error = #expect(throws: DatabaseError.self) { try database.session(seed: 2).close() }
    #expect(error?.message.contains("was cut off while it was open") == true)
    #expect(throws: DatabaseError.self) { try session.close() }
    #expect(try database.session(seed: 3).export() == before)
  }

  /// A program that is killed while it makes the index leaves one of an odd size.
  @Test func anIndexThatNobodyHasOpenIsMadeAnew() throws {
    let session = try database.filledSession()
    let before = try session.export()
    try session.close()
    try Data(count: 4096).write(to: URL(fileURLWithPath: database.file + "-shm"))
    #expect(try database.session(seed: 2).export() == before)
  }

  @Test func whereItWentIsSaid() throws {
    var session = try database.filledSession()
    let old = database.file + ".old"
    #expect(rename(database.file, old) == 0)
    var error = #expect(throws: DatabaseError.self) { try session.checkFile() }
    #expect(error?.message.contains("moved to \(old)") == true)
    #expect(error?.message.contains("rename \(database.file)-wal to \(old)-wal") == true)
    try session.close()
    #expect(rename(database.file + "-wal", old + "-wal") == 0)
    let moved = try database.folder.session(database.name + ".old")
    #expect(try moved.export("/b") == #"{"c":1}"#)
    try moved.close()

    session = try database.filledSession()
    let folder = database.folder
    #expect(rename(folder.file("above"), folder.file("elsewhere")) == 0)
    error = #expect(throws: DatabaseError.self) { try session.checkFile() }
    let place = folder.file("elsewhere/below/test.db")
    #expect(error?.message.contains("open \(place)") == true, "\(String(describing: error))")
    try session.close()
    #expect(try folder.session("elsewhere/below/test.db").export("/b") == #"{"c":1}"#)
  }

  /// While its name led elsewhere, others may have written the file.
  @Test func aFileThatComesBackIsNotWrittenAnyMore() throws {
    let session = try database.filledSession()
    #expect(rename(database.file, database.file + ".old") == 0)
    #expect(throws: DatabaseError.self) { try session.checkFile() }
    #expect(rename(database.file + ".old", database.file) == 0)
    expectGone(#expect(throws: DatabaseError.self) { try session.set("/d", "1") }, .fileMovedAway)
    try session.close()
    #expect(try database.session().export("/d") == "null")
  }

  @Test(arguments: [["", "-wal", "-shm"], ["", "-shm", "-wal"], ["-wal", "-shm", ""]])
  func filesThatComeBackInAnyOrderAreWrittenAgain(order: [String]) throws {
    let session = try database.filledSession()
    let (file, old) = (database.file, database.file + ".old")
    for suffix in order { #expect(rename(file + suffix, old + suffix) == 0) }
    #expect(throws: DatabaseError.self) { try session.checkFile() }
    #expect(session.takeLossNews() != nil)
    for suffix in order {
      if case .fileBack? = session.takeReturnNews() { Issue.record("\(suffix) is not there yet") }
      #expect(rename(old + suffix, file + suffix) == 0)
    }
    guard case .fileBack? = session.takeReturnNews() else {
      Issue.record("all are there")
      return
    }
    try session.set("/d", "1")
    try session.close()
    #expect(try database.session().export("/d") == "1")
  }

  @Test func aFileThatIsBackWithoutItsLogWaitsForThatLogOnly() throws {
    let session = try database.filledSession()
    let (file, old) = (database.file, database.file + ".old")
    for suffix in ["", "-wal"] { #expect(rename(file + suffix, old + suffix) == 0) }
    #expect(throws: DatabaseError.self) { try session.checkFile() }
    #expect(session.takeLossNews() != nil)
    #expect(rename(old, file) == 0)
    guard case .fileGone(let error)? = session.takeReturnNews() else {
      Issue.record("what is missing is not told")
      return
    }
    #expect(error.message.contains("-wal: put that back, too"), "\(error.message)")
    #expect(session.takeReturnNews() == nil, "it is told once")
    // Somebody opened the file, and began a log.
    try Data("another".utf8).write(to: URL(fileURLWithPath: file + "-wal"))
    guard case .fileGone(let told)? = session.takeReturnNews() else {
      Issue.record("another log is not told")
      return
    }
    #expect(told.message.contains("open it again"), "\(told.message)")
  }

  /// What was in the log alone is lost here, too.
  @Test func aLogThatWasCutOffIsToldAsSuch() throws {
    let session = try database.filledSession()
    #expect(truncate(database.file + "-wal", 0) == 0)
    for _ in 0..<2 {
      let error = #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
      #expect(error?.code == .fileGone && error?.lost == .content, "\(String(describing: error))")
      #expect(error?.message.contains("-wal, the log of") == true)
      #expect(error?.message.contains("export what is still shown") == true)
    }
  }

  /// Another program reads the log, in which nothing is any more, before it has noticed that.
  @Test func aReadOfALogThatWasCutOffTellsTheLoss() throws {
    let session = try database.filledSession()
    let other = try database.session(seed: 2)
    try other.set("/e", "1")
    #expect(truncate(database.file + "-wal", 0) == 0)
    let error = #expect(throws: DatabaseError.self) { try session.catchUp() }
    #expect(error?.code == .fileGone && error?.lost == .content, "\(String(describing: error))")
  }

  @Test func aLinkThatLeadsElsewhereIsALoss() throws {
    _ = try database.filledSession()
    let link = database.folder.file("link.db")
    #expect(symlink(database.file, link) == 0)
    let session = try database.folder.session("link.db")
    try session.set("/d", "1")
    #expect(unlink(link) == 0)
    #expect(symlink(database.folder.file("other.db"), link) == 0)
    let error = #expect(throws: DatabaseError.self) { try session.set("/d", "2") }
    #expect(error?.code == .fileGone)
    #expect(error?.message.contains("open \(database.file)") == true)
  }

  /// Each name would have a log of its own.
  @Test func aFileWithAnotherNameIsNotWritten() throws {
    try database.filledSession().close()
    let other = database.folder.file("other.db")
    #expect(link(database.file, other) == 0)
    for open in [{ try database.session() }, { try database.folder.session("other.db") }] {
      let error = #expect(throws: DatabaseError.self) { try open() }
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains("has 2 names") == true, "\(error?.message ?? "")")
    }
    #expect(unlink(other) == 0)
    let session = try database.session()
    try session.set("/d", "1")
    try session.close()
  }

  @Test func allLinksToAFileLeadToOneBeacon() throws {
    try database.filledSession().close()
    let name = database.folder.file("link.db")
    #expect(symlink(database.file, name) == 0)
    #expect(
      ChangeBeacon.path(ofDatabase: name) == ChangeBeacon.path(ofDatabase: database.file))
    #expect(ChangeBeacon.path(ofDatabase: "/none/a.db") == "/none/a.db-notify")
    // A name without a folder is one in the current folder, where the tests begin.
    #expect(ChangeWatch(database: "Package.swift") != nil)
  }

  /// The last moment at which the file may go, and the write was done.
  @Test func aFileThatGoesDuringTheCommitIsFoundBeforeItIsAcknowledged() throws {
    let session = try database.filledSession()
    let file = database.file
    let observer = try session.whileCommitting { unlink(file) }
    expectGone(#expect(throws: DatabaseError.self) { try session.set("/d", "1") }, .fileDeleted)
    #expect(access(file, F_OK) != 0)
    withExtendedLifetime(observer) {}
  }

  /// Files that become shorter and longer as they should.
  @Test func compactionAndCheckpointsOfOthersAreNoLoss() throws {
    let session = try database.filledSession()
    for round in 0..<3 {
      let other = try database.session(seed: UInt64(round) + 7)
      try other.importJSON(largeObject(3000), at: "/large")
      try other.set("/large", "null")
      try other.close()
      _ = try DatabaseCare.compact(file: database.file)
      try session.set("/d", "\(round)")
      #expect(try session.catchUp().isEmpty)
    }
    #expect(session.fileLoss == nil)
  }

  @Test func aCopyReplacesNothing() throws {
    let session = try database.filledSession()
    let copy = database.folder.file("copy.db")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: copy))
    let error = #expect(throws: DatabaseError.self) { try session.saveCopy(to: copy) }
    #expect(error?.code == .refused)
    #expect(try database.folder.bytes("copy.db") == Data("mine".utf8))
    let absent = #expect(throws: DatabaseError.self) {
      try session.saveCopy(to: database.folder.file("none/copy.db"))
    }
    #expect(absent?.code == .cannotOpen)
    let stopped = #expect(throws: DatabaseError.self) {
      try session.saveCopy(to: database.folder.file("stopped.db"), isWanted: { false })
    }
    #expect(stopped?.code == .cancelled)
    #expect(access(database.folder.file("stopped.db"), F_OK) != 0)
    try session.set("/d", "1")
  }

  /// The log of those who have the file open is not the one beside it: to write there would mix the two.
  @Test func aFileWhoseOpenLogWasDeletedIsNotOpenedByOthers() throws {
    let session = try database.filledSession()
    let before = try session.export()
    #expect(unlink(database.file + "-wal") == 0)
    for isReadOnly in [true, false] {
      let error = #expect(throws: DatabaseError.self) {
        try database.session(isReadOnly: isReadOnly)
      }
      #expect(error?.code == .fileGone, "\(String(describing: error))")
    }
    #expect(throws: DatabaseError.self) { try session.set("/d", "1") }
    let copy = database.folder.file("copy.db")
    try session.saveCopy(to: copy)
    try session.close()
    #expect(try database.folder.session("copy.db").export() == before)
  }
}
