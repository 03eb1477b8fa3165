import Glibc

/// Standard input, output and error, which may be closed when the program starts.
enum StandardDescriptors {
  /// Opens those that are closed, so that nothing else gets their numbers: a database, or what is read
  /// to hear of signals.
  ///
  /// They are opened on the null device the wrong way round: to read what was closed for reading fails
  /// as it would have, and so does to write. Call it first of all.
  static func fillClosed() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { continue }
      // The least number that is free is given; where that fails, nothing can be opened at all.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
