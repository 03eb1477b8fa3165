/// A thread of an open database: it runs jobs one by one, in the order in which they were
/// submitted.
///
/// A database has two: the tree's, and the one on which its observers are told. Below, *the tree's
/// thread* stands for either.
///
/// While there is nothing to do the thread sleeps until a job is submitted. The thread pools of the
/// system do not: they check their threads once a second.
///
/// The thread ends when nothing refers to the executor any more; after `rest()`, whenever it has nothing to
/// do. Jobs that were submitted before
/// are still run, also delayed ones; repeating work and watches end.
package final class TreeExecutor: SerialExecutor {
  private let loop: WorkLoop

  /// Starts the thread; the label is its name.
  ///
  /// - Throws: `DatabaseError` (`storage`) if the system has no thread or no descriptor left.
  package init(label: String) throws(DatabaseError) {
    loop = try WorkLoop(label: label)
    try loop.start()
  }

  deinit { loop.close() }

  /// Lets the thread end whenever there is nothing to do; a job that is submitted then starts it again.
  package func rest() { loop.rest() }

  package func enqueue(_ job: consuming ExecutorJob) { loop.add(.actor(UnownedJob(job), self)) }

  package func checkIsolated() {
    precondition(loop.isCurrentThread, "This belongs to the thread of a database.")
  }

  /// Runs `work` after everything submitted before it.
  package func submit(_ work: @escaping @Sendable () -> Void) { loop.add(.work(work)) }

  /// Runs `work` on the tree's thread after a delay.
  package func submit(afterMilliseconds delay: Int, _ work: @escaping @Sendable () -> Void) {
    loop.add(afterMilliseconds: delay, work)
  }

  /// True on the tree's thread.
  package var isCurrentThread: Bool { loop.isCurrentThread }

  /// Runs `work` and waits for it.
  ///
  /// It must not be called on the tree's thread.
  package func submitAndWait(_ work: @escaping @Sendable () -> Void) { loop.addAndWait(work) }

  /// Calls `handler` on the tree's thread whenever the descriptor can be read, until cancelled.
  ///
  /// `owner` closes the descriptor when it is released, and is kept until the descriptor is no
  /// longer watched.
  package func watch(
    _ descriptor: Int32, owner: some AnyObject & Sendable, _ handler: @escaping @Sendable () -> Void
  ) -> Subscription {
    let id = loop.watch(descriptor, owner: owner, handler)
    return Subscription(cancel: { [loop] in loop.cancel(id) })
  }

  /// Calls `handler` on the tree's thread repeatedly, until cancelled.
  package func repeating(
    everyMilliseconds interval: Int, _ handler: @escaping @Sendable () -> Void
  ) -> Subscription {
    let id = loop.repeating(everyMilliseconds: interval, handler)
    return Subscription(cancel: { [loop] in loop.cancel(id) })
  }

  /// Repeating work or a watch, until it is cancelled.
  ///
  /// If it is cancelled on the tree's thread, the handler is not called again; on another thread,
  /// the handler may be running. It may be cancelled more than once.
  package struct Subscription: Sendable {
    package let cancel: @Sendable () -> Void
  }
}
