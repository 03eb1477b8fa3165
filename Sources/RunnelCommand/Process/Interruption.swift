import CPlatform
import Glibc

/// The signals that ask the program to stop.
///
/// The program handles them at certain points, not at any moment.
///
/// It must be created before any thread starts: the signals are blocked for threads that start
/// later.
struct Interruption {
  /// A signal asks the program to stop.
  struct Stopped: Error {
    /// The number of the signal.
    var signal: Int32
  }

  /// A descriptor that becomes readable when a signal arrives.
  let descriptor: Int32

  /// Blocks the signals and starts to listen for them.
  ///
  /// - Throws: `Failure` if the system refuses.
  init() throws {
    guard runnel_signals_block() == 0 else { throw Failure.system("Signals cannot be blocked") }
    descriptor = runnel_signalfd_open()
    if descriptor < 0 { throw Failure.system("Signals cannot be read") }
  }

  /// Runs `body`, during which a signal ends the program at once.
  func whileSignalsEnd<Result>(_ body: () throws -> Result) rethrows -> Result {
    // Both calls fail only for an invalid set.
    _ = runnel_signals_let_end(true)
    defer { _ = runnel_signals_let_end(false) }
    return try body()
  }

  /// The number of a signal to stop that arrived since the last call; nil if none did.
  ///
  /// A request to suspend (C-z) is obeyed at once; this returns when the process continues.
  func pending() -> Int32? {
    while true {
      switch runnel_signalfd_read(descriptor) {
      case let signal where runnel_signal_ends(signal): return signal
      case SIGTSTP: runnel_stop_process_group()
      case let signal where signal <= 0: return nil
      default: continue
      }
    }
  }

  /// Throws if a signal to stop has arrived.
  ///
  /// - Throws: `Stopped`.
  func check() throws {
    if let signal = pending() { throw Stopped(signal: signal) }
  }

  /// Waits until a descriptor can be read or is at its end.
  ///
  /// - Throws: `Stopped` if a signal to stop arrives before.
  func wait(forInput input: Int32) throws {
    try wait(for: input, events: Int16(POLLIN))
  }

  /// Waits until a descriptor accepts output, or its reader is gone.
  ///
  /// - Throws: `Stopped` if a signal to stop arrives before.
  func wait(forOutput output: Int32) throws {
    try wait(for: output, events: Int16(POLLOUT))
  }

  private func wait(for other: Int32, events: Int16) throws {
    while true {
      var polled = [
        pollfd(fd: other, events: events, revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else {
        throw Failure.system("Waiting failed")
      }
      if polled[1].revents != 0 { try check() }
      if polled[0].revents != 0 { return }
    }
  }
}
