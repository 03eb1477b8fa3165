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
      let loop = MultiThreadedEventLoopGroup.singleton.any()
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
}
