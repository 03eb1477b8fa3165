import Glibc
import Testing

/// The file goes while a command has it open: nothing more is acknowledged.
@Suite struct FileLossCommandTests {
  /// How the files are lost.
  enum Way: String, CaseIterable, Sendable {
    case deleted, moved, replaced, truncated, folderMoved, folderDeleted, logDeleted,
      logIndexDeleted, logIndexCut

    func lose(_ database: TestDatabase) throws {
      let file = database.file
      let folder = database.folder.path
      switch self {
      case .deleted: try check(unlink(file), "unlink")
      case .moved: try check(rename(file, file + ".old"), "rename")
      case .replaced:
        try check(rename(try database.folder.write("another", to: "other"), file), "rename")
      case .truncated: try check(truncate(file, 4096), "truncate")
      case .folderMoved: try check(rename(folder, folder + ".old"), "rename")
      case .folderDeleted:
        for suffix in ["", "-wal", "-shm", "-notify"] { unlink(file + suffix) }
        try check(rmdir(folder), "rmdir")
      case .logDeleted: try check(unlink(file + "-wal"), "unlink")
      case .logIndexDeleted: try check(unlink(file + "-shm"), "unlink")
      case .logIndexCut: try check(truncate(file + "-shm", 0), "truncate")
      }
    }

    func tidy(_ database: TestDatabase) {
      if self == .folderMoved { rename(database.folder.path + ".old", database.folder.path) }
    }
  }

