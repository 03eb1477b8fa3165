import Foundation
import Logging
import RunnelBase
import RunnelDatabase
@testable import RunnelServer
import RunnelTree
import TestSupport
import Testing

@Suite struct BackupTests {
  /// A folder with a database `chat.db`, removed at the end.
  private final class Place {
    let folder: String
    var file: String { folder + "/chat.db" }
    var backups: String { folder + "/backups" }

    init() throws {
      folder = FileManager.default.temporaryDirectory.path + "/runnel-backup-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try OtherProcess.write(["a": 1], to: file)
    }

    deinit {
      // Remaining files are in the folder for temporary files.
      try? FileManager.default.removeItem(atPath: folder)
    }

    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }

    func names(_ path: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Returns the value at the root of a database.
    func value(_ file: String) throws -> String {
      let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
      var bytes: [UInt8] = []
      try session.exportJSON(.root, layout: .compact) { bytes += $0 }
      try session.close()
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static let now: Int64 = 1_764_000_000_123

  @Test func aBackupHasTheDatabaseAndTheFilesBesideIt() throws {
    let place = try Place()
    try place.write("{\"rules\":{}}", "chat.rules.json")
    try place.write("old", "chat.db-undo-7.json")
    try place.write("other", "chatter.rules.json")
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: BackupTests.now)
    #expect(made.path == place.backups + "/chat-2025-11-24T16-00-00Z")
    #expect(
      try place.names(made.path) == [
        "backup.json", "chat.db", "chat.db-undo-7.json", "chat.rules.json",
      ])
    #expect(try place.value(made.path + "/chat.db") == "{\"a\":1}")
    let again = try DatabaseBackup(place.file).make(in: place.backups, now: BackupTests.now)
    #expect(again.path == made.path + "-2")
    for path in [made.path, made.path + "/chat.db", made.path + "/chat.rules.json"] {
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o077 == 0, "\(path)")
    }
  }

  @Test func aBackupIsMadeWhileOthersWrite() throws {
    let place = try Place()
    let writer = try DatabaseSession(file: place.file, environment: .system)
    _ = try writer.write(.update(.root, [JSONMember("b", 2)]))
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: BackupTests.now)
    _ = try writer.write(.update(.root, [JSONMember("c", 3)]))
    #expect(try place.value(made.path + "/chat.db") == "{\"a\":1,\"b\":2}")
    try writer.close()
  }

  @Test func theNewestBackupsOfEachDatabaseStay() throws {
    let place = try Place()
    try OtherProcess.write(["x": 1], to: place.folder + "/other.db")
    let other = try DatabaseBackup(place.folder + "/other.db")
      .make(in: place.backups, keep: 1, now: 0)
    var paths: [String] = []
    for number in 0..<4 {
      let now = BackupTests.now + Int64(number) * 1000
      paths.append(
        try DatabaseBackup(place.file).make(in: place.backups, keep: 2, now: now).path)
    }
    let source = try DatabaseBackup(place.file).source()
    #expect(try BackupFolder(place.backups).backups(of: source).map(\.path) == paths.suffix(2))
    #expect(FileManager.default.fileExists(atPath: other.path))
    #expect(try place.names(place.backups).count == 3)
  }

  /// Databases with one file name in several folders: new ones, and a copy, which has the same id.
  @Test func databasesWithOneFileNameHaveBackupsOfTheirOwn() throws {
    let place = try Place()
    var files = [place.file]
    for name in ["b", "c"] {
      try FileManager.default.createDirectory(
        atPath: place.folder + "/" + name, withIntermediateDirectories: true)
      files.append(place.folder + "/" + name + "/chat.db")
    }
    try OtherProcess.write(["b": 1], to: files[1])
    try FileManager.default.copyItem(atPath: files[0], toPath: files[2])
    for now in [BackupTests.now, BackupTests.now + 1000] {
      for file in files {
        _ = try DatabaseBackup(file).make(in: place.backups, keep: 1, now: now)
      }
    }
    let kept = try BackupFolder(place.backups).backups()
    #expect(kept.count == 3)
    #expect(kept.allSatisfy { $0.1.time == BackupTests.now + 1000 })
    #expect(kept.compactMap(\.1.source?.id).count == 3)
    #expect(Set(kept.compactMap(\.1.source?.id)).count == 2)
    let values = try kept.map { try place.value($0.path + "/chat.db") }
    #expect(values.sorted() == ["{\"a\":1}", "{\"a\":1}", "{\"b\":1}"])
    let new = place.folder + "/again.db"
    let second = try DatabaseBackup(files[1]).source()
    let path = try #require(try BackupFolder(place.backups).backups(of: second).last?.path)
    _ = try BackupRestore(path).restore(to: new, replaces: false)
    #expect(try place.value(new) == "{\"b\":1}")
  }

  /// It may be of another database with the same file name.
  @Test func aBackupThatDoesNotNameItsDatabaseIsNeverRemoved() throws {
    let place = try Place()
    let old = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    let manifest = old.path + "/backup.json"
    var json = try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: manifest))))
    (json["id"], json["from"]) = (nil, nil)
    try Data(json.jsonBytes(pretty: true)).write(to: URL(fileURLWithPath: manifest))
    for number in 1...2 {
      _ = try DatabaseBackup(place.file).make(
        in: place.backups, keep: 1, now: Int64(number) * 1000)
    }
    #expect(
      try place.names(place.backups) == ["chat-1970-01-01T00-00-00Z", "chat-1970-01-01T00-00-02Z"])
    let new = place.folder + "/again.db"
    _ = try BackupRestore(old.path).restore(to: new, replaces: false)
    #expect(try place.value(new) == "{\"a\":1}")
  }

  @Test func anIncompleteBackupIsRemovedByTheNextOne() throws {
    let place = try Place()
    #expect(throws: DatabaseError.self) {
      try DatabaseBackup(place.file).make(in: place.backups, now: 0, isWanted: { false })
    }
    #expect(try place.names(place.backups) == [])
    let part = place.backups + "/chat-x.part"
    try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: part + "/chat.db"))
    _ = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    #expect(try place.names(place.backups) == ["chat-1970-01-01T00-00-00Z"])
  }

  @Test func oneBackupIsMadeAtATime() throws {
    let place = try Place()
    try BackupFolder(place.backups).locked {
      let error = #expect(throws: ServerError.self) {
        try DatabaseBackup(place.file).make(in: place.backups, now: 0)
      }
      #expect(error?.message.contains("already in progress") == true)
    }
  }

  @Test func aDamagedDatabaseHasNoBackup() throws {
    let place = try Place()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.file))
    try file.seek(toOffset: 100)
    try file.write(contentsOf: Data(repeating: 0xAB, count: 4000))
    try file.close()
    #expect(throws: (any Error).self) {
      try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    }
    #expect(try place.names(place.backups) == [])
  }

  // MARK: Restoring

  @Test func aBackupIsRestoredUnderAnotherName() throws {
    let place = try Place()
    try place.write("{\"rules\":{}}", "chat.rules.json")
    try place.write("old", "chat.db-undo-7.json")
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    let new = place.folder + "/new/talk.sqlite"
    try FileManager.default.createDirectory(
      atPath: place.folder + "/new", withIntermediateDirectories: true)
    #expect(try BackupRestore(made.path + "/").restore(to: new, replaces: false) == [])
    #expect(try place.value(new) == "{\"a\":1}")
    #expect(
      try place.names(place.folder + "/new").filter { !$0.hasSuffix("-notify") } == [
        "talk.rules.json", "talk.sqlite", "talk.sqlite-undo-7.json",
      ])
    try OtherProcess.write(["b": 2], to: new)
    #expect(try place.value(new) == "{\"a\":1,\"b\":2}")
  }

  @Test func anExistingDatabaseIsReplacedOnlyOnRequestAndIsKept() throws {
    let place = try Place()
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    try OtherProcess.write(["a": 2], to: place.file)
    let restore = try BackupRestore(made.path)
    let error = #expect(throws: ServerError.self) {
      try restore.restore(to: place.file, replaces: false)
    }
    #expect(error?.message.contains("--replace") == true)
    #expect(try place.value(place.file) == "{\"a\":2}")
    let kept = try restore.restore(to: place.file, replaces: true)
    #expect(kept.first == place.file + ".replaced")
    #expect(try place.value(place.file) == "{\"a\":1}")
    #expect(try place.value(place.file + ".replaced") == "{\"a\":2}")
    _ = try restore.restore(to: place.file, replaces: true)
    #expect(try place.names(place.folder).contains("chat.db.replaced-2"))
  }

  @Test func replacedFilesKeepTheirMode() throws {
    let place = try Place()
    try place.write("{\"rules\":{}}", "chat.rules.json")
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    let rules = place.folder + "/chat.rules.json"
    #expect(chmod(place.file, 0o640) == 0 && chmod(rules, 0o644) == 0)
    _ = try BackupRestore(made.path).restore(to: place.file, replaces: true)
    for (path, mode) in [(place.file, 0o640), (rules, 0o644)] as [(String, mode_t)] {
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == mode, "\(path)")
    }
  }

  /// The server's user can use what root restores.
  @Test(.enabled(if: geteuid() == 0))
  func filesThatRootRestoresBelongToWhoHasTheDatabase() throws {
    let place = try Place()
    try place.write("{\"rules\":{}}", "chat.rules.json")
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    let rules = place.folder + "/chat.rules.json"
    func owners(_ paths: String...) -> [[UInt32]] {
      paths.map { path in
        var status = stat()
        return stat(path, &status) == 0 ? [status.st_uid, status.st_gid] : []
      }
    }
    #expect(chown(place.file, 4321, 4322) == 0 && unlink(rules) == 0)
    _ = try BackupRestore(made.path).restore(to: place.file, replaces: true)
    #expect(owners(place.file, rules) == [[4321, 4322], [4321, 4322]])
    let folder = place.folder + "/new"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    #expect(chown(folder, 4323, 4324) == 0)
    _ = try BackupRestore(made.path).restore(to: folder + "/new.db", replaces: false)
    #expect(
      owners(folder + "/new.db", folder + "/new.rules.json") == [[4323, 4324], [4323, 4324]])
  }

  /// A secret that was made after the backup is not of its state.
  @Test func filesThatTheBackupDoesNotHaveAreSetAside() throws {
    let place = try Place()
    try place.write("{\"rules\":{}}", "chat.rules.json")
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    try place.write("late", "chat.secrets.json")
    try place.write("later", "chat.service-accounts.json")
    try place.write("other", "chatter.secrets.json")
    let restore = try BackupRestore(made.path)
    let strays = ["chat.secrets.json", "chat.service-accounts.json"].map { place.folder + "/" + $0 }
    #expect(restore.strays(for: place.file) == strays)
    let kept = try restore.restore(to: place.file, replaces: true)
    #expect(strays.map { $0 + ".replaced" }.filter { !kept.contains($0) } == [])
    #expect(try place.text("chat.secrets.json.replaced") == "late")
    let names = try place.names(place.folder)
    #expect(!names.contains("chat.secrets.json") && !names.contains("chat.service-accounts.json"))
    #expect(names.contains("chat.rules.json") && names.contains("chatter.secrets.json"))
    #expect(restore.strays(for: place.file) == [])
  }

  /// The log of a database that was not closed is kept with it, and never beside another file.
  @Test func theLogOfAReplacedFileGoesWithIt() throws {
    let place = try Place()
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    try place.write("a log", "chat.db-wal")
    _ = try BackupRestore(made.path).restore(to: place.file, replaces: true)
    #expect(try place.text("chat.db.replaced-wal") == "a log")
    #expect(try place.value(place.file) == "{\"a\":1}")
  }

  @Test func aModifiedBackupIsNotUsed() throws {
    let place = try Place()
    try place.write("{\"rules\":{}}", "chat.rules.json")
    let made = try DatabaseBackup(place.file).make(in: place.backups, now: 0)
    try Data("{}".utf8).write(to: URL(fileURLWithPath: made.path + "/chat.rules.json"))
    #expect(throws: ServerError.self) { try BackupRestore(made.path) }
    let error = #expect(throws: ServerError.self) { try BackupRestore(place.backups) }
    #expect(error?.message.contains("Its newest one is \(made.path)") == true)
    for text in ["", "{}", #"{"format":2}"#, #"{"format":1,"database":"..","made":1,"files":[]}"#] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: made.path + "/backup.json"))
      #expect(throws: ServerError.self, "\(text)") { try BackupRestore(made.path) }
    }
    let evil = """
      {"format":1,"database":"chat","made":1,"files":[
      {"name":"chat.db","bytes":1,"sha256":""},{"name":"chat.db/../../x","bytes":1,"sha256":""}]}
      """
    try Data(evil.utf8).write(to: URL(fileURLWithPath: made.path + "/backup.json"))
    #expect(throws: ServerError.self) { try BackupRestore(made.path) }
  }

  // MARK: By a server

  @Test func aServerDoesNotStartWithAFolderThatTakesNoBackups() throws {
    let place = try Place()
    try place.write("x", "file")
    for (folder, reason) in [("/file", "is no folder"), ("/none/below", "cannot be made")] {
      let plan = BackupPlan(folder: place.folder + folder, everyMilliseconds: 60_000)
      let error = #expect(throws: ServerError.self) {
        try BackupSchedule(
          plan, metrics: ServerMetrics(PrometheusMetrics()),
          logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        ) { [] }
      }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }

  @Test func aServerBacksUpEachOfTwoDatabasesWithOneFileName() throws {
    let place = try Place()
    try FileManager.default.createDirectory(
      atPath: place.folder + "/b", withIntermediateDirectories: true)
    let files = [place.file, place.folder + "/b/chat.db"]
    try OtherProcess.write(["b": 1], to: files[1])
    let plan = BackupPlan(folder: place.backups, everyMilliseconds: 60_000, keep: 1)
    for _ in 0..<2 {
      for file in files {
        let schedule = try BackupSchedule(
          plan, metrics: ServerMetrics(PrometheusMetrics()),
          logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        ) { [("chat", DatabaseBackup(file))] }
        schedule.look(now: BackupTests.now)
        schedule.stop()
      }
    }
    let made = try BackupFolder(place.backups).backups()
    #expect(made.count == 2)
    #expect(Set(made.compactMap(\.1.source?.path)).count == 2)
  }

  @Test func aServerMakesABackupWhenTheNewestIsOldEnough() async throws {
    let place = try Place()
    let plan = BackupPlan(folder: place.backups, everyMilliseconds: 60_000, keep: 2)
    let metrics = ServerMetrics(PrometheusMetrics())
    let file = place.file
    let schedule = try BackupSchedule(
      plan, metrics: metrics,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) { [("chat", DatabaseBackup(file))] }
    func count() throws -> Int { try BackupFolder(place.backups).backups().count }
    schedule.look(now: BackupTests.now)
    #expect(try count() == 1)
    schedule.look(now: BackupTests.now + 59_999)
    #expect(try count() == 1)
    schedule.look(now: BackupTests.now + 60_000)
    #expect(try count() == 2)
    schedule.look(now: BackupTests.now + 120_000)
    #expect(try count() == 2)
    // The clock was ahead, and was set back.
    schedule.look(now: BackupTests.now)
    #expect(metrics.text(connectionCount: 0).contains("runnel_backups_total{database=\"chat\"} 4"))
    schedule.stop()
    schedule.look(now: BackupTests.now + 600_000)
    #expect(metrics.text(connectionCount: 0).contains("runnel_backups_total{database=\"chat\"} 4"))
  }
}
