import CPlatform
import Glibc

/// A doorbell: any thread rings it, and the thread that polls hears it.
///
/// Several rings before the next `drain` count as one. The descriptor is readable from a ring until
/// the drain.
public final class Wakeup: Sendable {
  /// The descriptor to poll for reading.
  public let fileDescriptor: Int32

  /// Makes a silent doorbell.
  ///
  /// - Throws: `TerminalError.systemCall` if the process has no descriptor left.
  public init() throws(TerminalError) {
    fileDescriptor = runnel_eventfd_open()
    guard fileDescriptor >= 0 else { throw .systemCall("eventfd", errno) }
  }

  deinit { runnel_close(fileDescriptor) }

  /// Rings; callable from any thread, and never blocks.
  public func signal() {
    let result = runnel_eventfd_signal(fileDescriptor)
    precondition(result == 0, "an open eventfd takes a write")
  }

  /// Silences the doorbell; call it before looking at what was posted.
  ///
  /// - Returns: Whether it had rung.
  @discardableResult
  public func drain() -> Bool { runnel_eventfd_drain(fileDescriptor) == 1 }
}

/// A signal that the terminal loop handles as an event.
public enum TerminalSignal: Hashable, Sendable {
  /// Leave, and report this signal number in the exit status.
  case terminate(Int32)
  /// The terminal is gone: leave without writing to it.
  case hangUp
  /// SIGINT from outside; at the keyboard, C-c arrives as a key.
  case interrupt
  /// SIGTSTP from outside; at the keyboard, C-z arrives as a key.
  case stop
  /// The process was continued after a stop that it did not make itself.
  case resume
  /// The terminal may have another size.
  case windowChanged

  init?(number: Int32) {
    switch number {
    case SIGTERM, SIGUSR1, SIGUSR2, SIGALRM: self = .terminate(number)
    case SIGHUP: self = .hangUp
    case SIGINT: self = .interrupt
    case SIGTSTP: self = .stop
    case SIGCONT: self = .resume
    case SIGWINCH: self = .windowChanged
    default: return nil
    }
  }
}

/// The process's signals as a descriptor to poll.
///
/// SIGQUIT is not among them: it stays with the crash handlers.
public final class SignalSource {
  /// The descriptor to poll for reading.
  public let fileDescriptor: Int32

  /// Blocks the signals of `TerminalSignal` in the calling thread, and ignores SIGPIPE.
  ///
  /// Call it first in `main`: threads inherit the mask when they start, and a signal that one thread
  /// leaves open is delivered there and not to the source. Children inherit it too, see
  /// `restoreSignals()`.
  public static func blockSignals() {
    let result = runnel_signals_block()
    precondition(result == 0, "the set of signals to block is valid")
  }

  /// Unblocks the signals in the calling thread: for a child before it runs another program.
  public static func restoreSignals() {
    let result = runnel_signals_restore()
    precondition(result == 0, "the set of signals to open is valid")
  }

  /// Lets the signals that ask the program to end do so at once, or blocks them again.
  ///
  /// It is for the start of the program, before the signals are read. The thread that blocked them
  /// must call it. A screen that is open by then is released first.
  public static func letSignalsEnd(_ lets: Bool) {
    let result = runnel_signals_let_end(lets)
    precondition(result == 0, "the set of signals to open is valid")
  }

  /// Stops the process group as C-z does; returns when it is continued.
  ///
  /// The screen must be suspended before and resumed after. It returns at once if there is no shell
  /// that could continue the process.
  public static func stopProcess() {
    // A failure leaves the process running: the caller resumes the screen either way.
    _ = runnel_stop_process_group()
  }

  /// Opens the source; signals that arrived since they were blocked can be read from it.
  ///
  /// - Throws: `TerminalError.systemCall` if the process has no descriptor left.
  public init() throws(TerminalError) {
    fileDescriptor = runnel_signalfd_open()
    guard fileDescriptor >= 0 else { throw .systemCall("signalfd", errno) }
  }

  deinit { runnel_close(fileDescriptor) }

  /// Returns the signals that arrived since the last call; never blocks.
  public func read() -> [TerminalSignal] {
    var signals: [TerminalSignal] = []
    while true {
      let number = runnel_signalfd_read(fileDescriptor)
      guard number > 0 else { return signals }
      if let signal = TerminalSignal(number: number) { signals.append(signal) }
    }
  }
}

/// Waits on descriptors.
public enum Poller {
  /// The state of a descriptor.
  public struct Readiness: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is something to read.
    public static let readable = Readiness(rawValue: UInt8(RUNNEL_POLL_READABLE))
    /// The other side is gone, or the descriptor is not valid: polling it again returns at once.
    public static let hungUp = Readiness(rawValue: UInt8(RUNNEL_POLL_HUNG_UP))
  }

  /// The most descriptors of one wait.
  public static let descriptorsMax = Int(RUNNEL_POLL_MAX)

  /// Waits until one of the descriptors is ready, or until the time is over.
  ///
  /// Signals that interrupt the wait neither shorten nor lengthen it.
  ///
  /// - Parameters:
  ///   - fileDescriptors: The descriptors to wait on; at most `descriptorsMax`.
  ///   - timeoutMilliseconds: The longest wait; nil waits forever, 0 does not wait.
  /// - Returns: An answer for each descriptor, in their order; all empty after the timeout.
  public static func wait(
    _ fileDescriptors: [Int32], timeoutMilliseconds: Int? = nil
  ) -> [Readiness] {
    precondition(fileDescriptors.count <= descriptorsMax, "too many descriptors for one wait")
    var answers = [UInt8](repeating: 0, count: fileDescriptors.count)
    let timeout = timeoutMilliseconds.map { Int32(clamping: max(0, $0)) } ?? -1
    let result = runnel_poll(fileDescriptors, &answers, Int32(fileDescriptors.count), timeout)
    precondition(result >= 0, "poll fails only on invalid arguments")
    return answers.map { Readiness(rawValue: $0) }
  }
}
