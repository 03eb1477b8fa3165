import Glibc
import RunnelDatabase
import RunnelTree

/// A database file that a command makes, and that goes with it if the command fails before anything is
/// written.
enum NewDatabase {
  /// The size of a page of the file.
  private static let pageBytes = 4096

  /// Runs `body`, which may make a database file; where it throws and the file was made by it, and
  /// holds nothing, the file is removed.
  static func removingUnused<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    let wasThere = access(file, F_OK) == 0 || errno != ENOENT
    do {
      return try body()
    } catch {
      if !wasThere, isUnused(file) { remove(file) }
      throw error
    }
  }

  /// True if a file that was just made holds nothing, and no other program has begun to use it.
  private static func isUnused(_ file: String) -> Bool {
    guard let size = size(of: file) else { return false }
    // One page has no tables yet, whoever was to make them.
    if size <= pageBytes, (self.size(of: file + "-wal") ?? 0) == 0 { return true }
    do {
      return try holdsNothing(file)
    } catch {
      // It has no tables in spite of its log. What cannot be read for other reasons is left alone.
      return (error as? DatabaseError)?.code == .cannotOpen
    }
  }

  private static func holdsNothing(_ file: String) throws -> Bool {
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    // Nothing was written that could be lost.
    defer { try? session.close() }
    return try session.summary(at: .root).kind == .empty
      && session.historyPage(count: 1).entries.isEmpty
  }

  /// How many bytes a file has; nil if it is not there.
  private static func size(of file: String) -> Int? {
    var status = stat()
    return stat(file, &status) == 0 ? Int(status.st_size) : nil
  }

  private static func remove(_ file: String) {
    for suffix in ["", "-wal", "-shm", "-journal", "-notify"] { unlink(file + suffix) }
  }
}
