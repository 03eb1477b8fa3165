import CStorage
import Glibc

/// The files that a connection opened, which are compared with the files that have their names now.
///
/// Responsibilities:
/// - It knows the database file, its log and the index of the log by device and inode since they
///   were opened, and the size of the file.
/// - It tells their loss. A caller that checks before and after a commit knows that processes which
///   open the file by its name find the write.
///
/// Limit: a loss between the last check and the acknowledgement is found by the next check.
final class OpenedFiles {
  private struct Place {
    let path: String
    let identity: FileIdentity
  }

  private enum Finding {
    case same
    case other
    case absent
    /// The caller may not know this yet.
    case unknown
  }

  private let main: Place
  /// The log; nil if there is none, as on a read-only medium.
  private let log: Place?
  /// The log, open for reading; nil if it could not be opened.
  private let logDescriptor: Int32?
  private let index: Place?
  /// The size of the index, which only grows, and how many times indexes there were cut off before.
  private let indexSize: Int
  private let indexCuts: UInt32
  /// The given name, if it leads to the file by a link.
  private let link: Place?
  /// The file's size and time when it was last found to be sound.
  private var stamp: Stamp
  /// The content of the file, and the place reached in the log, when it was last found to be sound.
  private var content: KnownFile?

  /// The attributes that change when a file is written.
  private struct Stamp: Equatable {
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      size = Int(status.st_size)
      // Which module owns the members of `timespec` depends on what is imported first.
      (seconds, nanoseconds) = withUnsafeBytes(of: status.st_mtim) { bytes in
        (bytes.load(as: Int.self), bytes.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self))
      }
    }
  }

  /// Records the files as they are now.
  ///
  /// - Parameters:
  ///   - path: the path of the file as SQLite opened it.
  ///   - name: the path as it was given.
  ///   - hasLog: whether SQLite has a log open.
  ///   - content: the content of the file.
  init?(path: String, name: String, hasLog: Bool, content: KnownFile?) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    main = Place(path: path, identity: FileIdentity(status))
    stamp = Stamp(status)
    self.content = content
    log = hasLog ? OpenedFiles.place(path + "-wal") : nil
    logDescriptor = log.flatMap(OpenedFiles.open)
    index = hasLog ? OpenedFiles.place(path + "-shm") : nil
    var indexStatus = stat()
    indexSize = hasLog && stat(path + "-shm", &indexStatus) == 0 ? Int(indexStatus.st_size) : 0
    indexCuts = index.map { runnel_storage_index_cuts($0.identity.inode) } ?? 0
    link = name.hasPrefix("/") && name != path ? OpenedFiles.place(name) : nil
  }

  /// The files by which two connections to the same database are known.
  var identity: OpenedIdentity { OpenedIdentity(main: main.identity, log: log?.identity) }

  deinit { if let logDescriptor { Glibc.close(logDescriptor) } }

  /// Opens a file if it is still the one at its place; the log is never locked, so that closing it releases no
  /// lock.
  private static func open(_ place: Place) -> Int32? {
    let descriptor = Glibc.open(place.path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    var status = stat()
    if fstat(descriptor, &status) == 0, FileIdentity(status) == place.identity { return descriptor }
    Glibc.close(descriptor)
    return nil
  }

  private static func place(_ path: String) -> Place? {
    FileIdentity(path).map { Place(path: path, identity: $0) }
  }

  /// Checks the files for a loss.
  ///
  /// It costs a system call for each file.
  ///
  /// - Parameters:
  ///   - isCommitted: true just after a commit. The index of the log does not matter then: the
  ///     write is in the log.
  ///   - place: the place reached in the log; nil if there is none.
  ///   - present: called to read the content of the file; nil if nothing is known of it.
  ///   - isSound: called to check whether a file that was written meanwhile, as when the log is
  ///     copied to it, belongs to the log; returns nil if this cannot be told yet.
  ///   - isLogSound: called to check whether the log is the one that was written, with the log if it is open,
  ///     and its size a moment ago.
  /// - Returns: the loss; nil if the files are unchanged.
  func loss(
    isCommitted: Bool = false, place: LogPlace?, present: () -> KnownFile?,
    isSound: () -> Bool?, isLogSound: (_ log: Int32?, _ size: Int) -> Bool
  ) -> FileLoss? {
    var status = stat()
    switch OpenedFiles.look(at: main, &status) {
    case .absent: return whatBecameOfFile()
    case .other: return .replaced(isAt: main.identity.whereabouts())
    case .same:
      let found = Stamp(status)
      if found == stamp {
        follow(place, present)
        break
      }
      switch isSound() {
      case true?:
        let present = present()
        if let content, let present, content.isOverwritten(by: present) { return .overwritten }
        (stamp, content) = (found, present)
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

  /// Which files are at their places again.
  enum Presence: Hashable {
    /// All, as they were when they were last found to be sound: the same ones, and the database file was not
    /// written meanwhile.
    case whole
    /// The database file as it was, without these files beside it.
    case missing([String])
    /// Others may have written the database file, or have begun another log.
    case changed
  }

  /// Looks which files are at their places again; the place is the one reached in the log, or nil if there is
  /// none.
  ///
  /// The order in which they come does not matter. Whoever opens the file without its log begins another one: that
  /// has the name then, or was copied to the file, or was replaced by the old one, which that program finds as we do.
  func presence(_ place: LogPlace?) -> Presence {
    var status = stat()
    guard OpenedFiles.look(at: main, &status) == .same, Stamp(status) == stamp else {
      return .changed
    }
    if let known = content?.place {
      guard let place, place.salts == known.salts, place.copied == known.copied else {
        return .changed
      }
    }
    var missing: [String] = []
    for file in [log, index, link].compactMap(\.self) {
      switch OpenedFiles.look(at: file, &status) {
      case .same: continue
      case .absent: missing.append(file.path)
      case .other, .unknown: return .changed
      }
    }
    return missing.isEmpty ? .whole : .missing(missing)
  }

  /// Whether the database file has its name again.
  var isAtItsPlace: Bool {
    var status = stat()
    return OpenedFiles.look(at: main, &status) == .same
  }

  /// What became of a database file that is not at its place; nil if it is.
  var absence: FileLoss? {
    var status = stat()
    switch OpenedFiles.look(at: main, &status) {
    case .absent: return whatBecameOfFile()
    case .other: return .replaced(isAt: main.identity.whereabouts())
    case .same, .unknown: return nil
    }
  }

  /// Notes the place in the log of a file that was not written.
  private func follow(_ place: LogPlace?, _ present: () -> KnownFile?) {
    guard let known = content?.place else { return }
    if let place, place.salts == known.salts, place.copied == known.copied {
      content?.place = place
    } else {
      // The time of a file is not exact: it may have been written after all.
      content = present()
    }
  }

  private func lossOfLog(
    isCommitted: Bool, _ isLogSound: (_ log: Int32?, _ size: Int) -> Bool
  ) -> FileLoss? {
    var status = stat()
    if let log {
      switch OpenedFiles.look(at: log, &status) {
      case .absent: return .logDeleted(isSaved: false)
      // The next process that opens the file makes one: no other process has begun it yet.
      case .other: return status.st_size == 0 ? .logDeleted(isSaved: false) : .logReplaced
      case .same:
        if !isLogSound(logDescriptor, Int(status.st_size)) { return .logOverwritten }
      case .unknown: break
      }
    }
    guard let index, !isCommitted else { return nil }
    switch OpenedFiles.look(at: index, &status) {
    case .absent, .other: return .indexLost
    case .same:
      let isCut =
        Int(status.st_size) < indexSize
        || runnel_storage_index_cuts(index.identity.inode) != indexCuts
      return isCut ? .indexCut : nil
    case .unknown: return nil
    }
  }

  /// True if no other process can have begun another log: the log's name is free, or an empty file
  /// has it, and the index is the old one.
  var isLogAlone: Bool {
    var status = stat()
    guard let log, let index, OpenedFiles.look(at: main, &status) == .same else { return false }
    let found = OpenedFiles.look(at: log, &status)
    return (found == .absent || found == .other && status.st_size == 0)
      && OpenedFiles.look(at: index, &status) == .same
  }

  /// What became of a file that was not at its place; nil if it has just come back.
  private func whatBecameOfFile() -> FileLoss? {
    guard let place = main.identity.whereabouts() else { return .deleted }
    if isAtItsPlace { return nil }
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

/// A database file and its log, as one connection opened them.
package struct OpenedIdentity: Hashable, Sendable {
  let main: FileIdentity
  /// The log; nil if it is not known.
  let log: FileIdentity?

  /// Whether another connection has opened the same files.
  func isSame(as other: OpenedIdentity) -> Bool {
    main == other.main && (log == nil || other.log == nil || log == other.log)
  }
}

/// The place that all programs together have reached in a log.
struct LogPlace: Hashable {
  /// The number of frames in use, and the number of them that were copied to the file.
  var frames: UInt32
  var copied: UInt32
  /// The salts of the log, which change when it begins anew.
  var salts: [UInt8]
}

/// The content of a database file without its log.
struct KnownFile: Hashable {
  var state: LogMark.FileState
  /// The place in the log at which the file had this content.
  var place: LogPlace

  /// True if another program, such as `cp`, wrote the file until it had this later content.
  ///
  /// Runnel writes a file only by copying frames of the log, so that the place in the log changes too.
  func isOverwritten(by later: KnownFile) -> Bool {
    later.place == place && later.state != state
  }
}
