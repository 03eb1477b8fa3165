import Glibc

/// A Unix socket in the file system, which only the owner of the server's process may use.
enum SocketFile {
  /// Binds a socket to a path; the caller owns the descriptor.
  ///
  /// A socket that a killed server left is replaced.
  ///
  /// - Throws: `NetworkError` if the name is too long or taken, or if the socket cannot be made.
  static func bind(_ path: String) throws(NetworkError) -> Int32 {
    let short = try SocketPath(path)
    try removeStale(path, short)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0 { throw failure(path) }
    // The file has this mode from the start: other users can connect at no time.
    guard fchmod(descriptor, 0o600) == 0, call(Glibc.bind, descriptor, short) == 0 else {
      let error = failure(path)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func removeStale(_ path: String, _ short: SocketPath) throws(NetworkError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw NetworkError("\(path) is not a socket: move it away.")
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0 { throw failure(path) }
    defer { close(descriptor) }
    if call(connect, descriptor, short) == 0 {
      throw NetworkError("Another server listens on \(path).")
    }
    unlink(path)
  }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
    _ path: SocketPath
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.text.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ path: String) -> NetworkError {
    NetworkError("Nobody can listen on \(path): \(String(cString: strerror(errno))).")
  }
}
