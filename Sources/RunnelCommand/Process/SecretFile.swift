import Glibc

/// A new file that only its owner may read.
enum SecretFile {
  /// Writes the file.
  ///
  /// - Throws: `Failure` if the file exists already or cannot be written; then no file is left.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      if errno == EEXIST { throw Failure("\(path) is there already: name another file with --to.") }
      throw Failure.system("\(path) cannot be made")
    }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    let isSynced = rest.isEmpty && fsync(descriptor) == 0
    let failure = Failure.system("\(path) cannot be written")
    close(descriptor)
    if isSynced { return }
    unlink(path)
    throw failure
  }
}
