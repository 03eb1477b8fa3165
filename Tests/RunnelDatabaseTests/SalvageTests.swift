import CFaults
import Foundation
import GRDB
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// A new database has all that can be read of one whose pages are damaged, and nothing else.
@Suite struct SalvageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a database of several pages in each table; returns its export.
  private func makeDatabase() throws -> String {
    let session = try folder.session()
    try session.declareIndexes([IndexDefinition(pattern: "/l", child: .root)])
    try session.set("/", #"{"l":\#(largeObject(300)),"m":{"n":\#(largeObject(90))},"o":1}"#)
    for number in 0..<40 { try session.set("/m/n/k\(number)", #""changed \#(number)""#) }
    let export = try session.export()
    try session.close()
    return export
  }

  /// The leaves of a tree below the places where they stood.
  private func leaves(_ json: JSONValue, _ path: String = "") -> [String: JSONValue] {
    guard case .object(let members) = json else { return [path: json] }
    var all: [String: JSONValue] = [:]
    for member in members {
      all.merge(leaves(member.value, path + "/" + member.name)) { first, _ in first }
    }
    return all
  }

  private func isSound(_ table: String) throws -> Bool {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: folder.file(), configuration: configuration)
    defer { try? queue.close() }
    let lines = try? queue.read { db in
      try String.fetchAll(db, sql: "PRAGMA integrity_check(\(table))")
    }
    return lines == ["ok"]
  }

  private func salvage() throws -> DatabaseSalvage {
    for name in ["new.db", "new.db-wal", "new.db-shm", "new.db-notify"] {
      // It may not be there.
      try? FileManager.default.removeItem(atPath: folder.file(name))
    }
    return try DatabaseCare.salvage(file: folder.file(), to: folder.file("new.db"))
  }

  @Test func aFullDiskOfTheNewFileIsToldOfThat() throws {
    _ = try makeDatabase()
    let faults = try FaultyFile(folder.file("new.db"))
    faults.arm(FAULTS_FULL, at: 5, lasts: true)
    let error = #expect(throws: RunnelDatabase.DatabaseError.self) { try salvage() }
    faults.disarm()
    #expect(error?.code == .diskFull)
    let words = "The disk of \(folder.file("new.db")) is full"
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(throws: (any Error).self) { try folder.bytes("new.db") }
  }

  @Test func theNewFileHasItsNameOnlyWhenItIsWhole() throws {
    _ = try makeDatabase()
    let new = folder.file("new.db")
    // What a run left that was killed.
    for name in ["new.db.salvaged", "new.db.salvaged-wal", "new.db.whole", "new.db.whole-wal"] {
      try Data("half".utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    }
    var isEarly = false
    let outcome = try DatabaseCare.salvage(file: folder.file(), to: new) { _, _ in
      isEarly = isEarly || FileManager.default.fileExists(atPath: new)
      return true
    }
    #expect(!isEarly)
    #expect(outcome.rowCount > 0)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: URL(fileURLWithPath: new).deletingLastPathComponent().path)
    #expect(names.filter { $0.hasPrefix("new.db") } == ["new.db"], "\(names)")
    #expect(try DatabaseCare.check(file: new).isSound)
  }

  @Test func whateverPageIsLostTheOthersAreSaved() throws {
    let export = try makeDatabase()
    let known = leaves(try JSONValue(parsing: export))
    let good = try folder.bytes()
    var (wholeCount, partCount, mostCount) = (0, 0, 0)
    for page in 1..<good.count / 4096 {
      var bad = good
      bad.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
      try folder.write(bad)
      #expect(try !DatabaseCare.check(file: folder.file()).isSound, "page \(page)")
      let outcome = try salvage()
      #expect(try DatabaseCare.check(file: folder.file("new.db")).isSound, "page \(page)")
      let session = try folder.session("new.db", isReadOnly: true)
      let saved = try session.export()
      try session.close()
      if try isSound("node"), try isSound("split") {
        #expect(saved == export, "page \(page)")
        #expect(outcome.repair.recoveredCount == 0 && outcome.repair.before.lostCount == 0)
        wholeCount += 1
        continue
      }
      partCount += 1
      let found = leaves(try JSONValue(parsing: saved)).filter { !$0.key.hasPrefix("/recovered") }
      #expect(found.allSatisfy { known[$0.key] == $0.value }, "page \(page)")
      #expect(!outcome.hasAllPages)
      // What is missing is told: it is elsewhere, or lost.
      let told =
        outcome.repair.before.lostCount + outcome.repair.recoveredCount
        + outcome.repair.before.doubtfulCount
      #expect(found.count == known.count || told > 0, "page \(page)")
      if found.count > known.count / 2 { mostCount += 1 }
    }
    #expect(wholeCount > 5 && partCount > 5 && mostCount > partCount * 3 / 4)
  }

  /// The first page has the header of the file and the list of its tables.
  @Test func fileWithoutItsHeaderIsSalvaged() throws {
    let export = try makeDatabase()
    let known = leaves(try JSONValue(parsing: export))
    var bad = try folder.bytes()
    bad.replaceSubrange(0..<4096, with: Data(count: 4096))
    try folder.write(bad)
    _ = try salvage()
    let session = try folder.session("new.db", isReadOnly: true)
    #expect(leaves(try JSONValue(parsing: session.export())) == known)
    try session.close()
  }

  /// A row that is deleted, and one that is changed, may stand on pages that are free.
  @Test func whatWasDeletedStaysDeleted() throws {
    let session = try folder.session()
    let large = largeObject(300)
    try session.set("/", #"{"l":\#(large),"m":\#(large)}"#)
    try session.set("/m", "null")
    try session.set("/l/only", "1")
    let count = leaves(try JSONValue(parsing: session.export())).count
    try session.close()
    let good = try folder.bytes()
    for page in 1..<good.count / 4096 {
      var bad = good
      bad.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
      try folder.write(bad)
      guard (try? salvage()) != nil else { continue }
      let saved = try folder.session("new.db", isReadOnly: true)
      let found = leaves(try JSONValue(parsing: saved.export()))
      try saved.close()
      #expect(found.count <= count, "page \(page)")
    }
  }

  @Test func fileThatEndsTooEarlyIsSalvagedUpToItsEnd() throws {
    let export = try makeDatabase()
    let known = leaves(try JSONValue(parsing: export))
    let good = try folder.bytes()
    var counts: [Int] = []
    for size in [good.count - 1, good.count - 4096, good.count / 2, 3 * 4096 + 17] {
      try folder.write(good.prefix(size))
      guard (try? salvage()) != nil else {
        counts.append(0)
        continue
      }
      #expect(try folder.bytes() == good.prefix(size), "the damaged file stays as it is")
      #expect(!FileManager.default.fileExists(atPath: folder.file("new.db.whole")))
      #expect(try DatabaseCare.check(file: folder.file("new.db")).isSound)
      let session = try folder.session("new.db", isReadOnly: true)
      let found = leaves(try JSONValue(parsing: session.export()))
      try session.close()
      let placed = found.filter { !$0.key.hasPrefix("/recovered") }
      #expect(placed.allSatisfy { known[$0.key] == $0.value })
      counts.append(found.count)
    }
    let isMost = counts[0] > known.count / 2 && counts[2] > known.count / 4
    #expect(isMost, "\(counts) of \(known.count)")
  }

  @Test func lossThatNothingElseTellsIsTold() throws {
    _ = try makeDatabase()
    var bad = try folder.bytes()
    let count = bad.count / 4096
    // Whatever says how many children there are is lost too.
    for page in [2, 3, 4, count / 2] where page < count {
      bad.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
    }
    try folder.write(bad)
    let outcome = try salvage()
    #expect(!outcome.hasAllPages)
  }

  @Test func theLogOfAnotherFileIsNotUsed() throws {
    let mine = try folder.session()
    try mine.set("/", #"{"mine":\#(largeObject(300))}"#)
    let export = try mine.export()
    try mine.close()
    let other = try folder.session("other.db")
    try other.set("/", #"{"theirs":\#(largeObject(300))}"#)
    try folder.write(folder.bytes("other.db-wal"), to: "test.db-wal")
    try other.close()
    let outcome = try salvage()
    #expect(outcome.hasForeignLog && outcome.hasAllPages && outcome.hasIndexes)
    let saved = try folder.session("new.db", isReadOnly: true)
    #expect(try saved.export() == export)
    try saved.close()
  }

  /// SQLite reads a log up to its first fault and takes the rest for what a crash left.
  @Test func damageOfALogIsTold() throws {
    let first = try folder.session()
    try first.set("/first", "1")
    try first.close()
    let session = try folder.session()
    for number in 0..<30 { try session.set("/k\(number)", "\(number)") }
    let (file, log) = (try folder.bytes(), try folder.bytes("test.db-wal"))
    try session.close()
    func damage(_ change: (inout Data) -> Void) throws -> String? {
      var bad = log
      change(&bad)
      try folder.write(file, to: "bad.db")
      try folder.write(bad, to: "bad.db-wal")
      return LogCheck.damage(ofLogBeside: folder.file("bad.db"))
    }
    #expect(try damage { _ in } == nil)
    #expect(try damage { $0.removeLast(100) } == nil, "a crash may leave that")
    let flipped = try damage { $0[$0.count / 2] ^= 1 }
    #expect(flipped?.contains("writes behind it cannot be read") == true)
    let headless = try damage { $0.replaceSubrange(0..<32, with: Data(count: 32)) }
    #expect(headless?.contains("its header is damaged") == true)
    let report = try DatabaseCare.check(file: folder.file("bad.db"))
    #expect(report.faults.map(\.place).contains { $0.hasSuffix("bad.db-wal") })
  }

  /// Where the frames stand that end the last writes of a log, the newest first.
  private func lastFrames(of log: Data) -> [Int] {
    stride(from: 32, to: log.count, by: 24 + 4096).filter { place in
      log[(place + 4)..<(place + 8)].contains { $0 != 0 }
    }.reversed()
  }

  /// A write, or the end of the last program, would remove what stands behind the damage.
  @Test func aFileWithADamagedLogIsNotOpened() throws {
    let session = try folder.session()
    try session.set("/first", "1")
    for number in 0..<30 { try session.set("/k\(number)", "\(number)") }
    let (file, log) = (try folder.bytes(), try folder.bytes("test.db-wal"))
    try session.close()
    func lay(_ change: (inout Data) -> Void) throws -> Data {
      var bad = log
      change(&bad)
      try? FileManager.default.removeItem(atPath: folder.file("bad.db-shm"))
      try folder.write(file, to: "bad.db")
      try folder.write(bad, to: "bad.db-wal")
      return bad
    }
    let frame = 24 + 4096
    for change: (inout Data) -> Void in [
      { $0[$0.count / 2] ^= 1 }, { $0[40 + frame] ^= 1 },
      { $0.replaceSubrange(0..<32, with: Data(count: 32)) },
      // The last frame of the last write but one: that write had been stored before the last one began.
      { $0[lastFrames(of: $0)[1] + 1000] ^= 1 },
    ] {
      let bad = try lay(change)
      for isReadOnly in [true, false] {
        let error = #expect(throws: RunnelDatabase.DatabaseError.self) {
          _ = try folder.session("bad.db", isReadOnly: isReadOnly)
        }
        #expect(error?.code == .corrupt)
        #expect(error?.remedy == .salvage(file: folder.file("bad.db")))
      }
      let repair = try DatabaseCare.repair(file: folder.file("bad.db"))
      #expect(repair.after == nil)
      #expect(repair.before.faults.map(\.place).contains { $0.hasSuffix("bad.db-wal") })
      #expect(try folder.bytes("bad.db") == file)
      #expect(try folder.bytes("bad.db-wal") == bad)
    }
    // A power failure may leave a last write of which a part was not stored.
    let torn = try lay { $0[$0.count - frame + 40] ^= 1 }
    if try DatabaseCare.check(file: folder.file("bad.db")).isSound == false {
      #expect(try DatabaseCare.repair(file: folder.file("bad.db")).after == nil)
      #expect(try folder.bytes("bad.db-wal") == torn)
    }
    let last = try folder.session("bad.db")
    #expect(try last.export().contains(#""k28":28"#))
    try last.close()
  }

  /// The pages behind a damaged one are read all the same.
  @Test func whatStandsBehindTheDamageOfALogIsSalvaged() throws {
    let session = try folder.session()
    try session.set("/first", largeObject(300))
    for number in 0..<30 { try session.set("/k\(number)", "\(number)") }
    let (file, log) = (try folder.bytes(), try folder.bytes("test.db-wal"))
    let whole = leaves(try JSONValue(parsing: session.export()))
    try session.close()
    let frameSize = 24 + 4096
    let count = (log.count - 32) / frameSize
    #expect(count > 40)
    for frame in stride(from: 0, to: count, by: 9) {
      for offset in [17, 2000] {
        var bad = log
        bad[32 + frame * frameSize + offset] ^= 1
        try folder.write(file, to: "test.db")
        try folder.write(bad, to: "test.db-wal")
        guard let outcome = try? salvage() else {
          #expect(frame < 8, "only the first pages are written once")
          continue
        }
        let new = try folder.session("new.db", isReadOnly: true)
        let found = leaves(try JSONValue(parsing: new.export()))
        try new.close()
        let placed = found.filter { !$0.key.hasPrefix("/recovered") }
        #expect(placed.allSatisfy { whole[$0.key] == $0.value }, "\(frame)")
        // Most pages of the small writes are written again and again; what stood on the damaged one alone
        // is missing.
        if (count / 2..<count - 8).contains(frame) {
          #expect(outcome.logDamage != nil)
          #expect(placed.count >= whole.count - 40, "\(frame)")
        }
      }
    }
  }

  @Test func anEmptiedFileIsSalvagedFromItsLog() throws {
    let session = try folder.session()
    try session.set("/first", #"{"a":1,"b":[2,3]}"#)
    let (export, log) = (try session.export(), try folder.bytes("test.db-wal"))
    try session.close()
    try folder.write(Data(), to: "test.db")
    try folder.write(log, to: "test.db-wal")
    let outcome = try salvage()
    #expect(!outcome.hasAllPages, "nobody knows what the file held")
    #expect(!outcome.hasForeignLog)
    let new = try folder.session("new.db", isReadOnly: true)
    #expect(try new.export() == export)
    try new.close()
    #expect(try folder.bytes("test.db").isEmpty)
    #expect(try folder.bytes("test.db-wal") == log)
  }

  @Test func aFileThatIsThereIsNotWritten() throws {
    _ = try makeDatabase()
    try folder.write(Data("mine".utf8), to: "new.db")
    let error = #expect(throws: RunnelDatabase.DatabaseError.self) {
      try DatabaseCare.salvage(file: folder.file(), to: folder.file("new.db"))
    }
    #expect(error?.code == .cannotOpen)
    #expect(try folder.bytes("new.db") == Data("mine".utf8))
  }

  @Test func whatHoldsNothingLeavesNothing() throws {
    try folder.write(Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
    #expect(throws: RunnelDatabase.DatabaseError.self) { try salvage() }
    #expect(!FileManager.default.fileExists(atPath: folder.file("new.db")))
  }

  @Test func anOlderFileIsSalvagedToo() throws {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/version1")
    try folder.write(Data(contentsOf: fixture.appendingPathExtension("sqlite")))
    _ = try salvage()
    let session = try folder.session("new.db", isReadOnly: true)
    let old = try folder.session(isReadOnly: true)
    #expect(try session.export() == old.export())
    try session.close()
    try old.close()
  }
}
