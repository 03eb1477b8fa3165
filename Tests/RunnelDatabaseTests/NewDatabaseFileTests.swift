import Foundation
import Glibc
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// A database that is made has its name when it is whole, and not before.
@Suite struct NewDatabaseFileTests {
  private let folder: TemporaryFolder
  private var file: String { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func make(_ file: String) throws {
    try SQLiteStore(file: file, isReadOnly: false, busyTimeout: .seconds(5), isUnnamed: true)
      .close()
  }

  @Test func theNameIsFreeUntilTheFileIsWhole() throws {
    try NewDatabaseFile.make(file) { unfinished in
      try make(unfinished)
      #expect(access(file, F_OK) != 0)
    }
    #expect(try names() == ["test.db"])
    let session = try folder.session()
    _ = try session.write(.set(Path("/a"), 1))
    try session.close()
  }

  @Test func nothingIsLeftOfAFileThatCannotBeMade() throws {
    do {
      try NewDatabaseFile.make(file) { unfinished in
        try Data([1]).write(to: URL(fileURLWithPath: unfinished))
        throw DatabaseError(.diskFull, "The disk of \(unfinished) is full.")
      }
      Issue.record("The error was dropped.")
    } catch let error as DatabaseError {
      #expect(error.message == "The disk of \(file) is full.")
    }
    #expect(try names() == [])
  }

  @Test func aFileWhoseLogWasNotCopiedGetsNoName() throws {
    try NewDatabaseFile.make(file) { unfinished in
      try make(unfinished)
      try Data([1]).write(to: URL(fileURLWithPath: unfinished + "-wal"))
    }
    #expect(try names() == [])
  }

  @Test func aFileThatAnotherProcessMadeMeanwhileStays() throws {
    let data = Data("theirs".utf8)
    try NewDatabaseFile.make(file) { unfinished in
      try make(unfinished)
      try folder.write(data)
    }
    #expect(try names() == ["test.db"])
    #expect(try folder.bytes() == data)
  }

  @Test(arguments: ["test.db", "test.db-wal", "test.db-journal", "test.db-shm"])
  func nothingIsMadeBesideWhatIsThere(name: String) throws {
    try folder.write(Data(), to: name)
    try NewDatabaseFile.make(file) { _ in Issue.record("A file was made.") }
    #expect(try names() == [name])
  }

  @Test func aLinkThatLeadsNowhereIsNotReplaced() throws {
    try #require(symlink(folder.file("elsewhere.db"), file) == 0)
    let session = try folder.session()
    _ = try session.write(.set(Path("/a"), 1))
    try session.close()
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: file).hasSuffix("elsewhere.db"))
    #expect(try names().contains("elsewhere.db"))
  }

  @Test func whatEndedProcessesLeftIsRemoved() throws {
    var child = pid_t()
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
    try #require(posix_spawnp(&child, "true", nil, nil, &arguments, environ) == 0)
    free(arguments[0])
    try #require(waitpid(child, nil, 0) == child)
    let mine = "test.db.making-\(getpid())-1"
    for name in [
      "test.db.making-\(child)-7", "test.db.making-\(child)-7-wal", mine, "test.db.making-x",
    ] {
      try folder.write(Data(), to: name)
    }
    try NewDatabaseFile.make(file, make)
    #expect(try names() == ["test.db", mine, "test.db.making-x"])
  }

  @Test func aLongNameIsUsedAsItIs() throws {
    let name = String(repeating: "n", count: 240)
    try folder.session(name).close()
    #expect(try names().contains(name))
  }
}
