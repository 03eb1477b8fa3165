import Foundation
import Testing

@testable import RunnelDatabase

/// All files of an open database are written over together.
@Suite struct ReplacedContentTests {
  private let database: DeepDatabase

  init() throws { database = try DeepDatabase() }

  /// The files fit each other: only what they hold tells that it is another database, or an older state.
  @Test(arguments: [false, true], [false, true])
  func contentInAllFilesThatIsNotLaterIsFound(isOther: Bool, isWrite: Bool) throws {
    let session = try database.filledSession()
    let other = try database.folder.session("other.db")
    for number in 0..<40 { try other.set("/k\(number)", "\(number)") }
    let name = isOther ? "other.db" : database.name
    let suffixes = ["", "-shm", "-wal"]
    let bytes = try suffixes.map { try database.folder.bytes(name + $0) }
    try session.set("/d", "1")
    #expect(try session.catchUp().isEmpty)
    for (suffix, content) in zip(suffixes, bytes) {
      let handle = try FileHandle(
        forWritingTo: URL(fileURLWithPath: database.file + suffix))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: content)
      try handle.close()
    }
    for _ in 0..<2 {
      let error = #expect(throws: DatabaseError.self) {
        if isWrite { try session.set("/e", "1") } else { _ = try session.catchUp() }
      }
      #expect(error?.code == .fileGone, "\(String(describing: error))")
    }
    #expect(throws: DatabaseError.self) { try session.export() }
    #expect(session.fileLoss?.code == .fileGone)
    try session.close()
    try other.close()
    #expect(try database.folder.bytes(database.name) == bytes[0])
    #expect(try database.folder.bytes(database.name + "-wal") == bytes[2])
  }

  /// As `.restore` of the program `sqlite3` does it: a write like any other.
  @Test func anotherDatabaseThatIsRestoredIntoTheFileIsFound() throws {
    let session = try database.filledSession()
    let other = try database.folder.session("other.db")
    for number in 0..<40 { try other.set("/k\(number)", "\(number)") }
    try other.close()
    try FileEditor.restore(database.folder.file("other.db"), into: database.file)
    for _ in 0..<2 {
      let error = #expect(throws: DatabaseError.self) { try session.catchUp() }
      #expect(error?.code == .fileGone, "\(String(describing: error))")
      #expect(error?.message.contains("has other content") == true)
      #expect(throws: DatabaseError.self) { try session.set("/e", "1") }
    }
    try session.close()
  }

  /// What other programs wrote, and a repair, are later states.
  @Test func contentThatIsLaterIsNoLoss() throws {
    let session = try database.filledSession()
    let other = try database.session(seed: 2)
    for number in 0..<5 {
      try other.set("/o", "\(number)")
      _ = try session.catchUp()
      try session.set("/s", "\(number)")
      _ = try other.catchUp()
    }
    #expect(try session.export("/o") == "4")
    try other.close()
    try FileEditor.execute("UPDATE split SET children = children + 1", in: database.file)
    #expect(try DatabaseCare.repair(file: database.file).after?.isSound == true)
    _ = try session.catchUp()
    try session.set("/s", "7")
    try session.checkFile()
    try session.close()
  }
}
