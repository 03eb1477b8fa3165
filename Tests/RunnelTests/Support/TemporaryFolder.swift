import Foundation
import RunnelDatabase

/// A folder of its own for one test, removed with it.
final class TemporaryFolder {
  private let path: String

  init() throws {
    path = NSTemporaryDirectory() + "runnel-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // A folder that cannot be removed is the system's to clean.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a file in the folder.
  func file() -> String { path + "/test.db" }

  /// Opens a database on the file, whose writes have no author.
  func open() async throws -> Database {
    try await Database.open(
      file: file(),
      environment: {
        DatabaseEnvironment(now: { 1_700_000_000_000 }, random: SystemRandomNumberGenerator())
      })
  }
}
