import CPlatform
import Glibc

/// The file beside a database that is touched after each commit, and how others notice.
///
/// It tells also which sessions on a replica run: see `mark(session:)`.
///
/// The write-ahead log itself is no sign: it is modified before the commit can be seen.
struct ChangeBeacon {
  private let descriptor: Int32
  /// The session that is marked here as running.
  private(set) var session: Int64?

  /// The name of the beacon of a database file.
  static func path(ofDatabase file: String) -> String { file + "-notify" }

  /// Opens the beacon, making it if need be; nil if that is not possible, and then nobody is woken:
  /// others still find the commit when they look by themselves.
  ///
  /// Whoever may write the database may touch its beacon too: a new one gets the database's rights.
  init?(database file: String) {
    let beacon = ChangeBeacon.path(ofDatabase: file)
    var descriptor = open(beacon, O_WRONLY | O_CLOEXEC)
    if descriptor < 0, errno == ENOENT {
      descriptor = open(beacon, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
      var status = stat()
      if descriptor >= 0, stat(file, &status) == 0 {
        // Where it fails, others find the commits when they look by themselves.
        _ = fchmod(descriptor, status.st_mode & 0o666)
      }
    }
    if descriptor < 0 { return nil }
    self.descriptor = descriptor
  }

  /// Tells the others that something was committed.
  func signal() {
    // Touching the file fails only where waking is impossible anyway.
    _ = futimens(descriptor, nil)
  }

  /// Ends the mark, whoever has a copy of the descriptor.
  func close() {
    if session != nil { runnel_bytes_unlock(descriptor) }
    runnel_close(descriptor)
  }
}

// MARK: Sessions

extension ChangeBeacon {
  /// Marks a session as running until this is closed or the process ends, however it ends; false if
  /// another session has this number.
  ///
  /// The mark is a lock on the byte of that number; the file has no bytes.
  mutating func mark(session: Int64) -> Bool {
    guard runnel_byte_lock(descriptor, session) == 0 else { return false }
    self.session = session
    return true
  }

  /// True if a session other than the one marked here is marked as running.
  ///
  /// Where locks are not to be had none is: what it left is then taken back too early, not too late.
  func isMarked(session: Int64) -> Bool { runnel_byte_is_locked(descriptor, session) == 1 }
}

/// Waits for the beacon of a database to be touched by another process, or by this one, and for its files to
/// be deleted, moved or replaced.
final class ChangeWatch: Sendable {
  /// The descriptor that becomes readable when something happened in the beacon's folder.
  let descriptor: Int32
  private let name: String
  private let file: String

  /// Starts watching; nil if the folder cannot be watched.
  init?(database file: String) {
    let beacon = ChangeBeacon.path(ofDatabase: file)
    let slash = beacon.lastIndex(of: "/")
    let folder = slash.map { $0 == beacon.startIndex ? "/" : String(beacon[..<$0]) } ?? "."
    name = slash.map { String(beacon[beacon.index(after: $0)...]) } ?? beacon
    self.file = slash.map { String(file[file.index(after: $0)...]) } ?? file
    descriptor = runnel_inotify_open()
    if descriptor < 0 { return nil }
    if runnel_inotify_add_database_watch(descriptor, ChangeWatch.whole(folder)) < 0 {
      runnel_close(descriptor)
      return nil
    }
  }

  /// Reads what happened; true if the beacon was touched or the files are others, or that may be.
  func drain() -> Bool { runnel_inotify_drain_database(descriptor, name, file) != 0 }

  /// A folder's whole path, so that those above it are known; as it is if the present one is not to be found.
  private static func whole(_ folder: String) -> String {
    if folder.hasPrefix("/") { return folder }
    guard let present = getcwd(nil, 0) else { return folder }
    defer { free(present) }
    return String(cString: present) + "/" + folder
  }

  deinit { runnel_close(descriptor) }
}
