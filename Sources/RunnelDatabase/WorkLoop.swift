import CPlatform
import Glibc
import Synchronization

/// The jobs of a database's thread, and the thread that runs them.
///
/// Responsibilities:
/// - It runs jobs in the order in which they were added, by any thread.
/// - It adds the work of timers when it is due, and polls descriptors between jobs.
/// - While there is nothing to do, it sleeps in one `poll`, without a time limit if there is no
///   timer.
/// - A loop that rests has a thread only while there is something to do.
///
/// Invariants:
/// - I1: One thread runs jobs and handlers, one after another, with no lock held. Nothing is
///   released under the lock either, since the release of an object may call the loop.
/// - I2: While the thread sleeps, it keeps the owners of the descriptors that it watches.
/// - I3: A thread that adds something while the loop's thread sleeps, or is about to, rings the
///   bell; while there is no thread, it starts one.
final class WorkLoop: Sendable {
  /// A job of the thread.
  enum Job: Sendable {
    /// A piece of work.
    case work(@Sendable () -> Void)
    /// A call of repeating work, unless that was cancelled.
    case turn(Int, @Sendable () -> Void)
    /// A job of an actor; the executor is kept until it is done.
    case actor(UnownedJob, TreeExecutor)
  }

  fileprivate struct Timer {
    var id: Int
    /// The deadline on the monotonic clock, in nanoseconds.
    var deadline: Int64
    /// The interval in nanoseconds; nil if it runs once.
    var interval: Int64?
    var work: @Sendable () -> Void
  }

  fileprivate struct Watch {
    var id: Int
    var descriptor: Int32
    var owner: any AnyObject & Sendable
    var handler: @Sendable () -> Void
  }

  fileprivate struct State {
    /// The jobs, oldest first.
    var jobs: [Job] = []
    /// The timers, the next one first; those with the same deadline in the order in which they were
    /// added.
    var timers: [Timer] = []
    var watches: [Watch] = []
    var lastID = 0
    /// True while only the bell can tell the thread that there is something to do.
    var isAsleep = false
    /// True when nothing can be added any more.
    var isClosing = false
    /// True when the thread ends as soon as there is nothing to do.
    var isResting = false
    /// False after a thread has ended.
    var hasThread = true
  }

  /// The descriptors and the timeout that the thread waits for between jobs.
  private struct Wait {
    var watches: [Watch]
    /// The timeout in milliseconds; nil if there is none, 0 if there are jobs.
    var timeout: Int32?
  }

  /// The thread walks deep trees, so its stack is as large as the main thread usually has.
  private static let stackBytesMin = 8 << 20
  /// The most jobs whose memory is kept for the next ones.
  private static let roomMax = 1024
  private static let nanosecondsOfMillisecond: Int64 = 1_000_000
  /// The most watched descriptors; one more is that of the bell.
  static let watchesMax = Int(RUNNEL_POLL_MAX) - 1

  private let state = Mutex(State())
  /// Held by the thread that waits for a job, since only one can be told that its job is done.
  private let waiting = Mutex(())
  private let label: String
  private let bell: Int32
  private let done: Int32
  /// The thread of the loop; 0 before it has started.
  private let thread = Atomic<UInt>(0)

  /// Makes a loop, which must be started; the label is the name of its thread.
  ///
  /// - Throws: `DatabaseError` (`storage`) if the system has no descriptor left.
  init(label: String) throws(DatabaseError) {
    self.label = label
    bell = runnel_eventfd_open()
    done = runnel_eventfd_open()
    if bell < 0 || done < 0 { throw WorkLoop.failure() }
  }

  deinit {
    runnel_close(bell)
    runnel_close(done)
  }

  private static func failure() -> DatabaseError {
    if let shortage = OpenFiles.shortage() {
      return DatabaseError(
        .storage,
        "A thread for the database cannot be started: \(OpenFiles.words(shortage))")
    }
    let reason = String(cString: strerror(errno))
    return DatabaseError(
      .storage, "A thread for the database cannot be started: \(reason). Close other programs.")
  }

  /// Starts the thread, which keeps the loop until it ends; call it once.
  ///
  /// - Throws: `DatabaseError` (`storage`) if the system has no thread left.
  func start() throws(DatabaseError) {
    let kept = Unmanaged.passRetained(self)
    let status = runnel_thread_start(
      label, WorkLoop.stackBytesMin,
      { context in
        guard let context else { preconditionFailure("The thread is started with its loop.") }
        Unmanaged<WorkLoop>.fromOpaque(context).takeRetainedValue().run()
      }, kept.toOpaque())
    if status == 0 { return }
    let error = WorkLoop.failure()
    kept.release()
    throw error
  }