  @Test(arguments: Way.allCases) func noLineIsAcknowledgedAfterTheFileWent(way: Way) throws {
    let database = try TestDatabase(#"{"x":1}"#)
    defer { way.tidy(database) }
    let program = try database.start(["push", "/l", "--lines"])
    try program.write("1\n2\n")
    #expect(try program.readLine() != nil)
    #expect(try program.readLine() != nil)
    try way.lose(database)
    try program.write("3\n4\n")
    program.closeInput()
    #expect(try program.readLine() == nil, "a key was printed for a lost value")
    #expect(try program.wait() == 1)
    let errors = try program.errors()
    #expect(errors.contains("Line 3 was not added"), "\(errors)")
    #expect(errors.contains(database.file), "\(errors)")
    #expect(!errors.contains("Those before it were;"), "\(errors)")
  }

  @Test func theLineInTheMomentOfTheLossIsToldAsItIs() throws {
    let database = try TestDatabase(#"{"x":1}"#)
    let folder = database.folder.path
    let program = try database.start(["push", "/l", "--lines"])
    try program.write((1...5000).map { "\($0)\n" }.joined())
    var keyCount = 0
    while keyCount < 20, try program.readLine() != nil { keyCount += 1 }
    try check(rename(folder, folder + ".old"), "rename")
    while try program.readLine() != nil { keyCount += 1 }
    program.closeInput()
    #expect(try program.wait() == 1)
    let errors = try program.errors()
    try check(rename(folder + ".old", folder), "rename")
    let stored = try database.run(["get", "/l", "--format", "jsonl"]).output
    let storedCount = stored.split(separator: "\n").count
    let isAdded = errors.contains("Line \(keyCount + 1) was added under a key that is not known")
    #expect(isAdded || errors.contains("Line \(keyCount + 1) was not added"), "\(errors)")
    #expect(storedCount == keyCount + (isAdded ? 1 : 0), "\(errors)")
  }

  @Test(arguments: Way.allCases) func aWatcherEndsWhenTheFileGoes(way: Way) throws {
    let database = try TestDatabase(#"{"l":{"a":1}}"#)
    defer { way.tidy(database) }
    let program = try database.start(["watch", "/l"])
    #expect(try program.readLine()?.contains("child_added") == true)
    try way.lose(database)
    #expect(try program.readLine() == nil)
    #expect(try program.wait() == 1)
    #expect(try program.errors().contains(database.file))
  }

  /// Two have a file open, a third makes a new one of that name: neither writes into it, nor ends it.
  @Test func whoHasTheOldFileOpenLeavesTheNewOneAlone() throws {
    let database = try TestDatabase(#"{"x":1}"#)
    let programs = try (0..<2).map { _ in try database.start(["push", "/l", "--lines"]) }
    for program in programs {
      try program.write("1\n")
      #expect(try program.readLine() != nil)
    }
    for suffix in ["", "-wal", "-shm"] { unlink(database.file + suffix) }
    let other = try TestDatabase(#"{"new":1}"#)
    #expect(rename(other.file, database.file) == 0)
    #expect(try database.run(["set", "/new", "2"]).status == 0)
    for program in programs {
      try program.write("2\n")
      #expect(try program.readLine() == nil)
      #expect(try program.wait() == 1)
    }
    #expect(try database.get("/") == #"{"new":2}"#)
    #expect(try database.run(["doctor"]).status == 0)
  }

  /// What was acknowledged before is there when the program that had the file open has ended.
  @Test func aDeletedLogLosesNothing() throws {
    let database = try TestDatabase(#"{"x":1}"#)
    let program = try database.start(["push", "/l", "--lines"])
    try program.write("1\n2\n")
    #expect(try program.readLine() != nil)
    #expect(try program.readLine() != nil)
    #expect(unlink(database.file + "-wal") == 0)
    let refused = try database.run(["set", "/other", "1"])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("-wal"), "\(refused.errors)")
    try program.write("3\n")
    #expect(try program.wait() == 1)
    #expect(try program.errors().contains("open it again"))
    #expect(try database.get("/l").split(separator: ",").count == 2)
    #expect(try database.run(["set", "/other", "1"]).status == 0)
    #expect(try database.run(["doctor"]).status == 0)
  }
}

extension FileLossCommandTests {
  /// Leaves a file with a log beside it, as a program that was killed does.
  private func killedWriter(_ database: TestDatabase) throws {
    let program = try database.start(["push", "/l", "--lines"])
    try program.write((0..<5).map { "\"killed \($0)\"\n" }.joined())
    for _ in 0..<5 { #expect(try program.readLine() != nil) }
    try program.send(SIGKILL)
    #expect(try program.wait() == -SIGKILL)
  }

  private func expectForeignLog(_ database: TestDatabase) throws {
    for arguments in [["get"], ["set", "/x", "1"], ["export"], ["doctor"], ["compact"]] {
      let outcome = try database.run(arguments)
      #expect(outcome.status == 1, "\(arguments)")
      #expect(outcome.output.isEmpty, "\(arguments): \(outcome.output)")
      #expect(outcome.errors.contains("mv \(database.file)-wal"), "\(arguments): \(outcome.errors)")
    }
  }

  @Test func aFileThatWasMovedOverOneWhoseLogStaysIsNotMixedWithIt() throws {
    let (database, other) = (try TestDatabase(#"{"a":1}"#), try TestDatabase(#"{"b":2}"#))
    try killedWriter(database)
    #expect(rename(other.file, database.file) == 0)
    try expectForeignLog(database)
    #expect(rename(database.file + "-wal", database.file + "-wal.old") == 0)
    #expect(try database.get("/") == #"{"b":2}"#)
    #expect(try database.run(["set", "/x", "1"]).status == 0)
    #expect(try database.run(["doctor"]).status == 0)
  }

  /// A copy has the id of the database that it was made of: only its state tells that the log is not its own.
  @Test func aRestoredCopyIsNotMixedWithTheNewerLog() throws {
    let database = try TestDatabase(#"{"a":1}"#)
    let copy = database.folder.file("copy.db")
    #expect(try Program.run(["export", "-d", database.file], input: "").status == 0)
    try copyFile(database.file, copy)
    #expect(try database.run(["set", "/a", "2"]).status == 0)
    try killedWriter(database)
    try check(rename(copy, database.file), "rename")
    try expectForeignLog(database)
    #expect(rename(database.file + "-wal", database.file + "-wal.old") == 0)
    #expect(try database.get("/") == #"{"a":1}"#)
  }

  /// The other way: a log that is the file's is always taken in.
  @Test func theOwnLogOfAFileIsTakenInWheneverItsWriterWasKilled() throws {
    let database = try TestDatabase()
    for round in 1...12 {
      let program = try database.start(["push", "/l", "--lines"])
      let text = String(repeating: "x", count: 300 * round)
      try program.write((0..<40).map { "\"\(text) \($0)\"\n" }.joined())
      for _ in 0..<(3 * round) { #expect(try program.readLine() != nil) }
      try program.send(SIGKILL)
      #expect(try program.wait() == -SIGKILL)
      let outcome = try database.run(["get", "/l", "--shallow"])
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.output.split(separator: ",").count >= 3 * round)
      if round % 4 == 0 { #expect(try database.run(["compact"]).status == 0) }
    }
    #expect(try database.run(["doctor"]).status == 0)
  }

  private func copyFile(_ source: String, _ target: String) throws {
    let outcome = try Program.run(["-c", "cp '\(source)' '\(target)'"], program: "/bin/sh")
    #expect(outcome.status == 0)
  }
}
