/// A thread of one open database: it runs jobs one by one, in the order they were given.
///
/// A database has two: the tree's, and the one on which its observers are told. Below, *the tree's*
/// stands for either.
///
/// While there is nothing to do the thread sleeps until something is given to it, which the pools of
/// the system do not: they look after their threads once a second.
///
/// The thread ends when nobody refers to the executor any more. What was submitted before is still done,
/// also what was to be done after a delay; what repeats, and what waits for a descriptor, ends.
final class TreeExecutor: SerialExecutor {
  private let loop: WorkLoop

  /// Starts the thread; the label is its name.
  ///
  /// - Throws: `DatabaseError` (`storage`) if the system has no thread or no descriptor left.
  init(label: String) throws(DatabaseError) {
    loop = try WorkLoop()
    try loop.start(label: label)
  }

  deinit { loop.close() }

  func enqueue(_ job: consuming ExecutorJob) { loop.add(.actor(UnownedJob(job), self)) }

  func checkIsolated() {
    precondition(loop.isCurrentThread, "This belongs to the thread of a database.")
  }

  /// Runs `work` after everything given before it.
  func submit(_ work: @escaping @Sendable () -> Void) { loop.add(.work(work)) }

  /// Runs `work` on the tree's thread after a delay.
  func submit(afterMilliseconds delay: Int, _ work: @escaping @Sendable () -> Void) {
    loop.add(afterMilliseconds: delay, work)
  }

  /// Runs `work` and waits for it.
  ///
  /// Never call it on the tree's thread.
  func submitAndWait(_ work: @escaping @Sendable () -> Void) { loop.addAndWait(work) }

  /// Calls `handler` on the tree's thread whenever the descriptor can be read, until cancelled.
  ///
  /// `owner` closes the descriptor when it goes, and is kept until nothing waits for it any more.
  func watch(
    _ descriptor: Int32, owner: some AnyObject & Sendable, _ handler: @escaping @Sendable () -> Void
  ) -> Subscription {
    let id = loop.watch(descriptor, owner: owner, handler)
    return Subscription(cancel: { [loop] in loop.cancel(id) })
  }

  /// Calls `handler` on the tree's thread again and again, until cancelled.
  func repeating(
    everyMilliseconds interval: Int, _ handler: @escaping @Sendable () -> Void
  ) -> Subscription {
    let id = loop.repeating(everyMilliseconds: interval, handler)
    return Subscription(cancel: { [loop] in loop.cancel(id) })
  }

  /// Something that goes on until it is cancelled.
  ///
  /// Cancelled on the tree's thread, the handler is not called again; elsewhere it may be under way. It may
  /// be cancelled more than once.
  struct Subscription: Sendable {
    let cancel: @Sendable () -> Void
  }
}
