import Dispatch

/// A thread of one open database: it runs jobs one by one, in the order they were given.
///
/// A database has two: the tree's, and the one on which its observers are told. Below, *the tree's*
/// stands for either.
///
/// It is the only place of the program that uses Dispatch.
final class TreeExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Runs `work` after everything given before it.
  func submit(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Runs `work` on the tree's thread after a delay.
  func submit(afterMilliseconds delay: Int, _ work: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .milliseconds(delay), execute: work)
  }

  /// Runs `work` and waits for it.
  ///
  /// Never call it on the tree's thread.
  func submitAndWait(_ work: @escaping @Sendable () -> Void) { queue.sync(execute: work) }

  /// Calls `handler` on the tree's thread whenever the descriptor can be read, until cancelled.
  ///
  /// `owner` closes the descriptor when it goes, and is kept until nothing waits for it any more.
  func watch(
    _ descriptor: Int32, owner: some AnyObject & Sendable, _ handler: @escaping @Sendable () -> Void
  ) -> Subscription {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: handler)
    source.setCancelHandler { withExtendedLifetime(owner) {} }
    source.activate()
    return Subscription(cancel: { source.cancel() })
  }

  /// Calls `handler` on the tree's thread again and again, until cancelled.
  func repeating(
    everyMilliseconds interval: Int, _ handler: @escaping @Sendable () -> Void
  ) -> Subscription {
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(
      deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval),
      leeway: .milliseconds(interval / 4))
    source.setEventHandler(handler: handler)
    source.activate()
    return Subscription(cancel: { source.cancel() })
  }

  /// Something that goes on until it is cancelled.
  struct Subscription {
    let cancel: () -> Void
  }
}
