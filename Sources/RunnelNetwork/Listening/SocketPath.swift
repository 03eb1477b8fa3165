import Glibc

/// The path of a Unix socket, in a form that is short enough for the system.
///
/// The address of a socket has 107 bytes, while a path may have 4,096. A longer path is named by its open
/// folder, which is kept open as long as this value.
final class SocketPath {
  /// The most bytes of an address.
  static let bytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// The path to give to the system.
  let text: String
  private let folder: Int32?

  /// - Throws: `NetworkError` if the folder cannot be opened, or the name alone is too long.
  init(_ path: String) throws(NetworkError) {
    if path.utf8.count <= SocketPath.bytesMax {
      (text, folder) = (path, nil)
      return
    }
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { String(path[...$0]) } ?? "."
    let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 {
      throw NetworkError("\(parent) cannot be opened: \(String(cString: strerror(errno))).")
    }
    let short = "/proc/self/fd/\(descriptor)/\(name)"
    guard short.utf8.count <= SocketPath.bytesMax else {
      close(descriptor)
      throw NetworkError(
        "The name \(name) is too long for a socket: a shorter name of the database has one.")
    }
    (text, folder) = (short, descriptor)
  }

  deinit { if let folder { close(folder) } }
}
