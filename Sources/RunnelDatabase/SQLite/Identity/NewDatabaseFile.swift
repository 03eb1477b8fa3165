import CStorage
import Foundation
import Glibc

/// Makes a database that is not there under another name, and gives it its own when it is whole.
///
/// A process that ends meanwhile, however it ends, leaves no empty file, which would look like a database that
/// lost all that it held.
enum NewDatabaseFile {
  /// What the name of an unfinished file adds, before the number of the process that makes it.
  private static let suffix = ".making-"
  /// What SQLite keeps beside a file.
  private static let companions = ["", "-journal", "-wal", "-shm"]

  /// Makes a file, unless it or something that belongs to it is there.
  ///
  /// Nothing is made where files cannot be renamed without replacing others, or where the name is too long:
  /// SQLite then makes the file under its own name.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - fill: makes the database at a path, and closes it.
  /// - Throws: what `fill` throws, with the file's own name.
  static func make(_ file: String, _ fill: (String) throws -> Void) throws {
    if companions.contains(where: { isThere(file + $0) }) { return }
    removeAbandoned(beside: file)
    let unfinished = "\(file)\(suffix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
    if URL(fileURLWithPath: unfinished).lastPathComponent.utf8.count > Int(NAME_MAX) - 8 { return }
    defer { remove(unfinished) }
    do {
      try fill(unfinished)
    } catch var error as DatabaseError {
      error.message = error.message.replacing(unfinished, with: file)
      throw error
    }
    // SQLite leaves a log that it could not copy to the file, and says nothing of it.
    if companions.contains(where: { !$0.isEmpty && isThere(unfinished + $0) }) { return }
    // If another process has made the file meanwhile, that one is opened.
    if runnel_storage_rename_new(unfinished, file) == 0 { syncFolder(of: file) }
  }

  /// Has the names in a file's folder reach the disk.
  static func syncFolder(of file: String) {
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { return }
    // A file system that does not support this does not need it.
    _ = fsync(descriptor)
    close(descriptor)
  }

  /// Removes what processes left that ended while they made the file.
  private static func removeAbandoned(beside file: String) {
    let place = URL(fileURLWithPath: file)
    let folder = place.deletingLastPathComponent().path
    let start = place.lastPathComponent + suffix
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(start) {
      let process = name.dropFirst(start.count).prefix { $0.isNumber }
      guard let id = pid_t(process), kill(id, 0) != 0, errno == ESRCH else { continue }
      unlink(folder + "/" + name)
    }
  }

  private static func remove(_ unfinished: String) {
    for companion in companions { unlink(unfinished + companion) }
  }

  private static func isThere(_ file: String) -> Bool {
    var status = stat()
    return lstat(file, &status) == 0
  }
}
