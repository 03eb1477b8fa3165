import Foundation
import Glibc

@testable import RunnelDatabase

/// A way in which the files of an open database are lost.
enum WayToLose: String, CaseIterable, Sendable {
  case fileDeleted
  case fileMovedAway
  case fileReplaced
  case fileTruncated
  case fileEmptied
  case folderMoved
  case folderAboveMoved
  case folderDeleted
  case logDeleted
  case logReplaced
  case logIndexDeleted
  case logIndexCut

  /// True if the pages that are in the file alone are lost with it.
  var losesPages: Bool { self == .fileTruncated || self == .fileEmptied }

  /// Does it to the database at `file`, two folders below one that is the test's own.
  func lose(_ file: String) throws {
    let folder = (file as NSString).deletingLastPathComponent
    let above = (folder as NSString).deletingLastPathComponent
    switch self {
    case .fileDeleted: try WayToLose.check(unlink(file))
    case .fileMovedAway: try WayToLose.check(rename(file, file + ".old"))
    case .fileReplaced:
      try FileEditor.execute("CREATE TABLE t (a)", in: folder + "/other.db")
      try WayToLose.check(rename(folder + "/other.db", file))
    case .fileTruncated: try WayToLose.check(truncate(file, 4096))
    case .fileEmptied: try WayToLose.check(truncate(file, 0))
    case .folderMoved: try WayToLose.check(rename(folder, folder + ".old"))
    case .folderAboveMoved: try WayToLose.check(rename(above, above + ".old"))
    case .folderDeleted: try FileManager.default.removeItem(atPath: folder)
    case .logDeleted: try WayToLose.check(unlink(file + "-wal"))
    case .logReplaced:
      try Data("another".utf8).write(to: URL(fileURLWithPath: folder + "/other"))
      try WayToLose.check(rename(folder + "/other", file + "-wal"))
    case .logIndexDeleted: try WayToLose.check(unlink(file + "-shm"))
    case .logIndexCut: try WayToLose.check(truncate(file + "-shm", 0))
    }
  }

  private static func check(_ answer: Int32) throws {
    if answer != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
}

/// A database two folders below one of the test's own.
struct DeepDatabase {
  let folder: TemporaryFolder
  let name = "above/below/test.db"

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("above/below"), withIntermediateDirectories: true)
  }

  var file: String { folder.file(name) }

  /// A session on it.
  func session(isReadOnly: Bool = false, seed: UInt64 = 1) throws -> DatabaseSession {
    try folder.session(name, isReadOnly: isReadOnly, seed: seed)
  }

  /// A session on a file of several pages, with more in its log.
  func filledSession() throws -> DatabaseSession {
    let session = try session()
    try session.set("/a", largeObject(200))
    try session.checkpoint()
    try session.set("/b", #"{"c":1}"#)
    return session
  }
}
