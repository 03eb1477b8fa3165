import CPlatform
import Glibc
import NIOPosix

/// The threads of connections, and of work that blocks, that all parts of a program share.
///
/// No signal is delivered to them: a change of the terminal's size, or the wish to end the program, would
/// be lost there. They inherit their mask from the thread that uses them first.
enum SharedThreads {
  /// The loops of connections.
  static let loops: MultiThreadedEventLoopGroup = withSignalsHeld { .singleton }

  /// The threads of work that blocks.
  static let pool: NIOThreadPool = withSignalsHeld { .singleton }

  private static func withSignalsHeld<Result>(_ start: () -> Result) -> Result {
    var before = sigset_t()
    runnel_signals_hold(&before)
    defer { runnel_signals_release(&before) }
    return start()
  }
}
