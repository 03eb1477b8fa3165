import Synchronization

/// Counts the ends of connections that the program has reported and the tree's thread has not handled.
///
/// A command made meanwhile is for a connection that is over. The replica gives it again on the next connection,
/// as after every end, so it must not be handed over before: it would be sent twice.
///
/// Isolation: any thread.
final class ReportedEnds: Sendable {
  private let count = Atomic<Int>(0)

  /// True while an end was reported and not handled.
  var areWaiting: Bool { count.load(ordering: .acquiring) > 0 }

  /// Notes that an end was reported.
  func add() { count.add(1, ordering: .acquiringAndReleasing) }

  /// Notes that a reported end was handled.
  func remove() { count.subtract(1, ordering: .acquiringAndReleasing) }
}
