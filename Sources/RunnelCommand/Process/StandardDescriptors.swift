import Glibc

/// Standard input, output and error, which may be closed when the program starts.
enum StandardDescriptors {
  /// Opens those that are closed, so that no other file gets their numbers: neither a database nor
  /// the descriptor for signals.
  ///
  /// They are opened on the null device in the opposite direction: reading from closed input and
  /// writing to closed output then fail as they would have. Must be called before anything else.
  static func fillClosed() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { continue }
      // The system gives the lowest free number; if this fails, nothing else can be opened either.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
