import CPlatform
import Glibc

/// Hears of a file that is saved, also by editors that write another one and rename it.
///
/// The folder is watched, so that the file need not be there yet; the folder must.
public final class FileWatch {
  /// The descriptor to poll for reading.
  public let fileDescriptor: Int32

  private let name: String

  /// Watches a file by its path.
  ///
  /// - Throws: `TerminalError.systemCall` when the folder cannot be watched.
  public init(file: String) throws(TerminalError) {
    let slash = file.lastIndex(of: "/")
    let folder = slash.map { String(file[..<$0]) } ?? "."
    name = slash.map { String(file[file.index(after: $0)...]) } ?? file
    fileDescriptor = runnel_inotify_open()
    guard fileDescriptor >= 0 else { throw .systemCall("inotify_init1", errno) }
    if runnel_inotify_add_watch(fileDescriptor, folder.isEmpty ? "/" : folder) < 0 {
      let reason = errno
      runnel_close(fileDescriptor)
      throw .systemCall("inotify_add_watch", reason)
    }
  }

  deinit { runnel_close(fileDescriptor) }

  /// Whether the file may have changed since the last call; never blocks.
  public func drain() -> Bool { runnel_inotify_drain(fileDescriptor, name) != 0 }
}
