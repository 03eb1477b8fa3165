import Foundation
import Glibc
import RunnelBase
import RunnelDatabase
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ClosedDatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The files in the folder that this process has open.
  private func openFiles() -> [String] {
    (0..<Int32(getdtablesize())).compactMap { descriptor in
      var name = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count)
      let bytes = name[..<max(count, 0)].map { UInt8(bitPattern: $0) }
      let path = String(decoding: bytes, as: UTF8.self)
      return path.contains(folder.file()) ? path : nil
    }
  }

  @Test func whoKeepsAReferenceKeepsNoFileOpenAfterTheEnd() async throws {
    let database = try await Database.open(file: folder.file())
    let place = try database.reference(withPath: "a")
    try await place.setValue(1)
    let snapshot = try await place.get()
    #expect(!openFiles().isEmpty)
    database.close()
    try await yieldUntil { openFiles().isEmpty }
    #expect(snapshot.value == 1)
    await #expect(throws: DatabaseError.self) { try await place.get() }
  }
}
