import CPlatform
import Glibc
import Synchronization

/// What a thread of a database has to do, and the thread that does it.
///
/// Responsibilities:
/// - It runs jobs in the order in which they were added, whoever added them.
/// - It adds the work of timers when it is due, and asks about descriptors between jobs.
/// - It sleeps in one `poll` while there is nothing to do, with no time limit if no timer runs.
///
/// Invariants:
/// - I1: One thread runs jobs and handlers, one after another, and no lock is held meanwhile. Nothing is
///   released under the lock either, for what goes with it may come back here.
/// - I2: While the thread sleeps, it keeps the owners of the descriptors that it waits for.
/// - I3: Whoever adds something while the thread sleeps, or is about to, rings the bell.
final class WorkLoop: Sendable {
  /// What the thread is asked to do.
  enum Job: Sendable {
    /// A piece of work.
    case work(@Sendable () -> Void)
    /// The turn of something that repeats, if it was not cancelled since.
    case turn(Int, @Sendable () -> Void)
    /// A piece of a task on an actor; the executor is kept until it is done.
    case actor(UnownedJob, TreeExecutor)
  }

  fileprivate struct Timer {
    var id: Int
    /// On the clock that never goes back, in nanoseconds.
    var deadline: Int64
    /// In nanoseconds; nil if it is to be done once.
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
    /// Oldest first.
    var jobs: [Job] = []
    /// The next one first; those of the same time in the order in which they were added.
    var timers: [Timer] = []
    var watches: [Watch] = []
    var lastID = 0
    /// True while the thread finds out by the bell only that there is something to do.
    var isAsleep = false
    /// True when nobody can add anything any more.
    var isClosing = false
  }

  /// What the thread waits for between jobs.
  private struct Wait {
    var watches: [Watch]
    /// In milliseconds; nil if there is no limit, 0 if there are jobs.
    var timeout: Int32?
  }

  /// Deep trees are walked on the thread: it has what the main thread usually has.
  private static let stackBytesMin = 8 << 20
  /// How many jobs have room that is kept when they are done.
  private static let roomMax = 1024
  private static let nanosecondsOfMillisecond: Int64 = 1_000_000
  /// One descriptor is that of the bell.
  static let watchesMax = Int(RUNNEL_POLL_MAX) - 1

  private let state = Mutex(State())
  /// Held by the one who waits for a job: there is one way to say that it was done.
  private let waiting = Mutex(())
  private let bell: Int32
  private let done: Int32
  /// The thread that runs this; 0 before it does.
  private let thread = Atomic<UInt>(0)

  /// Makes a loop that does nothing before it is started.
  ///
  /// - Throws: `DatabaseError` (`storage`) if the system has no descriptor left.
  init() throws(DatabaseError) {
    bell = runnel_eventfd_open()
    done = runnel_eventfd_open()
    if bell < 0 || done < 0 { throw WorkLoop.failure() }
  }

  deinit {
    runnel_close(bell)
    runnel_close(done)
  }

  private static func failure() -> DatabaseError {
    let reason = String(cString: strerror(errno))
    return DatabaseError(
      .storage, "A thread for the database cannot be started: \(reason). Close other programs.")
  }

  /// Starts the thread, which keeps the loop until it ends; call it once.
  ///
  /// - Throws: `DatabaseError` (`storage`) if the system has no thread left.
  func start(label: String) throws(DatabaseError) {
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
    let isAsleep = state.withLock { state in
      state.jobs.append(job)
      return state.wake()
    }
    if isAsleep { ring() }
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

  /// Adds a job when so many milliseconds are over.
  func add(afterMilliseconds delay: Int, _ work: @escaping @Sendable () -> Void) {
    _ = add(afterMilliseconds: delay, interval: nil, work)
  }

  /// Adds a turn again and again; returns the name to cancel it by.
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
    let (id, isAsleep) = state.withLock { state in
      state.lastID += 1
      state.insert(
        Timer(
          id: state.lastID, deadline: deadline, interval: interval.map { Int64($0) * unit },
          work: work))
      // It sleeps no longer than to the timer that was the first.
      return (state.lastID, state.timers.first?.id == state.lastID && state.wake())
    }
    if isAsleep { ring() }
    return id
  }

  /// Calls `handler` whenever a descriptor can be read; returns the name to cancel it by.
  func watch(
    _ descriptor: Int32, owner: some AnyObject & Sendable, _ handler: @escaping @Sendable () -> Void
  ) -> Int {
    let (id, isAsleep) = state.withLock { state in
      precondition(state.watches.count < WorkLoop.watchesMax, "Too many descriptors are watched.")
      state.lastID += 1
      state.watches.append(
        Watch(id: state.lastID, descriptor: descriptor, owner: owner, handler: handler))
      return (state.lastID, state.wake())
    }
    if isAsleep { ring() }
    return id
  }

  /// Ends what repeats, or what waits for a descriptor; nothing happens if it ended before.
  func cancel(_ id: Int) {
    // I1: what is taken out is released after the lock.
    let (ended, isAsleep) = state.withLock { state -> (State.Ended, Bool) in
      let ended = state.takeOut { $0 == id }
      // I2: what it waits for is let go of by the thread.
      return (ended, !ended.watches.isEmpty && state.wake())
    }
    if isAsleep { ring() }
    withExtendedLifetime(ended) {}
  }

  /// Lets the thread end when nothing is left to be done.
  func close() {
    let (ended, isAsleep) = state.withLock { state -> (State.Ended, Bool) in
      state.isClosing = true
      return (state.takeOut { _ in true }, state.wake())
    }
    if isAsleep { ring() }
    withExtendedLifetime(ended) {}
  }

  private func ring() {
    let result = runnel_eventfd_signal(bell)
    precondition(result == 0, "An open eventfd takes a write.")
  }
}

extension WorkLoop.State {
  /// What goes on no longer.
  typealias Ended = (timers: [WorkLoop.Timer], watches: [WorkLoop.Watch])

  /// True if the bell must be rung, by the caller and by nobody else.
  mutating func wake() -> Bool {
    defer { isAsleep = false }
    return isAsleep
  }

  mutating func insert(_ timer: WorkLoop.Timer) {
    let index = timers.firstIndex { timer.deadline < $0.deadline } ?? timers.endIndex
    timers.insert(timer, at: index)
  }

  /// Takes what repeats or waits for a descriptor out.
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
      // Turns that were missed are not made up for.
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
      // Each is let go of before the next one begins.
      while let job = jobs.popLast() { perform(job) }
      if jobs.capacity > WorkLoop.roomMax { jobs = [] }
      if wait.timeout != 0 || !wait.watches.isEmpty { look(wait) }
    }
  }

  /// Takes the jobs that are there; nil if there are none, and never will be.
  private func begin(_ jobs: inout [Job]) -> Wait? {
    let now = WorkLoop.now()
    return state.withLock { state in
      state.addDue(now: now)
      swap(&jobs, &state.jobs)
      state.isAsleep = jobs.isEmpty
      guard jobs.isEmpty else { return Wait(watches: state.watches, timeout: 0) }
      if state.isClosing && state.timers.isEmpty { return nil }
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

  /// Waits, and calls the handlers of the descriptors that can be read.
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

  /// The least time that is no shorter.
  private static func milliseconds(_ nanoseconds: Int64) -> Int32 {
    let unit = nanosecondsOfMillisecond
    return Int32(clamping: (nanoseconds + unit - 1) / unit)
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