  /// True on the thread of this loop.
  var isCurrentThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }
}

// MARK: What is to be done

extension WorkLoop {
  /// Adds a job after those that were added before.
  func add(_ job: Job) {
    let call = state.withLock { state in
      state.jobs.append(job)
      return state.wake()
    }
    rouse(call)
  }

  /// Adds a job and returns when it is done.
  func addAndWait(_ work: @escaping @Sendable () -> Void) {
    precondition(!isCurrentThread, "A thread cannot wait for itself.")
    waiting.withLock { _ in
      add(
        .work { [done] in
          work()
          _ = runnel_eventfd_signal(done)
        })
      _ = WorkLoop.poll([done], timeout: nil)
      _ = runnel_eventfd_drain(done)
    }
  }

  /// Adds a job after a delay in milliseconds.
  func add(afterMilliseconds delay: Int, _ work: @escaping @Sendable () -> Void) {
    _ = add(afterMilliseconds: delay, interval: nil, work)
  }

  /// Adds work that is repeated; returns the id by which to cancel it.
  func repeating(
    everyMilliseconds interval: Int, _ handler: @escaping @Sendable () -> Void
  ) -> Int {
    precondition(interval > 0, "What repeats takes a while.")
    return add(afterMilliseconds: interval, interval: interval, handler)
  }

  private func add(
    afterMilliseconds delay: Int, interval: Int?, _ work: @escaping @Sendable () -> Void
  ) -> Int {
    let unit = WorkLoop.nanosecondsOfMillisecond
    let deadline = WorkLoop.now() + Int64(delay) * unit
    let (id, call) = state.withLock { state -> (Int, Call) in
      state.lastID += 1
      state.insert(
        Timer(
          id: state.lastID, deadline: deadline, interval: interval.map { Int64($0) * unit },
          work: work))
      // The thread was going to sleep until the timer that was first before.
      return (state.lastID, state.timers.first?.id == state.lastID ? state.wake() : .none)
    }
    rouse(call)
    return id
  }

  /// Calls `handler` whenever a descriptor can be read; returns the id by which to cancel it.
  func watch(
    _ descriptor: Int32, owner: some AnyObject & Sendable, _ handler: @escaping @Sendable () -> Void
  ) -> Int {
    let (id, call) = state.withLock { state in
      precondition(state.watches.count < WorkLoop.watchesMax, "Too many descriptors are watched.")
      state.lastID += 1
      state.watches.append(
        Watch(id: state.lastID, descriptor: descriptor, owner: owner, handler: handler))
      return (state.lastID, state.wake())
    }
    rouse(call)
    return id
  }

  /// Ends repeating work or a watch; does nothing if it has ended.
  func cancel(_ id: Int) {
    // I1: removed objects are released after the lock.
    let (ended, call) = state.withLock { state -> (State.Ended, Call) in
      let ended = state.takeOut { $0 == id }
      // I2: the thread releases the descriptors that it watches.
      return (ended, ended.watches.isEmpty ? .none : state.wake())
    }
    rouse(call)
    withExtendedLifetime(ended) {}
  }

  /// Lets the thread end when there is nothing left to do.
  func close() {
    let (ended, call) = state.withLock { state -> (State.Ended, Call) in
      state.isClosing = true
      return (state.takeOut { _ in true }, state.hasThread ? state.wake() : .none)
    }
    rouse(call)
    withExtendedLifetime(ended) {}
  }

  /// Lets the thread end whenever there is nothing to do: no job, no timer and no watch.
  ///
  /// What is added then has a thread again, until it is done.
  func rest() {
    let call = state.withLock { state -> Call in
      state.isResting = true
      return state.hasThread ? state.wake() : .none
    }
    rouse(call)
  }

  private func rouse(_ call: Call) {
    switch call {
    case .none: break
    case .ring: ring()
    case .start:
      do {
        try start()
      } catch {
        // The system has no thread left: the caller does the work, which ends.
        run()
      }
    }
  }

  private func ring() {
    let result = runnel_eventfd_signal(bell)
    precondition(result == 0, "An open eventfd takes a write.")
  }
}

extension WorkLoop {
  /// What has the thread look at what was added.
  fileprivate enum Call {
    case none
    /// The bell, since the thread sleeps.
    case ring
    /// A new thread, since there is none.
    case start
  }
}

