import Foundation
import RunnelTree
import Testing

@testable import RunnelDatabase

/// A file gives back the space of what was removed, or stays as it is.
@Suite struct CompactTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a file most of which is empty; returns its export.
  private func makeDatabase() throws -> String {
    let session = try folder.session()
    try session.importJSON(largeObject(9000), at: "/a")
    try session.importJSON(largeObject(300), at: "/b")
    try session.set("/a", "null")
    let export = try session.export()
    try session.close()
    return export
  }

  @Test func theSpaceOfWhatWasRemovedIsGivenBack() throws {
    let export = try makeDatabase()
    let before = try folder.bytes().count
    let result = try DatabaseCare.compact(file: folder.file())
    #expect(result.bytesBefore == before)
    #expect(result.bytesAfter < before / 10)
    #expect(try folder.bytes().count == result.bytesAfter)
    #expect(result.isFinished)
    #expect(try DatabaseCare.check(file: folder.file()).isSound)
    let session = try folder.session()
    #expect(try session.export() == export)
    #expect(try session.synchronousMode() == 2)
    try session.set("/c", "1")
  }

  @Test func othersGoOnReadingAndWriting() throws {
    let export = try makeDatabase()
    let session = try folder.session()
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(Path("b")), events: .all))
    _ = try DatabaseCare.compact(file: folder.file())
    #expect(try session.export() == export)
    #expect(try session.catchUp().isEmpty)
    #expect(try session.set("/b/k1", "1").count == 2)
  }

  @Test func withoutSpaceNothingIsBegun() throws {
    _ = try makeDatabase()
    let before = try folder.bytes()
    for (free, number) in [(20_000, UInt(1)), (1_000_000, 1), (1_100_000, 2)] {
      let path = folder.path
      let disk = Disk { name in
        name.hasPrefix(path) ? (free, 1) : (number == 1 ? free : 0, number)
      }
      let error = #expect(throws: DatabaseError.self) {
        try DatabaseCare.compact(file: folder.file(), .zero, disk: disk) { true }
      }
      #expect(error?.code == .diskFull)
      #expect(error?.message.contains(folder.file()) == true)
    }
    #expect(try folder.bytes() == before)
  }

  @Test func aDiskThatTellsNothingOrHasSpaceIsTried() throws {
    for disk in [Disk { _ in nil }, Disk { _ in (10_000_000, 1) }] {
      _ = try makeDatabase()
      let result = try DatabaseCare.compact(
        file: folder.file(), .zero, disk: disk, isWanted: { true })
      #expect(result.bytesAfter < result.bytesBefore)
    }
  }

  @Test func workThatIsStoppedLeavesTheFile() throws {
    let export = try makeDatabase()
    let error = #expect(throws: DatabaseError.self) {
      try DatabaseCare.compact(file: folder.file()) { false }
    }
    #expect(error?.code == .cancelled)
    #expect(try folder.session().export() == export)
    #expect(try DatabaseCare.check(file: folder.file()).isSound)
  }

  @Test func aFileInUseSaysSo() throws {
    _ = try makeDatabase()
    try FileEditor.whileLocked(folder.file()) {
      let error = #expect(throws: DatabaseError.self) {
        try DatabaseCare.compact(file: folder.file(), busyTimeout: .milliseconds(20))
      }
      #expect(error?.code == .locked)
    }
  }
}
