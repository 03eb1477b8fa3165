import CPlatform
import NIOCore
import NIOPosix

/// Where the tasks of a program run.
public enum NetworkTasks {
  /// Has the tasks of the program run, and sleep, on the threads of its connections.
  ///
  /// The pool of the runtime wakes once a second for as long as the process lives, once a task has run
  /// there. A program that waits for hours in a terminal does without it. Tasks must not block.
  ///
  /// Call it once, before the first task.
  public static func runOnLoops() {
    runnel_tasks_run_by { job, nanoseconds in
      guard let job else { return }
      // The loop of this thread if it is one: a task goes on where it was.
      let loop = SharedThreads.loops.any()
      let unowned = unsafeBitCast(job, to: UnownedJob.self)
      let run = { @Sendable in
        unowned.runSynchronously(on: loop.executor.asUnownedSerialExecutor())
      }
      if nanoseconds == 0 {
        loop.execute(run)
      } else {
        loop.scheduleTask(in: .nanoseconds(nanoseconds), run)
      }
    }
  }

  /// Waits on a thread of connections.
  ///
  /// `Task.sleep` has a timer in the pool of the runtime, even if tasks run elsewhere.
  ///
  /// - Throws: `CancellationError` once the task is cancelled.
  public static func sleep(milliseconds: Int64) async throws {
    let loop = SharedThreads.loops.any()
    let over = loop.makePromise(of: Void.self)
    let alarm = loop.scheduleTask(in: .milliseconds(max(0, milliseconds))) { over.succeed() }
    try await withTaskCancellationHandler {
      try await over.futureResult.get()
    } onCancel: {
      alarm.cancel()
      over.fail(CancellationError())
    }
  }
}