extension WorkLoop.State {
  /// Timers and watches that have ended.
  typealias Ended = (timers: [WorkLoop.Timer], watches: [WorkLoop.Watch])

  /// What the caller must do so that the thread looks.
  mutating func wake() -> WorkLoop.Call {
    defer { (isAsleep, hasThread) = (false, true) }
    return !hasThread ? .start : isAsleep ? .ring : .none
  }

  /// Whether the thread ends, with nothing to do.
  var isAtEnd: Bool { timers.isEmpty && (isClosing || isResting && watches.isEmpty) }

  mutating func insert(_ timer: WorkLoop.Timer) {
    let index = timers.firstIndex { timer.deadline < $0.deadline } ?? timers.endIndex
    timers.insert(timer, at: index)
  }

  /// Removes timers and watches that have ended.
  mutating func takeOut(where isMeant: (Int) -> Bool) -> Ended {
    let ended = (
      timers: timers.filter { $0.interval != nil && isMeant($0.id) },
      watches: watches.filter { isMeant($0.id) }
    )
    timers.removeAll { $0.interval != nil && isMeant($0.id) }
    watches.removeAll { isMeant($0.id) }
    return ended
  }

  /// Adds the jobs of the timers that are due.
  mutating func addDue(now: Int64) {
    while let timer = timers.first, timer.deadline <= now {
      timers.removeFirst()
      guard let interval = timer.interval else {
        jobs.append(.work(timer.work))
        continue
      }
      jobs.append(.turn(timer.id, timer.work))
      // Missed calls are not made up for.
      var next = timer
      next.deadline = max(timer.deadline + interval, now + 1)
      insert(next)
    }
  }
}

// MARK: The thread

extension WorkLoop {
  private func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    var jobs: [Job] = []
    while let wait = begin(&jobs) {
      jobs.reverse()
      // Each job is released before the next one begins.
      while let job = jobs.popLast() { perform(job) }
      if jobs.capacity > WorkLoop.roomMax { jobs = [] }
      if wait.timeout != 0 || !wait.watches.isEmpty { look(wait) }
    }
  }

  /// Takes the jobs; returns nil if there are none and never will be.
  private func begin(_ jobs: inout [Job]) -> Wait? {
    let now = WorkLoop.now()
    return state.withLock { state in
      state.addDue(now: now)
      swap(&jobs, &state.jobs)
      state.isAsleep = jobs.isEmpty
      guard jobs.isEmpty else { return Wait(watches: state.watches, timeout: 0) }
      if state.isAtEnd {
        (state.isAsleep, state.hasThread) = (false, false)
        // Another thread may get its number.
        thread.store(0, ordering: .relaxed)
        return nil
      }
      let rest = state.timers.first.map { $0.deadline - now }
      return Wait(watches: state.watches, timeout: rest.map(WorkLoop.milliseconds))
    }
  }

  private func perform(_ job: Job) {
    switch job {
    case .work(let work): work()
    case .turn(let id, let work):
      if state.withLock({ $0.timers.contains { $0.id == id } }) { work() }
    case .actor(let job, let executor):
      job.runSynchronously(on: executor.asUnownedSerialExecutor())
    }
  }

  /// Waits, and calls the handlers of readable descriptors.
  private func look(_ wait: Wait) {
    let answers = WorkLoop.poll([bell] + wait.watches.map(\.descriptor), timeout: wait.timeout)
    if answers[0] != 0 { _ = runnel_eventfd_drain(bell) }
    for (watch, answer) in zip(wait.watches, answers.dropFirst()) where answer != 0 {
      let goesOn = state.withLock { $0.watches.contains { $0.id == watch.id } }
      if goesOn { watch.handler() }
    }
    // I2
    withExtendedLifetime(wait) {}
  }

  private static func poll(_ descriptors: [Int32], timeout: Int32?) -> [UInt8] {
    var answers = [UInt8](repeating: 0, count: descriptors.count)
    let result = runnel_poll(descriptors, &answers, Int32(descriptors.count), timeout ?? -1)
    precondition(result >= 0, "Waiting fails for descriptors that are not valid only.")
    return answers
  }

  /// The shortest time in milliseconds that is not shorter.
  private static func milliseconds(_ nanoseconds: Int64) -> Int32 {
    let unit = nanosecondsOfMillisecond
    return Int32(clamping: (nanoseconds + unit - 1) / unit)
  }

  /// A time from which times are counted.
  private static let start = SuspendingClock.now

  private static func now() -> Int64 {
    let (seconds, attoseconds) = start.duration(to: .now).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
