import Foundation
import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree
import Testing

@testable import RunnelDatabase

private typealias DatabaseError = RunnelDatabase.DatabaseError

/// Damage is never read as sound: a read gives what was written, or an error that names the place.
@Suite struct DamageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a database: `/l` with 90 children, `/m/n` with 60, an index and some priorities.
  private func makeDatabase() throws {
    let session = try folder.session()
    try session.declareIndexes([IndexDefinition(pattern: "/l", child: .root)])
    try session.set(
      "/", #"{"l":\#(largeObject(90)),"m":{"n":\#(largeObject(60, bytes: 99))},"o":1}"#)
    try session.set("/l/k7", #"{".value":"seven",".priority":3}"#)
    try session.close()
  }

  /// Damages the file, and forgets its checksums first if it is to be as one of an older program.
  private func damage(_ sql: String, hasChecksums: Bool = true) throws {
    let forget = "UPDATE node SET checksum = NULL; UPDATE split SET checksum = NULL;"
    try FileEditor.execute((hasChecksums ? "" : forget) + sql, in: folder.file())
  }

  private func expectDamage(
    at place: String, _ what: String, _ read: (DatabaseSession) throws -> Void
  ) throws {
    let session = try folder.session(isReadOnly: true)
    let error = #expect(throws: DatabaseError.self, "\(what)") { try read(session) }
    #expect(error?.code == .corrupt, "\(what)")
    let message = error?.message ?? ""
    #expect(message.contains("damaged at \(place)"), "\(what): \(message)")
    #expect(!message.contains("runnel "), "the library names no command: \(message)")
    #expect(error?.remedy == .repair(file: folder.file()), "\(message)")
    try session.close()
  }

  // MARK: Counts, references, order

  @Test(arguments: [false, true])
  func aSplitNodeThatLostChildrenIsNoShorterList(hasChecksums: Bool) throws {
    try makeDatabase()
    try damage(
      "DELETE FROM node WHERE parent = 2 AND key > x'026b3300'", hasChecksums: hasChecksums)
    let list = try Path("l")
    try expectDamage(at: "/l", "export") { _ = try $0.export() }
    try expectDamage(at: "/l", "export of the list") { _ = try $0.export("/l") }
    try expectDamage(at: "/l", "node") { _ = try $0.node(at: list) }
    for order in [QueryIndex.key, .priority, .value, .child(try Path("a"))] {
      try expectDamage(at: "/l", "rows by \(order)") {
        _ = try $0.rows(Query(list).ordered(by: order), detail: .shallow)
      }
    }
    try expectDamage(at: "/l", "a window larger than what is left") {
      _ = try $0.rows(Query(list).ordered(by: .key).limited(to: 80, from: .last))
    }
    // What is there can be read.
    let session = try folder.session(isReadOnly: true)
    #expect(try session.export("/m/n") == node(largeObject(60, bytes: 99)).exportJSON.jsonText())
    #expect(try session.rows(Query(list).ordered(by: .key).limited(to: 2, from: .first)).count == 2)
  }

  @Test(arguments: [Query.Side.first, .last], [1, 7, 45, 44, 43])
  func pagesOfASplitNodeThatLostChildrenAreNoShorterList(side: Query.Side, count: Int) throws {
    try makeDatabase()
    try damage("DELETE FROM node WHERE parent = 2 AND key = x'026b333300'")
    for order in [QueryIndex.key, .value] {
      try expectDamage(at: "/l", "pages of \(count) by \(order)") { session in
        _ = try session.read { try pages(of: Path("l"), by: order, count, side, $0) }
      }
    }
  }

  @Test(arguments: [Query.Side.first, .last], [1, 7, 45, 90, 91])
  func pagesOfASoundNodeAreAllOfIt(side: Query.Side, count: Int) throws {
    try makeDatabase()
    let session = try folder.session(isReadOnly: true)
    for order in [QueryIndex.key, .value] {
      let keys = try session.read { try pages(of: Path("l"), by: order, count, side, $0) }
      #expect(Set(keys).count == 90, "\(order)")
    }
    try session.close()
  }

  /// The keys of all children, read in pages of which each begins with the last row of the one before.
  private func pages(
    of path: Path, by order: QueryIndex, _ count: Int, _ side: Query.Side, _ reader: any TreeReader
  ) throws -> [RunnelTree.Key] {
    var keys: [RunnelTree.Key] = []
    var slice = RowSlice(try Query(path).ordered(by: order).limited(to: count, from: side))
    while true {
      let page = try reader.rows(of: path, in: slice, detail: .shallow)
      keys += page.map(\.key)
      guard page.count == slice.limit?.count, let end = side == .first ? page.last : page.first
      else { return keys }
      let bound = Query.Bound(end.position, isInclusive: true)
      if side == .first { slice.start = bound } else { slice.end = bound }
      slice.limit = try Query(path).limited(to: count + 1, from: side).limit
    }
  }

  @Test func anIndexThatLostAnEntryIsNoShorterList() throws {
    try makeDatabase()
    try damage("DELETE FROM index_entry WHERE key = x'026b333300'")
    let query = try Query(Path("l")).ordered(by: .value)
    try expectDamage(at: "/l", "the first") { _ = try $0.rows(query.limited(to: 3, from: .first)) }
    try expectDamage(at: "/l", "a range") {
      _ = try $0.rows(query.ending(at: .leaf(.string("z"))))
    }
  }

  @Test func aTreeWithoutItsRootIsNotEmpty() throws {
    try makeDatabase()
    try damage("DELETE FROM node WHERE parent = 0")
    try expectDamage(at: "/", "export") { _ = try $0.export() }
    try expectDamage(at: "/", "node") { _ = try $0.node(at: Path("l/k1")) }
    try expectDamage(at: "/", "summary") { _ = try $0.summary(at: .root) }
    let before = try folder.bytes()
    let session = try folder.session()
    for write in [
      { _ = try session.set("/x", "1") }, { _ = try session.importJSON(largeObject(60)) },
    ] {
      #expect(throws: DatabaseError.self) { try write() }
    }
    try session.close()
    #expect(try folder.bytes() == before)
  }

  @Test func anEmptyDatabaseIsEmpty() throws {
    let session = try folder.session()
    #expect(try session.export() == "null")
    try session.importJSON(largeObject(60), at: "/a")
    try session.set("/", "null")
    #expect(try session.export() == "null")
    try session.importJSON(largeObject(60))
    #expect(try session.summary(at: .root).kind == .children(count: 60))
  }

  @Test(arguments: [
    ("UPDATE node SET split = 77 WHERE split = 2", "/l"), ("DELETE FROM split WHERE id = 2", "/l"),
    ("UPDATE split SET children = 91 WHERE id = 2", "/l"),
    ("UPDATE node SET split = 1 WHERE split = 2", "/l"),
  ])
  func aReferenceThatLeadsNowhereIsTold(sql: String, place: String) throws {
    for hasChecksums in [false, true] {
      try? FileManager.default.removeItem(atPath: folder.file())
      try makeDatabase()
      try damage(sql, hasChecksums: hasChecksums)
      let session = try folder.session(isReadOnly: true)
      for read in [{ _ = try session.export() }, { _ = try session.node(at: Path("l")) }] {
        let error = #expect(throws: DatabaseError.self) { try read() }
        #expect(error?.code == .corrupt, "\(sql)")
      }
      try session.close()
    }
  }

  @Test func anEntryOfAnIndexThatLeadsNowhereIsTold() throws {
    try makeDatabase()
    try damage("DELETE FROM node WHERE parent = 2 AND key = x'026b3000'")
    let query = try Query(Path("l")).ordered(by: .value).limited(to: 3, from: .first)
    try expectDamage(at: "/l/k0", "window by an index") { _ = try $0.rows(query) }
  }

  @Test func anEntryOfAnIndexOutOfOrderIsTold() throws {
    try makeDatabase()
    try damage(
      """
      UPDATE OR IGNORE index_entry SET value = x'00'
      WHERE key = (SELECT max(key) FROM index_entry WHERE key < x'026b3700')
      """)
    let query = try Query(Path("l")).ordered(by: .value).limited(to: 3, from: .first)
    let session = try folder.session(isReadOnly: true)
    let error = #expect(throws: DatabaseError.self) { try session.rows(query) }
    #expect(error?.message.contains("index") == true)
  }

  /// The last child goes with its node; others that a wrong count forgot do not.
  @Test func aCountThatIsTooLowTakesNothingWithIt() throws {
    try makeDatabase()
    try damage("UPDATE split SET children = 1 WHERE id = 2", hasChecksums: false)
    let session = try folder.session()
    #expect(throws: DatabaseError.self) { try session.set("/l/k1", "null") }
    try session.close()
    #expect(
      try FileInspector(folder.file()).number("SELECT count(*) FROM node WHERE parent = 2") == 90)
  }

  // MARK: Checksums

  /// The bytes of the row of `/l/k1` in the file, key and record, each changed in place.
  @Test func everyChangedByteOfARowIsTold() throws {
    try makeDatabase()
    let good = try folder.bytes()
    let row = Data([2, 0x6B, 0x31, 0] + Array(("\"" + String(repeating: "x", count: 100)).utf8))
    let range = try #require(good.range(of: row))
    // After the first byte of the key, which says of what kind it is.
    for offset in [1, 2, 3, 4, 50, 104, 105, 106] {
      var bad = good
      bad[range.lowerBound + offset] ^= 2
      try folder.write(bad)
      try? FileManager.default.removeItem(atPath: folder.file("test.db-shm"))
      try? FileManager.default.removeItem(atPath: folder.file("test.db-wal"))
      let session = try folder.session(isReadOnly: true)
      for (name, read) in [
        ("node", { _ = try session.node(at: Path("l/k1")) }),
        ("summary", { _ = try session.summary(at: Path("l/k1")) }),
        ("export", { _ = try session.export() }),
        (
          "rows",
          { _ = try session.rows(Query(Path("l")).ordered(by: .key).limited(to: 3, from: .first)) }
        ),
      ] {
        let error = #expect(throws: DatabaseError.self, "\(name), byte \(offset)") { try read() }
        #expect(error?.code == .corrupt, "\(name), byte \(offset)")
        #expect(error?.message.contains("/l") == true, "\(error?.message ?? "")")
      }
      try session.close()
    }
  }

  @Test func rowsWithoutAChecksumAreReadAndGetOneWhenTheyAreWritten() throws {
    try makeDatabase()
    try damage("", hasChecksums: false)
    #expect(try DatabaseCare.check(file: folder.file()).uncheckedCount == 1 + 3 + 90 + 1 + 60)
    let session = try folder.session()
    try session.set("/l/k5", "1")
    try session.set("/l/new", "2")
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT count(*) FROM node WHERE checksum IS NOT NULL") == 2)
    #expect(try session.export("/l/k6").isEmpty == false)
    try session.close()
    let export = try folder.session().export()
    _ = try DatabaseCare.compact(file: folder.file())
    #expect(try DatabaseCare.check(file: folder.file()).uncheckedCount == 0)
    #expect(try DatabaseCare.check(file: folder.file()).faults == [])
    #expect(try folder.session().export() == export)
  }

  // MARK: Work on the whole file

  @Test(arguments: [
    "DELETE FROM node WHERE parent = 2 AND key > x'026b3300'", "DELETE FROM node WHERE parent = 0",
    "DELETE FROM index_entry", "UPDATE node SET json = x'31' WHERE key = x'026b3100'",
  ])
  func aDamagedFileIsNotMadeCompact(sql: String) throws {
    try makeDatabase()
    try damage(sql)
    let before = try folder.bytes()
    let error = #expect(throws: DatabaseError.self) {
      try DatabaseCare.compact(file: folder.file())
    }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("It was not made compact") == true)
    #expect(error?.remedy == .repair(file: folder.file()))
    #expect(try folder.bytes() == before)
  }

  @Test(arguments: [1, 2])
  func aDamagedFileIsNotBroughtToThisVersion(version: Int) throws {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/version\(version).sqlite")
    try folder.write(Data(contentsOf: fixture))
    try FileEditor.execute("DELETE FROM node WHERE parent = 2 AND key < x'0261'", in: folder.file())
    try FileEditor.execute("UPDATE split SET children = children + 1", in: folder.file())
    let inspector = try FileInspector(folder.file())
    let rows = try inspector.number("SELECT count(*) FROM node")
    let error = #expect(throws: DatabaseError.self) { try folder.session() }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("It was not brought to a newer format") == true)
    #expect(try inspector.number("PRAGMA user_version") == version)
    #expect(try inspector.number("SELECT count(*) FROM node") == rows)
    // A repair does both.
    #expect(try DatabaseCare.repair(file: folder.file()).after?.isSound == true)
    #expect(try inspector.number("PRAGMA user_version") == Schema.version)
    try folder.session().close()
  }

  // MARK: At random

  /// Flips bytes of a file; every read is right or says that it cannot be.
  @Test(arguments: 0..<4 as Range<UInt64>)
  func flippedBytesAreToldOrHarmless(seed: UInt64) throws {
    try makeDatabase()
    let truth = try folder.session(isReadOnly: true).node(at: .root)
    let good = try folder.bytes()
    var random = SeededRandom(seed: seed)
    for round in 0..<60 {
      var bad = good
      let page = Int.random(in: 1..<good.count / 4096, using: &random) * 4096
      for _ in 0..<Int.random(in: 1..<4, using: &random) {
        bad[page + Int.random(in: 0..<4096, using: &random)] ^= UInt8.random(
          in: 1...255, using: &random)
      }
      for name in ["test.db-wal", "test.db-shm"] {
        // They may not be there.
        try? FileManager.default.removeItem(atPath: folder.file(name))
      }
      try folder.write(bad)
      try compare(with: truth, &random, "seed \(seed), round \(round)")
    }
  }

  /// Deletes rows of a file; what reads all of a place is right or says that it cannot be.
  @Test(arguments: 0..<3 as Range<UInt64>)
  func deletedRowsAreMissed(seed: UInt64) throws {
    try makeDatabase()
    let truth = try folder.session(isReadOnly: true).node(at: .root)
    var random = SeededRandom(seed: seed)
    try folder.copyAside()
    for round in 0..<12 {
      let table = ["node", "split", "node"][Int.random(in: 0..<3, using: &random)]
      let order = table == "split" ? "id" : "parent, key"
      try damage(
        """
        DELETE FROM \(table) WHERE (\(order)) IN
          (SELECT \(order) FROM \(table) ORDER BY \(order)
           LIMIT \(Int.random(in: 1..<5, using: &random)) OFFSET \(Int.random(in: 0..<150, using: &random)))
        """, hasChecksums: Bool.random(using: &random))
      let session = try folder.session(isReadOnly: true)
      for path in try [Path.root, Path("l"), Path("m"), Path("m/n")] {
        try expectTruth("seed \(seed), round \(round), \(path)", truth[path]) {
          try session.node(at: path)
        }
        try expectTruth("seed \(seed), round \(round), \(path)", truth[path].exportJSON.jsonText())
        {
          try session.export(path.description)
        }
      }
      try session.close()
      try folder.putBack()
    }
  }

  private func compare(
    with truth: Node, _ random: inout SeededRandom, _ place: String
  ) throws {
    guard let session = try? folder.session(isReadOnly: true) else { return }
    let list = try Path("l")
    try expectTruth(place, truth) { try session.node(at: .root) }
    try expectTruth(place, truth.exportJSON.jsonText()) { try session.export() }
    for index in [QueryIndex.key, .value, .priority] {
      let query = try Query(list).ordered(by: index)
      let rows = RowSlice(query).rows(among: truth[list].children, detail: .full)
      try expectTruth(place + ", by \(index)", rows) { try session.rows(query) }
    }
    for _ in 0..<20 {
      let path = try list.child(Key("k\(Int.random(in: 0..<95, using: &random))"))
      try expectTruth("\(place), \(path)", truth[path]) { try session.node(at: path) }
    }
    // It may be damaged so that it cannot even be closed well.
    try? session.close()
  }

  /// A read gives what is true, or an error of the database.
  private func expectTruth<Value: Equatable>(
    _ place: String, _ truth: Value, _ read: () throws -> Value
  ) throws {
    do {
      let value = try read()
      #expect(value == truth, "\(place)")
    } catch let error as DatabaseError {
      #expect(!error.message.isEmpty)
    }
  }
}

extension TemporaryFolder {
  /// Keeps a copy of the file.
  fileprivate func copyAside() throws { try write(bytes(), to: "aside.db") }

  /// Puts the copy back in the place of the file.
  fileprivate func putBack() throws {
    for name in ["test.db-wal", "test.db-shm"] {
      // They may not be there.
      try? FileManager.default.removeItem(atPath: file(name))
    }
    try write(bytes("aside.db"))
  }
}
