import Glibc
import RunnelDatabase
import RunnelTree

/// A database file that a command creates, and that is removed if the command fails before anything
/// is written.
enum NewDatabase {
  /// The size of a page of the file.
  private static let pageBytes = 4096

  /// Runs `body`, which may create a database file.
  ///
  /// If `body` throws, and the file is new and empty, the file is removed.
  static func removingUnused<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    let wasThere = access(file, F_OK) == 0 || errno != ENOENT
    do {
      return try body()
    } catch {
      if !wasThere, isUnused(file) { remove(file) }
      throw error
    }
  }

  /// Returns whether a file that was just created holds nothing, and no other program has begun to
  /// use it.
  private static func isUnused(_ file: String) -> Bool {
    guard let size = size(of: file) else { return false }
    // A file of one page has no tables yet.
    if size <= pageBytes, (self.size(of: file + "-wal") ?? 0) == 0 { return true }
    do {
      return try holdsNothing(file)
    } catch {
      // The file has no tables in spite of its log. A file that cannot be read for other reasons is
      // kept.
      return (error as? DatabaseError)?.code == .cannotOpen
    }
  }

  private static func holdsNothing(_ file: String) throws -> Bool {
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    // The file was only read, so an error of closing it loses nothing.
    defer { try? session.close() }
    return try session.summary(at: .root).kind == .empty
      && session.historyPage(count: 1).entries.isEmpty
  }

  /// Returns the size of a file in bytes, or nil if the file does not exist.
  private static func size(of file: String) -> Int? {
    var status = stat()
    return stat(file, &status) == 0 ? Int(status.st_size) : nil
  }

  private static func remove(_ file: String) {
    for suffix in ["", "-wal", "-shm", "-journal", "-notify"] { unlink(file + suffix) }
  }
}
