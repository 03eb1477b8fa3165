import Foundation
import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree
import Testing

@testable import RunnelDatabase

private typealias DatabaseError = RunnelDatabase.DatabaseError

/// Files that are not what they should be: the right word, a readable message, an unchanged file.
@Suite struct DatabaseFaultTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Opens the file and reads all of it; returns the error.
  private func fault(isReadOnly: Bool = false) -> DatabaseError? {
    do {
      let session = try folder.session(isReadOnly: isReadOnly, busyTimeout: .milliseconds(20))
      defer { try? session.close() }
      _ = try session.node(at: .root)
      _ = try session.export()
      _ = try session.listen(
        ListenerID(1), ListenRequest(query: Query(.root), events: .all))
      return nil
    } catch let error as DatabaseError {
      return error
    } catch {
      Issue.record("Not an error of the database: \(error)")
      return nil
    }
  }

  private func expectFault(_ code: DatabaseError.Code, leavesFile: Bool = true) throws {
    let before = try? folder.bytes()
    for isReadOnly in [false, true] {
      let fault = fault(isReadOnly: isReadOnly)
      #expect(fault?.code == code, "\(String(describing: fault))")
      #expect(fault?.message.contains(folder.file()) == true, "\(String(describing: fault))")
      #expect((fault?.message.count ?? 0) < 400)
    }
    let after = try? folder.bytes()
    if leavesFile { #expect(after == before) }
  }

  /// Makes a closed database of a few pages.
  private func makeDatabase() throws {
    let session = try folder.session()
    try session.declareIndexes([IndexDefinition(pattern: "/l", child: .root)])
    try session.set("/", #"{"l":\#(largeObject(120)),"m":{"n":\#(largeObject(60))}}"#)
    try session.close()
  }

  // MARK: No database

  @Test func aTextFileIsNoDatabase() throws {
    try folder.write(Data(String(repeating: "Not a database at all.\n", count: 400).utf8))
    try expectFault(.corrupt)
  }

  @Test func aShortTextFileIsNoDatabase() throws {
    try folder.write(Data("x\n".utf8))
    try expectFault(.corrupt)
  }

  @Test func aFolderIsNoDatabase() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file(), withIntermediateDirectories: false)
    try expectFault(.cannotOpen)
  }

  @Test func aFileInAFolderThatIsNotThereCannotBeOpened() throws {
    let error = #expect(throws: DatabaseError.self) { try folder.session("none/test.db") }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("none/test.db") == true)
  }

  @Test func aFileThatIsNotThereIsNotMadeByReading() throws {
    let error = #expect(throws: DatabaseError.self) { try folder.session(isReadOnly: true) }
    #expect(error?.code == .cannotOpen)
    #expect(!FileManager.default.fileExists(atPath: folder.file()))
  }

  @Test func anEmptyFileBecomesADatabaseUnlessItIsOnlyRead() throws {
    try folder.write(Data())
    #expect(fault(isReadOnly: true)?.code == .cannotOpen)
    #expect(try folder.bytes().isEmpty)
    #expect(fault() == nil)
    #expect(try !folder.bytes().isEmpty)
  }

  // MARK: Another database

  @Test func aDatabaseOfAnotherApplicationIsLeftAlone() throws {
    try FileEditor.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)", in: folder.file())
    try expectFault(.notRunnel)
  }

  @Test(arguments: ["PRAGMA user_version = 3", "PRAGMA application_id = 7"])
  func aFileThatAnotherApplicationMarkedIsLeftAlone(sql: String) throws {
    try FileEditor.execute(sql, in: folder.file())
    try expectFault(.notRunnel)
  }

  /// The log of another application's last writes is that application's to take in.
  @Test func theLogOfAnotherApplicationIsLeftAlone() throws {
    try makeLog(
      """
      PRAGMA journal_mode = WAL; CREATE TABLE t (a);
      INSERT INTO t VALUES (zeroblob(20000))
      """)
    let log = try folder.bytes("test.db-wal")
    #expect(!log.isEmpty)
    try expectFault(.notRunnel)
    #expect(try folder.bytes("test.db-wal") == log)
  }

  @Test func aNewerFormatIsLeftAlone() throws {
    try makeDatabase()
    try FileEditor.execute("PRAGMA user_version = 99", in: folder.file())
    try expectFault(.newerVersion)
    #expect(fault()?.message.contains("99") == true)
  }

  @Test func aNewerFormatWithALogIsLeftAlone() throws {
    try makeDatabase()
    try makeLog("PRAGMA user_version = 99")
    try expectFault(.newerVersion)
  }

  /// Leaves a file whose last writes are in its log, as a process that was killed does.
  private func makeLog(_ sql: String) throws {
    let source = try TemporaryFolder()
    for name in ["test.db", "test.db-wal"] where (try? folder.bytes(name)) != nil {
      try source.write(folder.bytes(name), to: name)
    }
    try FileEditor.whileOpen(source.file(), sql) {
      for name in ["test.db", "test.db-wal"] { try folder.write(source.bytes(name), to: name) }
    }
  }

  @Test func theLogOfAKilledProcessIsTakenIn() throws {
    let source = try TemporaryFolder()
    let session = try source.session()
    try session.set("/", largeObject(60))
    for name in ["test.db", "test.db-wal"] { try folder.write(source.bytes(name), to: name) }
    try session.close()
    #expect(try folder.session().node(at: .root) == node(largeObject(60)))
  }

  @Test func aFileWhoseMakerWasKilledBeforeItHadTablesIsMade() throws {
    try FileEditor.execute("PRAGMA journal_mode = WAL", in: folder.file())
    #expect(try !folder.bytes().isEmpty)
    let session = try folder.session()
    try session.set("/a", "1")
    #expect(try session.export() == #"{"a":1}"#)
  }

  // MARK: Damage

  @Test(arguments: [100, 4096, 5000, 8192, 12_000])
  func aTruncatedFileIsCorrupt(bytes: Int) throws {
    try makeDatabase()
    try folder.write(folder.bytes().prefix(bytes))
    try expectFault(.corrupt)
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func aFlippedBitIsAnErrorOrGoesUnnoticedButNeverACrash(seed: UInt64) throws {
    try makeDatabase()
    let good = try folder.bytes()
    var random = SeededRandom(seed: seed)
    for round in 0..<40 {
      var bad = good
      // Mostly where pages and cells have their heads, for text is most of a file.
      let page = Int.random(in: 0..<good.count / 4096, using: &random) * 4096
      for _ in 0..<Int.random(in: 1..<4, using: &random) {
        let offset = page + Int.random(in: 0..<(round % 2 == 0 ? 120 : 4096), using: &random)
        bad[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      try folder.write(bad)
      let fault = fault()
      let known: [DatabaseError.Code] = [
        .corrupt, .notRunnel, .newerVersion, .storage, .cannotOpen,
      ]
      if let fault { #expect(known.contains(fault.code), "seed \(seed), round \(round): \(fault)") }
      for name in ["test.db-wal", "test.db-shm", "test.db-notify"] {
        try? FileManager.default.removeItem(atPath: folder.file(name))
      }
    }
  }

  @Test(arguments: [
    "UPDATE node SET json = 'x' WHERE split IS NULL",
    "UPDATE node SET json = x'00' WHERE split IS NULL",
    "UPDATE node SET json = 5 WHERE split IS NULL",
    "UPDATE node SET json = NULL WHERE split IS NULL",
    "UPDATE node SET key = 'text' || key WHERE parent > 1",
    "UPDATE node SET key = 7 WHERE parent > 1",
    "UPDATE node SET split = 'x' WHERE split IS NOT NULL",
    "UPDATE node SET split = x'01' WHERE split IS NOT NULL",
    "UPDATE node SET split = 1 WHERE split IS NOT NULL",
    "UPDATE node SET split = 77 WHERE split IS NOT NULL",
    "UPDATE split SET children = 'x'", "UPDATE split SET children = x'00'",
    "UPDATE split SET children = -1", "UPDATE split SET priority = x'00'",
    "UPDATE split SET priority = 'true'", "DELETE FROM split", "DROP TABLE split",
    "DROP TABLE node",
    "UPDATE index_definition SET child = 'a.b'",
    "DROP TABLE index_definition", "DROP TABLE change",
  ])
  func nonsenseInTheTablesIsAnError(sql: String) throws {
    try makeDatabase()
    try FileEditor.executeIgnoringConflicts(sql, in: folder.file())
    let fault = fault()
    let known: [DatabaseError.Code] = [.corrupt, .storage]
    if let fault { #expect(known.contains(fault.code), "\(fault)") }
    guard let session = try? folder.session() else { return }
    // Whatever writing comes to, it comes to an end.
    _ = try? session.set("/l/k5", "1")
    _ = try? session.set("/m/n/k5/x", "null")
    _ = try? session.set("/m", "null")
    _ = try? session.set("/", "null")
    _ = try? session.importJSON(largeObject(60), at: "/m/n")
  }

  @Test func damageFoundByAListenerIsCalledDamage() throws {
    try makeDatabase()
    try FileEditor.execute("UPDATE node SET json = 'x' WHERE parent = 2", in: folder.file())
    let session = try folder.session()
    let error = #expect(throws: DatabaseError.self) {
      try session.listen(ListenerID(1), ListenRequest(query: Query(Path("l")), events: .all))
    }
    #expect(error?.code == .corrupt)
    #expect(try session.summary(at: Path("l")).kind == .children(count: 120))
  }

  // MARK: Permissions, locks, space

  @Test func aReadOnlySessionRefusesWritesAndLeavesTheFile() throws {
    try makeDatabase()
    let before = try folder.bytes()
    let session = try folder.session(isReadOnly: true)
    for body in [
      { _ = try session.set("/a", "1") }, { try session.importJSON(largeObject(60)) },
      { _ = try session.push(1, to: Path("l")) },
      { try session.declareIndexes([IndexDefinition(pattern: "/x", child: .root)]) },
    ] {
      let error = #expect(throws: DatabaseError.self) { try body() }
      #expect(error?.code == .readOnly)
      #expect(error?.message.contains(folder.file()) == true)
    }
    #expect(try session.summary(at: Path("l")).kind == .children(count: 120))
    try session.close()
    #expect(try folder.bytes() == before)
  }

  /// The tests may run as root, whom no permission stops: a thread of its own becomes nobody.
  @Test func aFileThatMayNotBeWrittenSaysSo() throws {
    try makeDatabase()
    let before = try folder.bytes()
    for (mode, folderMode) in [(0o444, 0o755), (0o444, 0o777), (0o644, 0o755)] {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: folder.file())
      try FileManager.default.setAttributes(
        [.posixPermissions: folderMode], ofItemAtPath: folder.path)
      let code = try Unprivileged.run {
        do {
          let session = try folder.session(busyTimeout: .milliseconds(20))
          try session.set("/a", "1")
          return nil as DatabaseError.Code?
        } catch { return (error as? DatabaseError)?.code }
      }
      #expect(code == .readOnly || code == .cannotOpen, "\(String(describing: code))")
      #expect(try folder.bytes() == before)
    }
  }

  /// A reader leaves the index of the log behind, with the permissions that the database had then.
  @Test(arguments: ["-shm", "-wal"])
  func aFileThatWasReadWhileItCouldNotBeWrittenCanBeWrittenAfterwards(suffix: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
    let folder = folder
    try Unprivileged.run {
      try folder.session().set("/a", "1")
      #expect(chmod(folder.file(), 0o444) == 0)
      let reader = try folder.session(isReadOnly: true)
      #expect(try reader.export() == #"{"a":1}"#)
      try reader.close()
      #expect(FileManager.default.fileExists(atPath: folder.file() + suffix))
      #expect(chmod(folder.file(), 0o644) == 0)
      let session = try folder.session()
      try session.set("/a", "2")
      try session.close()
      #expect(try folder.session(isReadOnly: true).export() == #"{"a":2}"#)
    }
  }

  // MARK: What the system says

  @Test(arguments: [
    (ResultCode.SQLITE_CANTOPEN, EMFILE, "too many open files (limit "),
    (.SQLITE_CANTOPEN, ENFILE, "too many files are open in the whole system"),
    (.SQLITE_CANTOPEN, EACCES, "may not be read or written"),
    (.SQLITE_CANTOPEN, ELOOP, "(error \(ELOOP))"), (.SQLITE_CANTOPEN, ENOENT, "the folder exists"),
    (.SQLITE_IOERR, EMFILE, "too many open files (limit "),
    (.SQLITE_IOERR_READ, EIO, "failed to read it"),
    (.SQLITE_IOERR_WRITE, EIO, "failed to write it"),
    (.SQLITE_IOERR_FSYNC, EIO, "failed to bring it to the disk"),
    (.SQLITE_IOERR_SHMSIZE, EIO, "failed to share its log"),
    (.SQLITE_IOERR, EIO, "failed to read or write it"), (.SQLITE_NOMEM, EIO, "not enough memory"),
  ])
  func failuresOfTheSystemAreToldAsWhatTheyAre(code: ResultCode, cause: Int32, words: String) {
    let error = DatabaseError(
      sqlite: GRDB.DatabaseError(resultCode: code), file: "/x/a.db", cause: cause)
    #expect(error.message.contains(words), "\(error.message)")
    #expect(error.message.contains("/x/a.db"))
    #expect(error.message.hasSuffix("(SQLite \(code.rawValue))"), "\(error.message)")
  }

  @Test func aFileThatMayNotBeReadSaysSo() throws {
    try makeDatabase()
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file())
    let code = try Unprivileged.run {
      #expect(throws: DatabaseError.self) { try folder.session() }?.code
    }
    #expect(code == .cannotOpen || code == .readOnly)
  }

  @Test func aLockedFileIsWaitedForAndThenSaysSo() throws {
    try makeDatabase()
    let session = try folder.session(busyTimeout: .milliseconds(30))
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(Path("a")), events: .all))
    try FileEditor.whileLocked(folder.file()) {
      let error = #expect(throws: DatabaseError.self) { try session.set("/a", "1") }
      #expect(error?.code == .locked)
      #expect(error?.message.contains(folder.file()) == true)
      #expect(throws: DatabaseError.self) { try session.importJSON(largeObject(60), at: "/a") }
      // Reading and opening go on.
      let count = try session.summary(at: Path("l")).kind
      #expect(count == .children(count: 120))
      let other = try folder.session(busyTimeout: .zero).export("/a")
      #expect(other == "null")
    }
    #expect(try session.set("/a", "1").map(\.event.text) == ["value=1"])
  }

  @Test func aFullDiskUndoesTheWriteAndSaysSo() throws {
    try makeDatabase()
    let session = try folder.session()
    let root = try session.node(at: .root)
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(.root), events: .all))
    try session.limitPages(to: 1)
    for body in [
      { _ = try session.set("/new", largeObject(400)) },
      { _ = try session.importJSON(largeObject(4000), at: "/new") },
    ] {
      let error = #expect(throws: DatabaseError.self) { try body() }
      #expect(error?.code == .diskFull)
      #expect(error?.message.contains(folder.file()) == true)
      #expect(try session.node(at: .root) == root)
    }
    #expect(try session.catchUp().isEmpty)
    #expect(try FileInspector(folder.file()).report().faults == [])
    try session.limitPages(to: 1_000_000)
    #expect(try session.set("/new", "1").count == 2)
  }

  @Test func manyWhoMakeTheSameFileAtOnceAllSucceed() async throws {
    for round in 0..<5 {
      let file = folder.file("round\(round).db")
      try await withThrowingTaskGroup { group in
        for seed in 0..<6 as Range<UInt64> {
          group.addTask {
            let session = try DatabaseSession(
              file: file,
              // A disk that is slow just then must not look like a lock that is never given back.
              environment: DatabaseEnvironment(
                now: { 0 }, random: SeededRandom(seed: seed), busyTimeout: .seconds(120)))
            _ = try session.write(.set(Path("k\(seed)"), 1))
            try session.close()
          }
        }
        try await group.waitForAll()
      }
      let session = try folder.session("round\(round).db")
      #expect(try session.summary(at: .root).kind == .children(count: 6))
    }
  }
}
