import Glibc

/// The program built beside this one, or another one, run without a terminal.
final class Child {
  let processID: pid_t
  private let output: Int32
  /// False once its end was waited for.
  private var isRunning = true
  private var received: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Starts the program, or another one, by a name if its path is none; its output is read, or goes
  /// nowhere.
  init(
    _ arguments: [String], readsOutput: Bool, program other: String? = nil, name: String? = nil
  ) throws {
    var ends: [Int32] = [-1, -1]
    if readsOutput {
      guard pipe(&ends) == 0 else { throw BenchmarkError.system("pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if readsOutput {
      posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    let program = try other ?? TerminalProgram.path()
    let words = ([name ?? program] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    var processID: pid_t = 0
    let result = posix_spawn(&processID, program, &actions, nil, words + [nil], environ)
    if readsOutput { close(ends[1]) }
    guard result == 0 else {
      throw BenchmarkError("posix_spawn: \(String(cString: strerror(result)))")
    }
    self.processID = processID
    output = ends[0]
  }

  /// A measurement that fails leaves nothing running.
  deinit {
    destroy()
    if output >= 0 { close(output) }
  }

  /// Runs the program, or another one, to its end; returns how long it took, and the most memory that
  /// was resident, in bytes.
  static func run(
    _ arguments: [String], program: String? = nil
  ) throws -> (seconds: Double, peakBytes: Int) {
    let start = Timing.now
    let child = try Child(arguments, readsOutput: false, program: program)
    let figures = ProcessFigures(processID: child.processID)
    var (status, peak): (Int32, Int) = (0, 0)
    // What `wait4` tells includes this process, as it was when it made the other one.
    while waitpid(child.processID, &status, WNOHANG) == 0 {
      peak = max(peak, figures.peakResidentBytes)
      usleep(5000)
    }
    child.isRunning = false
    guard status == 0 else {
      throw BenchmarkError("runnel \(arguments.first ?? "") ended with status \(status).")
    }
    return (Timing.seconds(since: start), peak)
  }

  /// Runs the program to its end; returns the most memory that was resident, in bytes.
  static func peakMemory(_ arguments: [String]) throws -> Int { try run(arguments).peakBytes }

  /// The next line that the program says.
  func line(milliseconds: Int32) throws -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        return line
      }
      var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, milliseconds) > 0 else {
        throw BenchmarkError("The program said nothing in \(milliseconds) ms.")
      }
      let count = read(output, &buffer, buffer.count)
      guard count > 0 else { throw BenchmarkError("The program has ended.") }
      received += buffer[..<count]
    }
  }

  /// Reads what the program says for a time, and forgets it.
  func rest(milliseconds: Int32) {
    let start = Timing.now
    received = []
    while true {
      let left = milliseconds - Int32(Timing.seconds(since: start) * 1000)
      var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&polled, 1, left) > 0 else { return }
      if read(output, &buffer, buffer.count) <= 0 { return }
    }
  }

  /// True if the program has ended by itself.
  func hasEnded() -> Bool {
    if isRunning, waitpid(processID, nil, WNOHANG) != 0 { isRunning = false }
    return !isRunning
  }

  /// Ends the program at once, if it runs.
  func destroy() {
    guard isRunning else { return }
    kill(processID, SIGKILL)
    waitpid(processID, nil, 0)
    isRunning = false
  }

  /// Asks the program to end and waits for that.
  func end() throws {
    kill(processID, SIGTERM)
    isRunning = false
    guard waitpid(processID, nil, 0) == processID else { throw BenchmarkError.system("waitpid") }
  }
}
