import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTree

/// A folder of its own for one test, removed with it.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "runnel-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // A folder that cannot be removed is the system's to clean.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a file in the folder.
  func file(_ name: String = "test.db") -> String { path + "/" + name }

  func bytes(_ name: String = "test.db") throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: file(name)))
  }

  func write(_ data: Data, to name: String = "test.db") throws {
    try data.write(to: URL(fileURLWithPath: file(name)))
  }

  /// Opens a session on a file of the folder.
  func session(
    _ name: String = "test.db", isReadOnly: Bool = false, seed: UInt64 = 1,
    busyTimeout: Duration = .seconds(5)
  ) throws -> DatabaseSession {
    try DatabaseSession(
      file: file(name), isReadOnly: isReadOnly,
      environment: DatabaseEnvironment(
        now: { 1_700_000_000_000 }, random: SeededRandom(seed: seed), busyTimeout: busyTimeout))
  }
}

extension DatabaseSession {
  /// Replaces what stands at a place by JSON.
  @discardableResult
  func set(_ path: String, _ json: String) throws -> [Delivery] {
    try write(.set(Path(path), JSONValue(parsing: json)))
  }

  /// Imports a document.
  @discardableResult
  func importJSON(
    _ json: String, at path: String = "/", progress: @escaping (Int) -> Bool = { _ in true }
  ) throws -> [Delivery] {
    try Array(json.utf8).withUnsafeBufferPointer {
      try importJSON($0, at: Path(path), progress: progress)
    }
  }

  /// The export of a place, compact.
  func export(_ path: String = "/", layout: JSONWriter.Layout = .compact) throws -> String {
    var bytes: [UInt8] = []
    try exportJSON(Path(path), layout: layout) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The node that a JSON text in the export format describes.
func node(_ json: String) throws -> Node { try Node(json: JSONValue(parsing: json)) }

/// An object of `count` members `k0`, `k1` and so on, each a string of `bytes` characters.
func largeObject(_ count: Int, bytes: Int = 100) -> String {
  let text = String(repeating: "x", count: bytes)
  return "{" + (0..<count).map { #""k\#($0)":"\#(text)\#($0)""# }.joined(separator: ",") + "}"
}
