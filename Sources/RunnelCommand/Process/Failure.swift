import Glibc
import RunnelApp
import RunnelDatabase

/// The exit status of the process.
struct ExitStatus: Hashable {
  /// Success.
  static let success = ExitStatus(rawValue: 0)
  /// Something failed.
  static let failure = ExitStatus(rawValue: 1)
  /// The command line was not understood, or does not fit the terminal.
  static let usage = ExitStatus(rawValue: 2)

  /// A failure that may succeed later: another process holds the database.
  static let retryable = ExitStatus(rawValue: 3)

  let rawValue: Int32

  /// The status of a process that a signal ended, as shells define it.
  static func interrupted(by signal: Int32) -> ExitStatus { ExitStatus(rawValue: 128 + signal) }
}

/// The reason why a command ends early: a message and an exit status.
struct Failure: Error {
  /// The message: what happened, and what to do.
  var message: String
  /// The status of the process.
  var status: ExitStatus

  init(_ message: String, status: ExitStatus = .failure) {
    self.message = message
    self.status = status
  }

  /// A failure of a system call, which has just set `errno`.
  static func system(_ what: String) -> Failure {
    switch errno {
    case EMFILE, ENFILE: Failure("\(what): \(OpenFiles.words(errno))")
    case EFBIG: Failure("\(what): \(FileSizeLimit.words)")
    case let number: Failure("\(what): \(SystemReason.words(number)).")
    }
  }
}
