import Foundation
import Glibc
import RunnelBase
import Testing

@testable import RunnelDatabase

/// Writes that were acknowledged and are not read any more from a damaged log are never missing without a word.
@Suite struct LogDamageTests {
  private static let frameBytes = 24 + 4096

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// What lies there after a writer was killed.
  private struct Left {
    var file: Data
    var log: Data
    var index: Data
    var export: String
    /// What was there before the last write.
    var before: String
  }

  /// The files of a writer that was killed; with all data in the log, or most of it in the file.
  private func killedWriter(isSmall: Bool = true) throws -> Left {
    for suffix in ["", "-wal", "-shm", "-notify"] { unlink(folder.file("test.db\(suffix)")) }
    let session = try folder.session()
    if !isSmall {
      try session.set("/large", largeObject(900))
      try session.checkpoint()
    }
    try session.set("/first", "1")
    for number in 0..<5 { try session.set("/k\(number)", "\(number)") }
    let before = try session.export()
    try session.set("/l", largeObject(60))
    let left = Left(
      file: try folder.bytes(), log: try folder.bytes("test.db-wal"),
      index: try folder.bytes("test.db-shm"), export: try session.export(), before: before)
    try session.close()
    return left
  }

  /// Lays files there as they were left, and opens nothing.
  private func lay(_ left: Left, log: Data? = nil, hasIndex: Bool = true) throws {
    for suffix in ["-wal", "-shm", "-notify"] { unlink(folder.file("test.db\(suffix)")) }
    try folder.write(left.file)
    try folder.write(log ?? left.log, to: "test.db-wal")
    if hasIndex { try folder.write(left.index, to: "test.db-shm") }
  }

  private func read() throws -> String {
    let session = try folder.session(isReadOnly: true)
    defer { try? session.close() }
    return try session.export()
  }

