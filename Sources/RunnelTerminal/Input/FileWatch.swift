import CPlatform
import Glibc

/// Notices that a file is saved or removed, also by editors that write another file and rename it.
///
/// It watches the folder, so the file need not exist yet; the folder must.
package final class FileWatch {
  /// The descriptor to poll for reading.
  package let fileDescriptor: Int32

  /// Whether the folder was removed, so that nothing more will be noticed, even if another one
  /// takes its place; known after `drain`.
  package private(set) var isGone = false

  private let name: String

  /// Watches a file by its path.
  ///
  /// - Throws: `TerminalError.systemCall` if the folder cannot be watched.
  package convenience init(file: String) throws(TerminalError) {
    let slash = file.lastIndex(of: "/")
    let folder = slash.map { String(file[..<$0]) } ?? "."
    let name = slash.map { String(file[file.index(after: $0)...]) } ?? file
    try self.init(folder: folder.isEmpty ? "/" : folder, name)
  }

  /// Watches all files of a folder, but not those of folders in it.
  ///
  /// - Throws: `TerminalError.systemCall` if the folder cannot be watched.
  package convenience init(folder: String) throws(TerminalError) {
    try self.init(folder: folder, "")
  }

  private init(folder: String, _ name: String) throws(TerminalError) {
    self.name = name
    fileDescriptor = runnel_inotify_open()
    guard fileDescriptor >= 0 else { throw .systemCall("inotify_init1", errno) }
    if runnel_inotify_add_file_watch(fileDescriptor, folder) < 0 {
      let reason = errno
      runnel_close(fileDescriptor)
      throw .systemCall("inotify_add_watch", reason)
    }
  }

  deinit { runnel_close(fileDescriptor) }

  /// Returns whether the file, or a file of the folder, may have changed since the last call; never
  /// blocks.
  package func drain() -> Bool {
    let answer = runnel_inotify_drain(fileDescriptor, name)
    if answer > 0, answer & Int32(RUNNEL_INOTIFY_GONE) != 0 { isGone = true }
    return answer != 0
  }
}
