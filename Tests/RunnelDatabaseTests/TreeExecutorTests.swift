import CPlatform
import Glibc
import Synchronization
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct TreeExecutorTests {
  private let log = Log()

  /// What happened, in order, noted by any thread.
  private final class Log: Sendable {
    private let notes = Mutex<[String]>([])
    var all: [String] { notes.withLock { $0 } }
    func note(_ text: String) { notes.withLock { $0.append(text) } }
  }

  /// A descriptor that can be rung and waited for; it says when it is closed.
  private final class Bell: Sendable {
    let descriptor = runnel_eventfd_open()
    private let onClose: @Sendable () -> Void
    init(_ onClose: @escaping @Sendable () -> Void = {}) { self.onClose = onClose }
    deinit {
      runnel_close(descriptor)
      onClose()
    }
    func ring() { _ = runnel_eventfd_signal(descriptor) }
    func silence() { _ = runnel_eventfd_drain(descriptor) }
    func wait() { _ = poll(timeout: -1) }
    var isRung: Bool { poll(timeout: 0) }
    private func poll(timeout: Int32) -> Bool {
      var answer: UInt8 = 0
      return runnel_poll([descriptor], &answer, 1, timeout) == 1
    }
  }

  /// Keeps something until it is let go of.
  private final class Holder<Held: Sendable>: Sendable {
    private let held = Mutex<Held?>(nil)
    func hold(_ held: Held) { self.held.withLock { $0 = held } }
    func letGo() {
      // What goes with it goes after the lock.
      let gone = held.withLock { held in
        defer { held = nil }
        return held
      }
      withExtendedLifetime(gone) {}
    }
    var value: Held? { held.withLock { $0 } }
  }

  private actor Counter {
    nonisolated let executor: TreeExecutor
    private(set) var count = 0
    init(_ executor: TreeExecutor) { self.executor = executor }
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }
    func add() {
      executor.checkIsolated()
      count += 1
    }
    func addFromOutside() { self.assumeIsolated { $0.add() } }
  }

  /// Waits for what no event tells.
  private func waitUntil(_ holds: () -> Bool) {
    // In pauses, so that who is waited for gets on.
    while !holds() { poll(nil, 0, 1) }
  }

  /// The lines of a file of the kernel's; none if it is gone.
  private static func lines(_ file: String) -> [String] {
    guard let file = fopen(file, "r") else { return [] }
    defer { fclose(file) }
    var lines: [String] = []
    var bytes = [CChar](repeating: 0, count: 256)
    while fgets(&bytes, Int32(bytes.count), file) != nil {
      let text = bytes.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      lines.append(String(decoding: text, as: UTF8.self))
    }
    return lines
  }

  /// What the kernel says of the calling thread.
  private static func status(_ name: String) -> String? {
    lines("/proc/thread-self/status").first { $0.hasPrefix("\(name):") }
      .map { String($0.dropFirst(name.count + 1).drop { $0 == "\t" }) }
  }

  /// Where the system tells of an executor's thread, while it runs.
  private static func place(ofThreadOf executor: TreeExecutor?) -> String {
    let place = Mutex("")
    executor?.submitAndWait {
      var name = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/thread-self", &name, name.count)
      let bytes = name[..<max(count, 0)].map { UInt8(bitPattern: $0) }
      place.withLock { $0 = "/proc/" + String(decoding: bytes, as: UTF8.self) }
    }
    return place.withLock { $0 }
  }

  private static func isThere(_ thread: String) -> Bool { access(thread, F_OK) == 0 }

  // MARK: Jobs

  @Test func jobsRunInTheOrderInWhichTheyWereGiven() throws {
    let executor = try TreeExecutor(label: "test")
    for number in 0..<100 { executor.submit { [log] in log.note("\(number)") } }
    executor.submitAndWait { [log] in log.note("last") }
    #expect(log.all == (0..<100).map { "\($0)" } + ["last"])
  }

  @Test func jobThatIsGivenByAJobComesAfterThoseThatWait() throws {
    let executor = try TreeExecutor(label: "test")
    executor.submitAndWait { [log] in
      executor.submit {
        executor.submit { log.note("inner") }
        log.note("outer")
      }
      executor.submit { log.note("next") }
    }
    executor.submitAndWait {}
    executor.submitAndWait {}
    #expect(log.all == ["outer", "next", "inner"])
  }

  @Test func manyThreadsMaySubmitAndEachKeepsItsOrder() async throws {
    let executor = try TreeExecutor(label: "test")
    let (threads, jobs) = (8, 5000)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<threads {
        group.addTask { [log] in
          for job in 0..<jobs { executor.submit { log.note("\(thread) \(job)") } }
        }
      }
    }
    executor.submitAndWait {}
    let notes = log.all
    #expect(notes.count == threads * jobs)
    for thread in 0..<threads {
      let own = notes.filter { $0.hasPrefix("\(thread) ") }
      #expect(own == (0..<jobs).map { "\(thread) \($0)" })
    }
  }

  @Test func whoWaitsGoesOnWhenItsOwnWorkIsDone() async throws {
    let executor = try TreeExecutor(label: "test")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 {
            let isDone = Atomic(false)
            executor.submitAndWait { isDone.store(true, ordering: .relaxed) }
            let wasDone = isDone.load(ordering: .relaxed)
            #expect(wasDone)
          }
        }
      }
    }
  }

  @Test func actorRunsOnTheThread() async throws {
    let executor = try TreeExecutor(label: "test.actor")
    let counter = Counter(executor)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { await counter.add() } }
    }
    executor.submit { counter.assumeIsolated { $0.add() } }
    await counter.addFromOutside()
    #expect(await counter.count == 102)
  }

  @Test func whoIsNotOnTheThreadIsStopped() async {
    await #expect(processExitsWith: .failure) {
      let executor = try TreeExecutor(label: "test")
      executor.submitAndWait { executor.checkIsolated() }
      executor.checkIsolated()
    }
  }

  @Test func threadThatWaitsForItselfIsStopped() async {
    await #expect(processExitsWith: .failure) {
      let executor = try TreeExecutor(label: "test")
      executor.submitAndWait { executor.submitAndWait {} }
    }
  }

  // MARK: Time

  @Test func delayedJobsRunInTheOrderOfTheirTimes() throws {
    let executor = try TreeExecutor(label: "test")
    let done = Bell()
    let start = ContinuousClock.now
    // Until all are there, none is done: which was due first must not depend on who was held up.
    executor.submitAndWait { [log] in
      executor.submit(afterMilliseconds: 300) {
        log.note("300")
        done.ring()
      }
      executor.submit(afterMilliseconds: 10) { log.note("10") }
      executor.submit(afterMilliseconds: 10) { log.note("10 too") }
    }
    done.wait()
    #expect(ContinuousClock.now - start >= .milliseconds(300))
    #expect(log.all == ["10", "10 too", "300"])
  }

  @Test func delayedJobComesAfterThoseThatWaitWhenItIsDue() throws {
    let executor = try TreeExecutor(label: "test")
    let done = Bell()
    executor.submitAndWait { [log] in
      executor.submit(afterMilliseconds: 0) {
        log.note("delayed")
        done.ring()
      }
      executor.submit { log.note("at once") }
    }
    done.wait()
    #expect(log.all == ["at once", "delayed"])
  }

  @Test func whatRepeatsIsNotCalledAfterItsHandlerCancelsIt() throws {
    let executor = try TreeExecutor(label: "test")
    let (done, later) = (Bell(), Bell())
    let own = Holder<TreeExecutor.Subscription>()
    executor.submitAndWait { [log] in
      own.hold(
        executor.repeating(everyMilliseconds: 1) {
          log.note("turn")
          if log.all.count < 3 { return }
          own.value?.cancel()
          done.ring()
        })
    }
    done.wait()
    executor.submit(afterMilliseconds: 10) { later.ring() }
    later.wait()
    #expect(log.all == ["turn", "turn", "turn"])
  }

  @Test func whatRepeatsEndsWhenItIsCancelledElsewhere() throws {
    let executor = try TreeExecutor(label: "test")
    let (turn, later) = (Bell(), Bell())
    let subscription = executor.repeating(everyMilliseconds: 1) { turn.ring() }
    turn.wait()
    subscription.cancel()
    subscription.cancel()
    executor.submitAndWait {}
    turn.silence()
    executor.submit(afterMilliseconds: 10) { later.ring() }
    later.wait()
    #expect(!turn.isRung)
  }

  // MARK: Descriptors

  @Test func handlerIsCalledOnTheThreadWhenTheDescriptorCanBeRead() throws {
    let executor = try TreeExecutor(label: "test")
    let (bell, done) = (Bell(), Bell())
    let subscription = executor.watch(bell.descriptor, owner: bell) { [log] in
      executor.checkIsolated()
      bell.silence()
      log.note("read")
      done.ring()
    }
    for _ in 0..<3 {
      bell.ring()
      done.wait()
      done.silence()
    }
    subscription.cancel()
    executor.submitAndWait {}
    bell.ring()
    executor.submitAndWait {}
    #expect(log.all == ["read", "read", "read"])
  }

  @Test func jobsThatFollowEachOtherDoNotKeepHandlersWaiting() throws {
    let executor = try TreeExecutor(label: "test")
    let (bell, done) = (Bell(), Bell())
    let isRead = Atomic(false)
    // It gives itself the next job until the handler was called.
    @Sendable func again() {
      if isRead.load(ordering: .relaxed) { return done.ring() }
      executor.submit { again() }
    }
    let subscription = executor.watch(bell.descriptor, owner: bell) {
      bell.silence()
      isRead.store(true, ordering: .relaxed)
    }
    executor.submit { again() }
    bell.ring()
    done.wait()
    subscription.cancel()
  }

  @Test func handlerThatCancelsItselfIsNotCalledAgain() throws {
    let executor = try TreeExecutor(label: "test")
    let own = Holder<TreeExecutor.Subscription>()
    let (bell, done) = (Bell(), Bell())
    executor.submitAndWait { [log] in
      own.hold(
        executor.watch(bell.descriptor, owner: bell) {
          log.note("read")
          own.value?.cancel()
          done.ring()
        })
    }
    // It stays readable.
    bell.ring()
    done.wait()
    executor.submitAndWait {}
    executor.submitAndWait {}
    #expect(log.all == ["read"])
  }

  @Test func ownerIsKeptUntilItsWatchIsCancelled() throws {
    let executor = try TreeExecutor(label: "test")
    let bell = Holder<Bell>()
    bell.hold(Bell { [log] in log.note("closed") })
    let subscription = try #require(
      bell.value.map { bell in executor.watch(bell.descriptor, owner: bell) {} })
    executor.submitAndWait {}
    bell.letGo()
    executor.submitAndWait {}
    #expect(log.all == [])
    subscription.cancel()
    waitUntil { log.all == ["closed"] }
  }

  // MARK: The end

  @Test func whatWasSubmittedIsDoneWhenNobodyRefersToTheExecutor() throws {
    let executor = Holder<TreeExecutor>()
    executor.hold(try TreeExecutor(label: "test"))
    let (gate, done) = (Bell(), Bell())
    executor.value?.submit { gate.wait() }
    executor.value?.submit { [log] in log.note("waiting") }
    executor.value?.submit(afterMilliseconds: 5) { [log] in
      log.note("delayed")
      done.ring()
    }
    executor.letGo()
    gate.ring()
    done.wait()
    #expect(log.all == ["waiting", "delayed"])
  }

  @Test func executorMayGoOnItsOwnThread() throws {
    let executor = Holder<TreeExecutor>()
    executor.hold(try TreeExecutor(label: "test"))
    let thread = Self.place(ofThreadOf: executor.value)
    let (gate, done) = (Bell(), Bell())
    executor.value?.submit {
      gate.wait()
      executor.letGo()
    }
    executor.value?.submit { done.ring() }
    gate.ring()
    done.wait()
    waitUntil { !Self.isThere(thread) }
  }

  @Test func threadEndsWithItsExecutorAndLetsGoOfWhatItHad() throws {
    let executor = Holder<TreeExecutor>()
    executor.hold(try TreeExecutor(label: "test"))
    let thread = Self.place(ofThreadOf: executor.value)
    #expect(Self.isThere(thread))
    let bell = Holder<Bell>()
    bell.hold(Bell { [log] in log.note("closed") })
    _ = bell.value.map { bell in executor.value?.watch(bell.descriptor, owner: bell) {} }
    _ = executor.value?.repeating(everyMilliseconds: 1) {}
    executor.letGo()
    waitUntil { !Self.isThere(thread) }
    #expect(log.all == [])
    bell.letGo()
    #expect(log.all == ["closed"])
  }

  @Test func threadThatRestsEndsAndIsThereAgainForAJob() throws {
    let executor = try TreeExecutor(label: "test")
    let thread = Self.place(ofThreadOf: executor)
    let bell = Bell()
    let watch = executor.watch(bell.descriptor, owner: bell) {}
    executor.rest()
    executor.submitAndWait {}
    #expect(Self.isThere(thread), "it watches something")
    watch.cancel()
    waitUntil { !Self.isThere(thread) }
    let done = Bell()
    executor.submit(afterMilliseconds: 5) { [log] in
      log.note("delayed, on the thread: \(executor.isCurrentThread)")
      done.ring()
    }
    done.wait()
    for number in 0..<50 { executor.submitAndWait { [log] in log.note("\(number)") } }
    #expect(log.all.first == "delayed, on the thread: true")
    #expect(log.all.dropFirst() == (0..<50).map { "\($0)" }[...])
    #expect(!executor.isCurrentThread)
  }

  @Test func closedDatabaseHasNoThreadsAndStillAnswers() async throws {
    let folder = try TemporaryFolder()
    let database = try await Database.open(file: folder.file("d.db"))
    let reference = try database.reference(withPath: "a")
    try await reference.setValue(1)
    let thread = Self.place(ofThreadOf: database.executor)
    database.close()
    waitUntil { !Self.isThere(thread) }
    await #expect(throws: DatabaseError.self) { try await reference.setValue(2) }
    database.close()
  }

  @Test func databaseThatIsLetGoOfEndsItsThreads() async throws {
    let folder = try TemporaryFolder()
    var database: Database? = try await Database.open(file: folder.file("d.db"))
    try await database?.reference(withPath: "a").setValue(1)
    weak let executor = database?.executor
    database = nil
    waitUntil { executor == nil }
  }

  // MARK: The thread

  @Test func threadHasItsNameAndLeavesSignalsToOthers() throws {
    let executor = try TreeExecutor(label: "test.name")
    executor.submitAndWait { [log] in
      log.note(Self.status("Name") ?? "")
      log.note(Self.status("SigBlk") ?? "")
    }
    #expect(log.all.first == "test.name")
    let mask = try #require(log.all.last.flatMap { UInt64($0, radix: 16) })
    func isBlocked(_ signal: Int32) -> Bool { mask & (1 << UInt64(signal - 1)) != 0 }
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD, SIGPIPE] {
      #expect(isBlocked(signal), "\(signal)")
    }
    for signal in [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGQUIT] {
      #expect(!isBlocked(signal), "\(signal)")
    }
  }

  @Test func deepRecursionFitsOnTheStack() throws {
    @Sendable func depth(_ left: Int, _ marks: (Int, Int, Int, Int, Int, Int)) -> Int {
      left == 0 ? marks.0 : depth(left - 1, (left, marks.0, marks.1, marks.2, marks.3, marks.4)) + 1
    }
    let executor = try TreeExecutor(label: "test")
    let result = Atomic(0)
    // At a hundred bytes or more each, these are some megabytes.
    executor.submitAndWait {
      result.store(depth(30_000, (0, 0, 0, 0, 0, 0)), ordering: .relaxed)
    }
    let reached = result.load(ordering: .relaxed)
    #expect(reached == 30_001)
  }
}
