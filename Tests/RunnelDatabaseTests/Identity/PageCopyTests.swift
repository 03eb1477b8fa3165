import Foundation
import Glibc
import RunnelTree
import Testing

@testable import RunnelDatabase

/// A copy of an open database that is made beside it, or piece by piece once its file is gone.
@Suite struct PageCopyTests {
  private let database: DeepDatabase

  init() throws { database = try DeepDatabase() }

  private var copy: String { database.folder.file("copy.db") }

  private func namesOfParts() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: database.folder.path)
      .filter { $0.contains(".part") }
  }

  /// A session on a file whose pages are not copied at once.
  private func largeSession() throws -> DatabaseSession {
    let session = try database.session()
    try session.set("/a", largeObject(300, bytes: 10_000))
    try session.checkpoint()
    try session.set("/b", #"{"c":1}"#)
    return session
  }

  /// Copies all pages, and does something after each piece; returns the number of pieces.
  @discardableResult
  private func copyAll(_ session: DatabaseSession, between: () throws -> Void = {}) throws -> Int {
    var pieces = 0
    while true {
      guard case .pages(let bytes, let count) = try session.copyPages(to: copy) else {
        Issue.record("the file is there")
        return pieces
      }
      pieces += 1
      if bytes == count { return pieces }
      #expect(bytes < count)
      try between()
    }
  }

  @Test(arguments: WayToLose.allCases.filter { !$0.losesPages })
  func whatIsOpenIsCopiedInPieces(way: WayToLose) throws {
    let session = try database.filledSession()
    let before = try session.export()
    try way.lose(database.file)
    try copyAll(session)
    let bytes = try DatabaseCopy.finish(pagesTo: copy) { true }
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy)).count == bytes)
    try session.close()
    #expect(try namesOfParts().isEmpty)
    let saved = try database.folder.session("copy.db")
    #expect(try saved.export() == before)
    try saved.set("/d", "1")
    try saved.close()
    #expect(try DatabaseCare.check(file: copy).isSound)
  }

  @Test func otherRequestsAreAnsweredBetweenThePieces() throws {
    let session = try largeSession()
    let before = try session.export()
    #expect(unlink(database.file) == 0)
    let pieces = try copyAll(session) {
      let value = try session.export("/b")
      #expect(value == #"{"c":1}"#)
      #expect(throws: DatabaseError.self) { try session.set("/b", "2") }
    }
    #expect(pieces > 2)
    _ = try DatabaseCopy.finish(pagesTo: copy) { true }
    #expect(try database.folder.session("copy.db").export() == before)
  }

  @Test func aCopyThatIsNotFinishedLeavesNoFile() throws {
    let session = try largeSession()
    #expect(unlink(database.file) == 0)
    _ = try session.copyPages(to: copy)
    #expect(try namesOfParts().count == 1)
    session.endCopy(to: copy)
    #expect(try namesOfParts().isEmpty)
    // One for another file takes the place of the one before.
    _ = try session.copyPages(to: copy)
    _ = try session.copyPages(to: database.folder.file("other.db"))
    #expect(try namesOfParts().count == 1)
    try session.close()
    #expect(try namesOfParts().isEmpty)
  }

  @Test func aCopyThatIsStoppedAtItsEndLeavesNoFile() throws {
    let session = try database.filledSession()
    #expect(unlink(database.file) == 0)
    try copyAll(session)
    let error = #expect(throws: DatabaseError.self) {
      try DatabaseCopy.finish(pagesTo: copy) { false }
    }
    #expect(error?.code == .cancelled)
    #expect(access(copy, F_OK) != 0)
    #expect(try namesOfParts().isEmpty)
  }

  @Test func aCopyOfPagesReplacesNothing() throws {
    let session = try database.filledSession()
    #expect(unlink(database.file) == 0)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: copy))
    let error = #expect(throws: DatabaseError.self) { try session.copyPages(to: copy) }
    #expect(error?.code == .refused)
    let absent = #expect(throws: DatabaseError.self) {
      try session.copyPages(to: database.folder.file("none/copy.db"))
    }
    #expect(absent?.code == .cannotOpen)
    // Somebody takes the name while the pages are copied.
    #expect(unlink(copy) == 0)
    try copyAll(session)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: copy))
    #expect(throws: DatabaseError.self) { try DatabaseCopy.finish(pagesTo: copy) { true } }
    #expect(try database.folder.bytes("copy.db") == Data("mine".utf8))
    #expect(try namesOfParts().isEmpty)
  }

  /// What is written to a file that came back would be in the copy.
  @Test func aFileThatComesBackIsNoticedAfterTheCopy() throws {
    let session = try largeSession()
    #expect(rename(database.file, database.file + ".old") == 0)
    #expect(throws: DatabaseError.self) { try session.checkFile() }
    _ = session.takeLossNews()
    _ = try session.copyPages(to: copy)
    #expect(rename(database.file + ".old", database.file) == 0)
    #expect(session.takeReturnNews() == nil)
    session.endCopy(to: copy)
    guard case .fileBack? = session.takeReturnNews() else {
      Issue.record("the file is not back")
      return
    }
    try session.set("/b", "2")
  }

  @Test(arguments: [false, true])
  func aFileAtItsPlaceIsCopiedByAConnectionOfItsOwn(isReadOnly: Bool) throws {
    let writer = try largeSession()
    let session = try database.session(isReadOnly: isReadOnly)
    let before = try session.export()
    guard case .isThere(let opened) = try session.copyPages(to: copy) else {
      Issue.record("the file is not there")
      return
    }
    #expect(try namesOfParts().isEmpty)
    let second = try DatabaseCopy(of: database.file, opened: opened)
    var written: [Int] = []
    let bytes = try second.save(to: copy) { done, count in
      if written.isEmpty {
        // The copy has begun.
        #expect(count > 2_000_000)
      }
      written.append(done)
      return true
    }
    #expect(written == written.sorted())
    try writer.set("/b", "2")
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy)).count == bytes)
    let saved = try database.folder.session("copy.db")
    #expect(try saved.export() == before)
  }

  @Test func aCopyByAConnectionOfItsOwnIsStopped() throws {
    let session = try largeSession()
    guard case .isThere(let opened) = try session.copyPages(to: copy) else { return }
    let second = try DatabaseCopy(of: database.file, opened: opened)
    let error = #expect(throws: DatabaseError.self) { try second.save(to: copy) { _, _ in false } }
    #expect(error?.code == .cancelled)
    #expect(access(copy, F_OK) != 0)
    #expect(try namesOfParts().isEmpty)
    try session.set("/b", "2")
  }

  /// The name leads to another database by then, which must not be taken for this one.
  @Test func aFileThatIsReplacedInBetweenIsNotCopied() throws {
    let session = try database.filledSession()
    guard case .isThere(let opened) = try session.copyPages(to: copy) else { return }
    let other = try database.folder.session("other.db")
    try other.set("/a", "1")
    try other.close()
    for suffix in ["", "-wal", "-shm"] {
      #expect(rename(database.file + suffix, database.file + ".old" + suffix) == 0)
    }
    #expect(rename(database.folder.file("other.db"), database.file) == 0)
    let error = #expect(throws: DatabaseError.self) {
      _ = try DatabaseCopy(of: database.file, opened: opened)
    }
    #expect(error?.code == .fileGone)
    guard case .pages = try session.copyPages(to: copy) else {
      Issue.record("the loss is not seen")
      return
    }
    session.endCopy(to: copy)
  }
}
