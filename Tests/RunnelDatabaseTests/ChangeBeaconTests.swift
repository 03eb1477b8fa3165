import CPlatform
import Foundation
import Testing

@testable import RunnelDatabase

@Suite struct ChangeBeaconTests {
  private let folder: TemporaryFolder
  private var beacon: String { ChangeBeacon.path(ofDatabase: folder.file()) }

  init() throws { folder = try TemporaryFolder() }

  @Test func markEndsWhenTheBeaconIsClosedWhoeverHasACopyOfItsDescriptor() throws {
    var first = try #require(ChangeBeacon(database: folder.file()))
    let isMarked = first.mark(session: 7)
    #expect(isMarked)
    // What a program has that is being started just then.
    let copies = copiesOfDescriptors()
    defer { copies.forEach(runnel_close) }
    try #require(!copies.isEmpty)
    let second = try #require(ChangeBeacon(database: folder.file()))
    defer { second.close() }
    #expect(second.isMarked(session: 7))
    first.close()
    #expect(!second.isMarked(session: 7))
  }

  @Test func markEndsWithItsBeaconOnly() throws {
    var first = try #require(ChangeBeacon(database: folder.file()))
    let isMarked = first.mark(session: 7)
    #expect(isMarked)
    var second = try #require(ChangeBeacon(database: folder.file()))
    let isMarkedTwice = second.mark(session: 7)
    #expect(!isMarkedTwice)
    second.close()
    let third = try #require(ChangeBeacon(database: folder.file()))
    defer { third.close() }
    #expect(third.isMarked(session: 7))
    first.close()
    #expect(!third.isMarked(session: 7))
  }

  /// Each commit writes the log several times before the beacon is touched.
  @Test func writingTheLogWakesNobodyAndWritingTheFileDoes() throws {
    try folder.write(Data(count: 10))
    let log = folder.file() + "-wal"
    #expect(FileManager.default.createFile(atPath: log, contents: nil))
    let watch = try #require(ChangeWatch(database: folder.file()))
    var answer: UInt8 = 0
    let isWoken = { runnel_poll([watch.descriptor], &answer, 1, 0) == 1 }
    let (ofLog, ofFile) = (
      try FileHandle(forWritingTo: URL(fileURLWithPath: log)),
      try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file()))
    )
    try ofLog.write(contentsOf: Data(count: 10))
    #expect(!isWoken())
    try ofFile.write(contentsOf: Data(count: 10))
    #expect(isWoken() && watch.drainNews() == .files && !isWoken())
    let beacon = try #require(ChangeBeacon(database: folder.file()))
    defer { beacon.close() }
    #expect(watch.drain())
    beacon.signal()
    #expect(isWoken() && watch.drainNews() == .commit)
    beacon.signal()
    try FileManager.default.moveItem(atPath: folder.file(), toPath: folder.file("other.db"))
    #expect(watch.drainNews() == .files)
    #expect(watch.drainNews() == .nothing)
  }

  @Test(arguments: [0o600, 0o640, 0o660, 0o666] as [mode_t])
  func whoMayWriteTheDatabaseMayTouchItsBeacon(rights: mode_t) throws {
    try folder.write(Data())
    #expect(chmod(folder.file(), rights) == 0)
    try #require(ChangeBeacon(database: folder.file())).close()
    var status = stat()
    #expect(stat(beacon, &status) == 0)
    #expect(status.st_mode & 0o777 == rights)
  }

  /// Copies of the descriptors by which this process has the beacon open.
  private func copiesOfDescriptors() -> [Int32] {
    let descriptors = (0..<Int32(getdtablesize())).filter { descriptor in
      var name = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count)
      let bytes = name[..<max(count, 0)].map { UInt8(bitPattern: $0) }
      return String(decoding: bytes, as: UTF8.self) == beacon
    }
    return descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }.filter { $0 >= 0 }
  }
}
