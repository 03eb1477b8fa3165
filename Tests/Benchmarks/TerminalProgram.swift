import Glibc

/// A program on a pseudo-terminal of 80x24, as a person would have it.
final class TerminalProgram {
  static let columns = 80
  static let rows = 24
  /// How long to wait for what must come.
  private static let patienceSeconds = 60.0
  /// How long nothing must come for a repaint to be over, in milliseconds.
  private static let quietMilliseconds: Int32 = 2

  /// When the program was started.
  let start: ContinuousClock.Instant
  let processID: pid_t
  /// What the screen shows.
  private(set) var screen = ScreenText(
    columns: TerminalProgram.columns, rows: TerminalProgram.rows)
  /// How many bytes the program has sent.
  private(set) var receivedBytes = 0

  private let terminal: Int32
  /// False once its end was waited for.
  private var isRunning = true
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Starts the program built beside this one.
  convenience init(_ arguments: [String]) throws {
    try self.init(command: [try TerminalProgram.path()] + arguments)
  }

  /// Starts a program by its path and arguments.
  init(command: [String]) throws {
    terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { throw BenchmarkError.system("open /dev/ptmx") }
    let device = try TerminalProgram.prepare(terminal)
    start = Timing.now
    processID = try TerminalProgram.spawn(command, on: device)
  }

  /// A measurement that fails leaves nothing running.
  deinit {
    close(terminal)
    if isRunning {
      kill(processID, SIGKILL)
      waitpid(processID, nil, 0)
    }
  }

  /// Unlocks the other side of a terminal and gives the screen its size; returns the side's path.
  private static func prepare(_ terminal: Int32) throws -> String {
    var lock: Int32 = 0
    var number: Int32 = 0
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(terminal, SystemConstant.unlockTerminal, &lock) == 0,
      ioctl(terminal, SystemConstant.terminalNumber, &number) == 0,
      ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0
    else { throw BenchmarkError.system("ioctl of a pseudo-terminal") }
    return "/dev/pts/\(number)"
  }

