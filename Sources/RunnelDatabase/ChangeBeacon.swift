import CPlatform
import Glibc

/// The file beside a database that is touched after each commit; other processes watch it.
///
/// It also tells which sessions on a replica are running: see `mark(session:)`.
///
/// The write-ahead log cannot be watched instead: it is modified before the commit can be seen.
struct ChangeBeacon {
  private let descriptor: Int32
  /// The session that is marked here as running.
  private(set) var session: Int64?

  /// The end of a beacon's name.
  fileprivate static let suffix = "-notify"

  /// The name of the beacon of a database file.
  ///
  /// It follows links, as SQLite does for the log: all names of a file lead to one beacon.
  static func path(ofDatabase file: String) -> String {
    guard let real = realpath(file, nil) else { return file + suffix }
    defer { free(real) }
    return String(cString: real) + suffix
  }

  /// Opens the beacon, and makes it if it does not exist; nil if that fails.
  ///
  /// Other processes are then not woken, but find the commit when they look by themselves.
  ///
  /// Every process that may write the database must be able to touch its beacon: a new beacon gets
  /// the database's permissions.
  init?(database file: String) {
    let beacon = ChangeBeacon.path(ofDatabase: file)
    var descriptor = ChangeBeacon.open(beacon)
    if descriptor < 0, errno == ENOENT {
      descriptor = ChangeBeacon.open(beacon, O_CREAT)
      var status = stat()
      if descriptor >= 0, stat(file, &status) == 0 {
        // If this fails, other processes find the commits by looking periodically.
        _ = fchmod(descriptor, status.st_mode & 0o666)
      }
    }
    if descriptor < 0 { return nil }
    self.descriptor = descriptor
  }

  /// Opens the beacon; nil if there is none.
  init?(existingFor file: String) {
    let descriptor = ChangeBeacon.open(ChangeBeacon.path(ofDatabase: file))
    if descriptor < 0 { return nil }
    self.descriptor = descriptor
  }

  /// Opens a file; -1 if that fails, or if a pipe or another thing that is no file has the name.
  private static func open(_ path: String, _ flags: Int32 = 0) -> Int32 {
    // To open a pipe would wait for its other end.
    let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | flags, 0o644)
    if descriptor < 0 { return -1 }
    var status = stat()
    if fstat(descriptor, &status) == 0, FileKind.words(status.st_mode) == nil { return descriptor }
    runnel_close(descriptor)
    errno = EINVAL
    return -1
  }

  /// Tells the others that something was committed.
  func signal() {
    // Touching fails only if other processes cannot be woken anyway.
    _ = futimens(descriptor, nil)
  }

  /// Ends the mark, even if the descriptor was copied.
  func close() {
    if session != nil { runnel_bytes_unlock(descriptor) }
    runnel_close(descriptor)
  }
}

// MARK: Sessions

extension ChangeBeacon {
  /// Marks a session as running until this is closed, or the process ends in any way; returns false
  /// if another session has this number.
  ///
  /// The mark is a lock on the byte at that number; the file itself is empty.
  mutating func mark(session: Int64) -> Bool {
    guard runnel_byte_lock(descriptor, session) == 0 else { return false }
    self.session = session
    return true
  }

  /// True if another session than the one marked here is marked as running.
  ///
  /// If locks are not available, no session counts as running: its data are then taken back too
  /// early rather than too late.
  func isMarked(session: Int64) -> Bool { runnel_byte_is_locked(descriptor, session) == 1 }
}

/// Waits until the beacon of a database is touched, by this process or another one, or the
/// database's files are deleted, moved or replaced.
package final class ChangeWatch: Sendable {
  /// The descriptor that becomes readable when something happens in the beacon's folder.
  package let descriptor: Int32
  private let name: String
  private let file: String

  /// Starts watching; nil if the folder cannot be watched.
  package init?(database file: String) {
    let beacon = ChangeBeacon.path(ofDatabase: file)
    let slash = beacon.lastIndex(of: "/")
    let folder = slash.map { $0 == beacon.startIndex ? "/" : String(beacon[..<$0]) } ?? "."
    name = slash.map { String(beacon[beacon.index(after: $0)...]) } ?? beacon
    self.file = String(name.dropLast(ChangeBeacon.suffix.count))
    descriptor = runnel_inotify_open()
    if descriptor < 0 { return nil }
    let path = String(beacon.dropLast(ChangeBeacon.suffix.count))
    if runnel_inotify_add_database_watch(descriptor, ChangeWatch.whole(folder), path) < 0 {
      runnel_close(descriptor)
      return nil
    }
  }

  /// What the events say.
  package enum News: Sendable {
    case nothing
    /// Only the beacon was touched: something was committed, maybe by this process.
    case commit
    /// The files may have been deleted, moved, replaced or written by other programs.
    case files
  }

  /// Reads the events; returns true if the beacon was touched or the files may have changed.
  package func drain() -> Bool { drainNews() != .nothing }

  /// Reads the events, and tells them apart.
  package func drainNews() -> News {
    switch runnel_inotify_drain_database(descriptor, name, file) {
    case 0: .nothing
    case Int32(RUNNEL_INOTIFY_NAMED): .commit
    default: .files
    }
  }

  /// The full path of a folder, so that the folders above it are known; unchanged if the current
  /// folder is unknown.
  private static func whole(_ folder: String) -> String {
    if folder.hasPrefix("/") { return folder }
    guard let present = getcwd(nil, 0) else { return folder }
    defer { free(present) }
    return String(cString: present) + "/" + folder
  }

  deinit { runnel_close(descriptor) }
}
