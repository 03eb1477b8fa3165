import Glibc

/// The files that a connection opened, and whether their names still lead to them.
///
/// Responsibilities:
/// - It knows the database file, its log and the index of the log by device and inode, from when they were
///   opened, and the size of the file.
/// - It tells what became of them. Whoever asks before and after a commit knows that those who open the
///   file by its name find the write.
///
/// Limit: what is done to the files between the last look and the acknowledgement is found by the next look.
final class OpenedFiles {
  private struct Place {
    let path: String
    let identity: FileIdentity
  }

  private enum Finding {
    case same
    case other
    case absent
    /// The caller may not know.
    case unknown
  }

  private let main: Place
  /// Nil where there are none: on a medium for reading only.
  private let log: Place?
  private let index: Place?
  /// The name that was given, if it leads to the file by a link.
  private let link: Place?
  /// The file's size and time when it was found to be sound.
  private var stamp: Stamp

  /// What changes when a file is written.
  private struct Stamp: Equatable {
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      size = Int(status.st_size)
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
  }

  /// Takes note of the files as they are.
  ///
  /// - Parameters:
  ///   - path: the file as SQLite opened it.
  ///   - name: the file as it was named.
  ///   - hasLog: whether SQLite has a log open.
  init?(path: String, name: String, hasLog: Bool) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    main = Place(path: path, identity: FileIdentity(status))
    stamp = Stamp(status)
    log = hasLog ? OpenedFiles.place(path + "-wal") : nil
    index = hasLog ? OpenedFiles.place(path + "-shm") : nil
    link = name.hasPrefix("/") && name != path ? OpenedFiles.place(name) : nil
  }

  private static func place(_ path: String) -> Place? {
    FileIdentity(path).map { Place(path: path, identity: $0) }
  }

  /// Looks at what became of the files.
  ///
  /// It costs a call of the system for each file.
  ///
  /// - Parameters:
  ///   - isCommitted: true just after a commit. Whether the index of the log is there makes no difference then:
  ///     the write is in the log.
  ///   - isSound: is asked whether the file holds what it should where it was written, as when the log
  ///     is copied to it; nil if that cannot be told yet.
  ///   - isLogSound: is asked whether the log is the one that was written, as far as it was.
  /// - Returns: what became of them; nil if they are as they were.
  func loss(
    isCommitted: Bool = false, isSound: () -> Bool?, isLogSound: () -> Bool
  ) -> FileLoss? {
    var status = stat()
    switch OpenedFiles.look(at: main, &status) {
    case .absent: return whatBecameOfFile()
    case .other: return .replaced(isAt: main.identity.whereabouts())
    case .same:
      let found = Stamp(status)
      if found == stamp { break }
      switch isSound() {
      case true?: stamp = found
      case false?: return .overwritten
      case nil: break
      }
    case .unknown: break
    }
    if let link, [.absent, .other].contains(OpenedFiles.look(at: link, &status)) {
      return .replaced(isAt: main.path)
    }
    return lossOfLog(isCommitted: isCommitted, isLogSound)
  }

  private func lossOfLog(isCommitted: Bool, _ isLogSound: () -> Bool) -> FileLoss? {
    var status = stat()
    if let log {
      switch OpenedFiles.look(at: log, &status) {
      case .absent: return .logDeleted(isSaved: false)
      // Whoever opens the file makes one: nobody has begun it yet.
      case .other: return status.st_size == 0 ? .logDeleted(isSaved: false) : .logReplaced
      case .same: if !isLogSound() { return .logOverwritten }
      case .unknown: break
      }
    }
    guard let index, !isCommitted else { return nil }
    switch OpenedFiles.look(at: index, &status) {
    case .absent, .other: return .indexLost
    case .same, .unknown: return nil
    }
  }

  /// True if nobody can have begun another log: the name of this one is free, or an empty file has it, and the index is the old one.
  var isLogAlone: Bool {
    var status = stat()
    guard let log, let index, OpenedFiles.look(at: main, &status) == .same else { return false }
    let found = OpenedFiles.look(at: log, &status)
    return (found == .absent || found == .other && status.st_size == 0)
      && OpenedFiles.look(at: index, &status) == .same
  }

  private func whatBecameOfFile() -> FileLoss {
    guard let place = main.identity.whereabouts() else { return .deleted }
    var status = stat()
    let leavesLog =
      log.map { OpenedFiles.look(at: $0, &status) == .same && status.st_size > 0 } ?? false
    return .moved(to: place, leavesLog: leavesLog)
  }

  private static func look(at place: Place, _ status: inout stat) -> Finding {
    if stat(place.path, &status) != 0 {
      return [ENOENT, ENOTDIR, ELOOP].contains(errno) ? .absent : .unknown
    }
    return FileIdentity(status) == place.identity ? .same : .other
  }
}