  /// The path of the program, which is built beside this one.
  static func path() throws -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw BenchmarkError.system("readlink /proc/self/exe") }
    let own = String(decoding: buffer[..<count], as: UTF8.self)
    let path = own.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/runnel"
    guard access(path, X_OK) == 0 else {
      throw BenchmarkError("\(path) is not there: build the product runnel first.")
    }
    return path
  }

  private static func spawn(_ arguments: [String], on device: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // The first terminal that the leader of a new session opens becomes its own.
    posix_spawnattr_setflags(&attributes, SystemConstant.newSession)
    for descriptor in 0...2 {
      posix_spawn_file_actions_addopen(&actions, Int32(descriptor), device, O_RDWR, 0)
    }
    let inherited = ["PATH", "HOME", "XDG_DATA_HOME", "LANG", "LC_ALL", "TZ"].compactMap {
      (name: String) -> String? in
      getenv(name).map { "\(name)=" + String(cString: $0) }
    }
    let strings = (arguments + inherited + ["TERM=xterm-256color"]).map { strdup($0) }
    defer { for string in strings { free(string) } }
    let argumentList = strings[..<arguments.count] + [nil]
    let environment = strings[arguments.count...] + [nil]
    var processID: pid_t = 0
    let result = posix_spawn(
      &processID, arguments[0], &actions, &attributes, Array(argumentList), Array(environment))
    guard result == 0 else {
      throw BenchmarkError("posix_spawn: \(String(cString: strerror(result)))")
    }
    return processID
  }

  // MARK: Using it

  /// Sends keys.
  func strike(_ keys: String) throws {
    let bytes = Array(keys.utf8)
    guard write(terminal, bytes, bytes.count) == bytes.count else {
      throw BenchmarkError.system("write to the terminal")
    }
  }

  /// Reads until the screen satisfies a condition.
  func wait(for what: String, until isSatisfied: (ScreenText) -> Bool) throws {
    let begin = Timing.now
    while !isSatisfied(screen) {
      let left = TerminalProgram.patienceSeconds - Timing.seconds(since: begin)
      if left <= 0 {
        let shown = (0..<TerminalProgram.rows).map { screen.line($0) }.joined(separator: "\n")
        throw BenchmarkError("The program did not show \(what). It shows:\n\(shown)")
      }
      _ = try read(milliseconds: 1000)
    }
  }

  /// Reads until nothing came for a while; returns the seconds from `begin` to the last byte, nil if
  /// none came.
  func lastByte(since begin: ContinuousClock.Instant) throws -> Double? {
    guard try read(milliseconds: 1000) else { return nil }
    var last = Timing.seconds(since: begin)
    while try read(milliseconds: TerminalProgram.quietMilliseconds) {
      last = Timing.seconds(since: begin)
    }
    return last
  }

  /// Sends one key many times, as fast as the program takes it, and reads until the screen
  /// satisfies a condition.
  func hold(_ key: String, count: Int, until isSatisfied: (ScreenText) -> Bool) throws {
    var rest = Array(String(repeating: key, count: count).utf8)[...]
    while !rest.isEmpty {
      var polled = pollfd(fd: terminal, events: Int16(POLLIN | POLLOUT), revents: 0)
      guard poll(&polled, 1, Int32(TerminalProgram.patienceSeconds * 1000)) > 0 else {
        throw BenchmarkError("The program takes no keys.")
      }
      if polled.revents & Int16(POLLIN) != 0 { _ = try read(milliseconds: 0) }
      guard polled.revents & Int16(POLLOUT) != 0 else { continue }
      // What a terminal holds of keys is a page; less than it is never refused.
      let piece = Array(rest.prefix(512))
      let taken = write(terminal, piece, piece.count)
      guard taken > 0 else { throw BenchmarkError.system("write to the terminal") }
      rest = rest.dropFirst(taken)
    }
    try wait(for: "the end of \(count) keys", until: isSatisfied)
  }

  /// Reads until nothing came for a time; returns how many bytes came.
  func bytesUntilQuiet(milliseconds: Int32) throws -> Int {
    let before = receivedBytes
    while try read(milliseconds: milliseconds) {}
    return receivedBytes - before
  }

  /// Reads for a time, whatever comes.
  func rest(milliseconds: Int) throws {
    let begin = Timing.now
    while true {
      let left = milliseconds - Int(Timing.seconds(since: begin) * 1000)
      if left <= 0 { return }
      _ = try read(milliseconds: Int32(left))
    }
  }

  /// Leaves the program by its keys and waits for its end.
  func quit(by keys: String = "q") throws {
    try strike(keys)
    // What it sends while it leaves has to be read for it to end.
    while try read(milliseconds: 10_000) {}
    var status: Int32 = 0
    isRunning = false
    guard waitpid(processID, &status, 0) == processID else {
      throw BenchmarkError.system("waitpid")
    }
    guard status == 0 else { throw BenchmarkError("The program ended with status \(status).") }
  }

  /// Reads once; false if nothing came in time, or the program has ended.
  private func read(milliseconds: Int32) throws -> Bool {
    var polled = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, milliseconds) > 0 else { return false }
    let count = Glibc.read(terminal, &buffer, buffer.count)
    // A pseudo-terminal whose other side was closed answers EIO.
    if count <= 0 { return false }
    receivedBytes += count
    screen.feed(buffer[..<count])
    return true
  }
}

/// What Linux has and Swift's Glibc module omits.
private enum SystemConstant {
  /// `TIOCSPTLCK`.
  static let unlockTerminal: UInt = 0x4004_5431
  /// `TIOCGPTN`.
  static let terminalNumber: UInt = 0x8004_5430
  /// `POSIX_SPAWN_SETSID`.
  static let newSession: Int16 = 0x80
}
