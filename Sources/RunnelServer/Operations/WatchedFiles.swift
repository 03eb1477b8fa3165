import Glibc
import Synchronization

/// Files that are reloaded when they change.
///
/// They are polled, because a file may be replaced in many ways: written, moved, or behind a link.
/// It is used on one thread.
final class WatchedFiles: Sendable {
  static let lookMilliseconds = 1000

  private struct Mark: Hashable {
    var device: dev_t
    var file: ino_t
    var size: off_t
    var seconds: Int
    var nanoseconds: Int
  }

  private struct Watched: Sendable {
    var paths: [String]
    var marks: [Mark?]
    var reload: @Sendable () -> Void
  }

  private let watched = Mutex<[Watched]>([])

  /// Calls `reload` when one of these files changes from now on.
  func watch(_ paths: [String], _ reload: @escaping @Sendable () -> Void) {
    let marks = paths.map(WatchedFiles.mark)
    watched.withLock { $0.append(Watched(paths: paths, marks: marks, reload: reload)) }
  }

  /// Reloads the changed files, or all.
  func look(all: Bool = false) {
    let changed: [@Sendable () -> Void] = watched.withLock { watched in
      var changed: [@Sendable () -> Void] = []
      for index in watched.indices {
        let marks = watched[index].paths.map(WatchedFiles.mark)
        if marks == watched[index].marks, !all { continue }
        watched[index].marks = marks
        changed.append(watched[index].reload)
      }
      return changed
    }
    for reload in changed { reload() }
  }

  private static func mark(_ path: String) -> Mark? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Mark(
      device: status.st_dev, file: status.st_ino, size: status.st_size,
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }
}
