import Glibc
import Synchronization

/// The signals to stop during a move: it ends between two pages of rows, with what it did undone.
///
/// ```
///   listening --signal--> asked --the move ends--> ended
///                           |
///                           +--3 s, as a store does not answer--> the process ends
/// ```
///
/// It must be created before any thread starts.
final class MoveInterruption: Sendable {
  private static let lookPause = Duration.milliseconds(50)
  private static let patience = Duration.seconds(3)

  private let signal = Mutex<Int32?>(nil)
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Begins to listen; `move` is what is said if the process ends in the middle.
  ///
  /// - Throws: `Failure` if the system refuses.
  init(_ move: BrokenMove) throws {
    let interruption = try Interruption()
    let listening = Task.detached { [weak self] in
      while !Task.isCancelled {
        if let signal = interruption.pending() {
          self?.signal.withLock { $0 = signal }
          // The sleep is cut short when the move ends.
          guard (try? await Task.sleep(for: MoveInterruption.patience)) != nil else { return }
          StandardError.say("The move was broken off. \(move.state(nil) ?? "")")
          exit(ExitStatus.interrupted(by: signal).rawValue)
        }
        guard (try? await Task.sleep(for: MoveInterruption.lookPause)) != nil else { return }
      }
    }
    task.withLock { $0 = listening }
  }

  /// Throws if a signal to stop has arrived.
  ///
  /// - Throws: `Interruption.Stopped`.
  func check() throws {
    if let signal = signal.withLock({ $0 }) { throw Interruption.Stopped(signal: signal) }
  }

  /// Stops to listen.
  func end() { task.withLock { $0 }?.cancel() }
}
