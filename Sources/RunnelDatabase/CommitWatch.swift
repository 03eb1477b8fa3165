import CPlatform
import Glibc

/// Notices that something was committed to one of several databases in a folder, by this process or another one.
package final class CommitWatch {
  /// The descriptor to poll for reading.
  package let fileDescriptor: Int32
  /// The databases that are watched.
  package let files: [String]
  /// The names of their beacons, with a slash before, between and after them.
  private let names: String

  /// Watches databases, which need not exist; nil if their folder does not exist or cannot be watched.
  ///
  /// - Parameter files: the paths; those in another folder than the first one are not watched.
  package init?(databases files: [String]) {
    let beacons = files.map { ChangeBeacon.path(ofDatabase: $0) }
    guard let first = beacons.first, let slash = first.lastIndex(of: "/") else { return nil }
    let folder = String(first[...slash])
    let own = beacons.filter { $0.hasPrefix(folder) }.map { $0.dropFirst(folder.count) }
    self.files = files
    names = "/" + own.joined(separator: "/") + "/"
    fileDescriptor = runnel_inotify_open()
    if fileDescriptor < 0 { return nil }
    if runnel_inotify_add_file_watch(fileDescriptor, folder) < 0 {
      runnel_close(fileDescriptor)
      return nil
    }
  }

  deinit { runnel_close(fileDescriptor) }

  /// Returns whether something may have been committed since the last call; never blocks.
  package func drain() -> Bool { runnel_inotify_drain(fileDescriptor, names) != 0 }
}
