import Glibc
import Synchronization

/// The program while it runs: its ends of the pipes, and how it is told to stop.
///
/// Whatever takes longer than `patienceMilliseconds` is a failure, so that no test hangs.
final class RunningProgram {
  /// What a descriptor of the program is.
  enum Descriptor {
    case file(File)
    case pipe
  }

  /// What the program's standard input and output are.
  struct Descriptors {
    var input: Descriptor = .pipe
    var output: Descriptor = .pipe
  }

  private static let patienceMilliseconds: Int32 = 30_000
  /// The descriptor in the program whose end tells that it ended.
  private static let lifeDescriptor: Int32 = 3

  let processID: pid_t
  private var input: File?
  private var output: File?
  private let life: File
  private let errorFile: File
  private var status: Int32?
  private var unread: [UInt8] = []

  /// Starts the program, or another one.
  init(
    _ arguments: [String], _ descriptors: Descriptors = Descriptors(),
    environment: [String: String] = [:], program: String? = nil
  ) throws {
    let (life, lifeOfProgram) = try File.pipe()
    self.life = life
    errorFile = try File.temporary()
    let inputs: (program: File, test: File?)
    switch descriptors.input {
    case .file(let file): inputs = (file, nil)
    case .pipe:
      let pipe = try File.pipe()
      inputs = (pipe.reading, pipe.writing)
    }
    let outputs: (program: File, test: File?)
    switch descriptors.output {
    case .file(let file): outputs = (file, nil)
    case .pipe:
      let pipe = try File.pipe()
      outputs = (pipe.writing, pipe.reading)
    }
    (input, output) = (inputs.test, outputs.test)
    processID = try Spawning.spawn(
      program ?? Program.path(), arguments, environment: environment,
      descriptors: [inputs.program, outputs.program, errorFile, lifeOfProgram])
  }

  deinit {
    if status != nil { return }
    kill(processID, SIGKILL)
    _ = try? wait()
  }

  /// Writes a text to the program's standard input.
  func write(_ text: String) throws { try input?.write(text) }

  /// Closes the program's standard input.
  func closeInput() { input = nil }

  /// Closes the test's end of the program's standard output.
  func closeOutput() { output = nil }

  /// The next line of the program's standard output without its line feed; nil at the end.
  ///
  /// - Throws: `SystemError` if none comes.
  func readLine() throws -> String? {
    while true {
      if let line = takeLine() { return line }
      guard try waitForOutput(milliseconds: RunningProgram.patienceMilliseconds) else {
        throw SystemError(call: "readLine", reason: "The program wrote no line.")
      }
      if try !readSome() { return nil }
    }
  }

  /// The lines that come within a time, complete ones only; fewer than `countMax` at the end.
  func readLines(countMax: Int, milliseconds: Int32) throws -> [String] {
    var lines: [String] = []
    while lines.count < countMax {
      if let line = takeLine() {
        lines.append(line)
      } else {
        guard try waitForOutput(milliseconds: milliseconds), try readSome() else { break }
      }
    }
    return lines
  }

  /// Waits until the program wrote something, or closed its output; false if not in time.
  func waitForOutput(milliseconds: Int32 = patienceMilliseconds) throws -> Bool {
    try output?.waitForInput(milliseconds: milliseconds) ?? true
  }

  /// Sends the program a signal.
  func send(_ signal: Int32) throws { try check(kill(processID, signal), "kill") }

  /// Waits for the end of the program.
  ///
  /// Returns its exit status, or the negative number of the signal that ended it.
  func wait(milliseconds: Int32 = patienceMilliseconds) throws -> Int32 {
    if let status { return status }
    let isPatient = try life.waitForInput(milliseconds: milliseconds)
    if !isPatient { kill(processID, SIGKILL) }
    var raw: Int32 = 0
    while waitpid(processID, &raw, 0) < 0 {
      if errno != EINTR { throw SystemError(call: "waitpid", reason: "\(errno)") }
    }
    let ended = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
    status = ended
    if !isPatient { throw SystemError(call: "wait", reason: "The program did not end.") }
    return ended
  }

  /// Waits a little for the end of the program; false if it goes on.
  func ends(within milliseconds: Int32) throws -> Bool {
    try life.waitForInput(milliseconds: milliseconds)
  }

  /// What the program wrote to standard error so far.
  func errors() throws -> String { try errorFile.contents() }

  /// Waits until the program wrote a text to standard error; returns at its end, too.
  func waitForErrors(_ text: String) throws {
    for _ in 0..<600 where try !errors().contains(text) {
      if try ends(within: 50) { return }
    }
  }

  /// Types an answer once the program asks a question for it: what was typed before is no answer.
  func answer(_ answer: String, at terminal: PseudoTerminal) throws {
    try waitForErrors("[y/N] ")
    try terminal.testEnd.write(answer)
  }

  private func takeLine() -> String? {
    guard let end = unread.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { unread.removeFirst(end + 1) }
    return String(decoding: unread[..<end], as: UTF8.self)
  }

  /// Reads what there is; false at the end.
  private func readSome() throws -> Bool {
    guard let output else { return false }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = try check(read(output.descriptor, &chunk, chunk.count), "read")
    unread += chunk[..<count]
    return count > 0
  }
}

/// How a process is started with nothing of the tests' own but what it is given.
enum Spawning {
  /// Held while a program starts, and while a descriptor is open that must not reach it: a copy of
  /// a pipe's end in another program would hide that the first one closed its own.
  private static let lock = Mutex(())

  /// Runs `body` while no program is started.
  static func withoutOthers<Result>(_ body: () throws -> sending Result) throws -> Result {
    try lock.withLock { _ in try body() }
  }

  /// Starts a program; the descriptors become 0, 1, 2, and so on.
  static func spawn(
    _ program: String, _ arguments: [String], environment: [String: String], descriptors: [File]
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // A number that the program is to have may be free here, and then be that of another one of them.
    let sources = try descriptors.map { try $0.raised(to: Int32(descriptors.count)) }
    defer { withExtendedLifetime(sources) {} }
    for (number, file) in sources.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file.descriptor, Int32(number))
    }
    var attributes = try attributesWithFreshSignals()
    defer { posix_spawnattr_destroy(&attributes) }
    var variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
    if let libraries = getenv("LD_LIBRARY_PATH") {
      variables["LD_LIBRARY_PATH"] = String(cString: libraries)
    }
    variables.merge(environment) { $1 }
    var processID: pid_t = 0
    let reason = withStrings([program] + arguments) { arguments in
      withStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
        lock.withLock { _ in
          posix_spawn(&processID, program, &actions, &attributes, arguments, variables)
        }
      }
    }
    if reason != 0 {
      throw SystemError(call: "posix_spawn", reason: String(cString: strerror(reason)))
    }
    return processID
  }

  /// No signal blocked or ignored, whatever the tests were started with.
  private static func attributesWithFreshSignals() throws -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
    posix_spawnattr_setflags(&attributes, flags)
    return attributes
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}