  /// Expects that nobody opens the file, as often as it is tried, and that nothing is changed.
  private func expectDamage(_ words: String, isAtEnd: Bool, _ log: Data, _ what: String) throws {
    let file = try folder.bytes()
    for isReadOnly in [true, false, true] {
      let error = #expect(throws: DatabaseError.self, "\(what)") {
        _ = try folder.session(isReadOnly: isReadOnly)
      }
      #expect(error?.code == .corrupt, "\(what)")
      #expect(error?.message.contains(words) == true, "\(what): \(error?.message ?? "")")
      #expect(error?.remedy == .salvage(file: folder.file()), "\(what)")
      #expect(error?.message.contains("rm \(folder.file())-shm") == isAtEnd, "\(what)")
      let report = try DatabaseCare.check(file: folder.file())
      #expect(report.faults.contains { $0.place.hasSuffix("test.db-wal") }, "\(what)")
      #expect(report.faults.contains { $0.what.contains(words) }, "\(what)")
    }
    #expect(try DatabaseCare.repair(file: folder.file()).after == nil, "\(what)")
    #expect(try folder.bytes() == file, "\(what)")
    #expect(try folder.bytes("test.db-wal") == log, "\(what)")
  }

  /// Salvages the file; returns what is found in its place.
  private func salvage() throws -> [String: String] {
    for suffix in ["", "-wal", "-shm", "-notify"] { unlink(folder.file("new.db\(suffix)")) }
    let outcome = try DatabaseCare.salvage(file: folder.file(), to: folder.file("new.db"))
    #expect(outcome.logDamage != nil)
    let session = try folder.session("new.db", isReadOnly: true)
    defer { try? session.close() }
    guard case .object(let members) = try JSONValue(parsing: session.export()) else { return [:] }
    return Dictionary(
      members.filter { $0.name != "recovered" }.map { ($0.name, $0.value.jsonText()) }
    ) { $1 }
  }

  private func members(_ export: String) throws -> [String: String] {
    guard case .object(let members) = try JSONValue(parsing: export) else { return [:] }
    return Dictionary(members.map { ($0.name, $0.value.jsonText()) }) { $1 }
  }

  // MARK: The header

  /// SQLite takes a log for empty if the checksum of its header is wrong.
  @Test(arguments: [true, false], [true, false])
  func aDamagedHeaderIsNoEmptyLog(isSmall: Bool, hasIndex: Bool) throws {
    let left = try killedWriter(isSmall: isSmall)
    for byte in 0..<32 {
      var bad = left.log
      bad[byte] ^= 1
      try lay(left, log: bad, hasIndex: hasIndex)
      let words = "its header is damaged, so "
      let found = LogCheck.damage(ofLogBeside: folder.file())
      #expect(found?.hasPrefix(words) == true, "byte \(byte): \(found ?? "none")")
      // Each error takes some looks.
      if [3, 10, 16, 31].contains(byte) {
        try expectDamage(words, isAtEnd: false, bad, "byte \(byte)")
      }
    }
  }

  @Test(arguments: [0..<1, 10..<11, 12..<16, 16..<24, 24..<32, 0..<32] as [Range<Int>])
  func whatStandsBehindADamagedHeaderIsSalvaged(bytes: Range<Int>) throws {
    for isSmall in [true, false] {
      let left = try killedWriter(isSmall: isSmall)
      var bad = left.log
      for byte in bytes { bad[byte] ^= 0x5A }
      try lay(left, log: bad)
      #expect(try salvage() == members(left.export), "\(bytes)")
    }
  }

  /// Of a log with a single frame, only the header tells whether it is whole.
  @Test(arguments: [10, 16, 24]) func aDamagedHeaderOfASingleFrameIsTold(byte: Int) throws {
    let left = try killedWriter()
    let whole = left.log.prefix(32 + LogDamageTests.frameBytes)
    var bad = Data(whole)
    // The frame of a write.
    let end = bad.indices.dropFirst(32 + 4).prefix(4)
    let isWrite = bad[end].contains { $0 != 0 }
    bad[byte] ^= 1
    try lay(left, log: bad, hasIndex: false)
    #expect((LogCheck.damage(ofLogBeside: folder.file()) != nil) == isWrite)
  }

  @Test(arguments: [57, 100, 4096, 8192]) func aLogWhoseBeginningIsZeroIsNoEmptyOne(
    count: Int
  ) throws {
    let left = try killedWriter()
    try lay(left, log: Data(count: count) + left.log.dropFirst(count), hasIndex: false)
    #expect(LogCheck.damage(ofLogBeside: folder.file())?.hasPrefix("its header is damaged") == true)
    let error = #expect(throws: DatabaseError.self) { try read() }
    #expect(error?.code == .corrupt)
    // A power failure may leave a log without any content.
    try lay(left, log: Data(count: left.log.count), hasIndex: false)
    #expect(LogCheck.damage(ofLogBeside: folder.file()) == nil)
  }

  // MARK: The end

  /// A frame of the last write is damaged, or the log was cut off before its end.
  @Test func aWriteAtTheEndOfTheLogIsNotMissingWithoutAWord() throws {
    for isSmall in [true, false] {
      let left = try killedWriter(isSmall: isSmall)
      let count = (left.log.count - 32) / LogDamageTests.frameBytes
      for back in [1, 2] {
        var bad = left.log
        bad[32 + (count - back) * LogDamageTests.frameBytes + 2000] ^= 1
        try lay(left, log: bad)
        try expectDamage(
          "its part \(count - back + 1) of \(count) is damaged, so what was written last",
          isAtEnd: true, bad, "\(back) from the end")
        if back == 1 { #expect(try salvage() == members(left.before)) }
      }
      for size in [0, 20, 32, left.log.count - 1, left.log.count - LogDamageTests.frameBytes] {
        let bad = left.log.prefix(size)
        try lay(left, log: Data(bad))
        try expectDamage("it was cut off, and has", isAtEnd: true, Data(bad), "\(size) bytes")
      }
    }
  }

  @Test func whoRemovesTheIndexGoesOnWithWhatWasWrittenBefore() throws {
    let left = try killedWriter()
    for cut in [1, LogDamageTests.frameBytes] {
      try lay(left, log: Data(left.log.dropLast(cut)))
      #expect(throws: DatabaseError.self) { try read() }
      #expect(unlink(folder.file("test.db-shm")) == 0)
      #expect(try read() == left.before)
      let session = try folder.session()
      try session.set("/later", "1")
      try session.close()
      #expect(try DatabaseCare.check(file: folder.file()).isSound)
    }
  }

  /// Without an index nothing tells that the last write was stored: a power failure may leave it so.
  @Test func aTornEndWithoutAnIndexIsNoFault() throws {
    let left = try killedWriter()
    let count = (left.log.count - 32) / LogDamageTests.frameBytes
    var bad = left.log
    bad[32 + (count - 2) * LogDamageTests.frameBytes + 2000] ^= 1
    try lay(left, log: bad, hasIndex: false)
    let report = try DatabaseCare.check(file: folder.file())
    #expect(report.isSound)
    #expect(report.tornLogEnd?.contains("its part \(count - 1) of \(count) is damaged") == true)
    #expect(try read() == left.before)
  }

  // MARK: No false alarm

  @Test func whatAKilledWriterLeavesIsOpened() throws {
    let session = try folder.session()
    var reader: IdleReader?
    for step in 0..<24 {
      switch step % 6 {
      case 0: try session.checkpoint("TRUNCATE")
      case 1: try session.set("/l\(step)", largeObject(70))
      case 2: reader = try IdleReader(folder.file())
      case 3:
        try session.set("/k\(step)", "1")
        try session.checkpoint("PASSIVE")
      case 4:
        try reader?.end()
        try session.checkpoint("RESTART")
      default: try session.set("/k\(step)", "1")
      }
      let other = try TemporaryFolder()
      for suffix in ["", "-wal", "-shm"] {
        try other.write(folder.bytes("test.db\(suffix)"), to: "test.db\(suffix)")
      }
      #expect(LogCheck.lossKnownToIndex(besideFile: other.file()) == nil, "step \(step)")
      let opened = try other.session()
      #expect(try opened.export() == session.export(), "step \(step)")
      try opened.close()
    }
    try session.close()
  }

  @Test func anIndexThatIsNotOfTheLogTellsNothing() throws {
    let session = try folder.session()
    try session.set("/l", largeObject(90))
    let index = try folder.bytes("test.db-shm")
    try session.checkpoint()
    try session.set("/k", "1")
    let later = Left(
      file: try folder.bytes(), log: try folder.bytes("test.db-wal"), index: index,
      export: try session.export(), before: "")
    try session.set("/k", "2")
    let (log, export) = (try folder.bytes("test.db-wal"), try session.export())
    let stale = try folder.bytes("test.db-shm")
    try session.set("/k", "3")
    let newest = Left(
      file: try folder.bytes(), log: try folder.bytes("test.db-wal"), index: stale,
      export: try session.export(), before: "")
    try session.close()
    // One of another log, and an older one of this log.
    for left in [later, newest] {
      try lay(left)
      #expect(try read() == left.export)
    }
    // One that was being written, and one of before the machine was started.
    var torn = newest
    torn.index[16] ^= 0xFF
    try lay(torn, log: log)
    #expect(try read() == export)
    try lay(newest, log: Data(log.dropLast(1)))
    #expect(LogCheck.lossKnownToIndex(besideFile: folder.file()) != nil)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)],
      ofItemAtPath: folder.file("test.db-shm"))
    #expect(LogCheck.lossKnownToIndex(besideFile: folder.file()) == nil)
  }

  /// The other connection may be writing just now.
  @Test func anIndexThatIsInUseIsNotAsked() throws {
    let session = try folder.session()
    try session.set("/k", "1")
    #expect(LogIndex(beside: folder.file()) == nil)
    let other = try folder.session()
    #expect(try other.export() == session.export())
    try other.close()
    // The locks of this process are still there.
    try session.set("/k", "2")
    try session.close()
  }
}
