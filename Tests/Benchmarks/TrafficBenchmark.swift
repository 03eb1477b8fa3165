import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree

/// Keys while another process changes thousands of rows a second.
struct TrafficBenchmark {
  private static let changesPerSecond = 10_000
  /// How many changes a write has: more writes a second than these would measure the disk.
  private static let changesPerWrite = 100
  /// How many rows are changed, those in sight among them.
  private static let rowCount = 500
  private static let keyMilliseconds = 100

  let demo: DemoInput
  let seconds: Int

  func run(into report: inout Report) throws {
    let program = try TerminalProgram(opening: demo)
    try program.rest(milliseconds: 500)
    let writer = try Writer(demo, seconds: seconds)
    let frames = program.screen.frameCount
    let start = Timing.now
    var samples = Samples()
    while Timing.seconds(since: start) < Double(seconds) {
      try program.rest(milliseconds: TrafficBenchmark.keyMilliseconds)
      let isUp = (samples.count / 10).isMultiple(of: 2)
      let line = program.screen.cursorLine
      try samples.measure {
        try program.strike(isUp ? "k" : "j")
        try program.wait(for: "the cursor on another row") { $0.cursorLine != line }
      }
    }
    let duration = Timing.seconds(since: start)
    let shown = program.screen.frameCount - frames - samples.count
    let changeCount = try writer.end()
    try program.quit()
    let rate = Int(Double(changeCount) / duration)
    report.add(
      "keys while \(rate) changes a second come", samples.summary, value: samples.largest,
      aim: .below(0.05, "50 ms each"))
    report.add("  the slowest of \(samples.count) keys", Format.time(samples.largest))
    let framesPerSecond = Double(max(shown, 0)) / duration
    report.add(
      "  frames a second, those for keys left out", Format.decimal(framesPerSecond, digits: 1),
      value: framesPerSecond, aim: .atMost(30))
  }

  /// This program again, as the process that writes.
  struct Writer {
    private let processID: pid_t
    private let output: Int32

    init(_ demo: DemoInput, seconds: Int) throws {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw BenchmarkError.system("pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
      let arguments = [
        CommandLine.arguments[0], TrafficBenchmark.option, demo.database, "\(seconds)",
      ]
      let words = arguments.map { strdup($0) }
      defer { for word in words { free(word) } }
      var processID: pid_t = 0
      let result = posix_spawn(
        &processID, "/proc/self/exe", &actions, nil, words + [nil], environ)
      close(ends[1])
      guard result == 0 else {
        throw BenchmarkError("posix_spawn: \(String(cString: strerror(result)))")
      }
      self.processID = processID
      output = ends[0]
    }

    /// Waits for the end; returns how many changes were written.
    func end() throws -> Int {
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(output, &bytes, bytes.count)
      close(output)
      var status: Int32 = 0
      guard waitpid(processID, &status, 0) == processID, status == 0, count > 0,
        let number = Int(String(decoding: bytes[..<(count - 1)], as: UTF8.self))
      else { throw BenchmarkError("The writing process failed.") }
      return number
    }
  }

  /// The option by which this program is told to write.
  static let option = "--write-changes"

  /// Writes changes for a time, at an even pace; says how many.
  static func write(to file: String, seconds: Int) throws {
    let session = try DatabaseSession(file: file, environment: .live)
    let place = try Path(DemoInput.collection)
    let keys = try session.rows(
      Query(place).ordered(by: .key).limited(to: rowCount, from: .last)
    ).map(\.key)
    guard !keys.isEmpty else { throw BenchmarkError("The demo has no messages.") }
    let writesPerSecond = changesPerSecond / changesPerWrite
    let start = Timing.now
    var changeCount = 0
    for number in 0..<(writesPerSecond * seconds) {
      let early = Double(number) / Double(writesPerSecond) - Timing.seconds(since: start)
      if early > 0 { usleep(UInt32(early * 1_000_000)) }
      if Timing.seconds(since: start) > Double(seconds) { break }
      var members: [JSONMember] = []
      for index in 0..<min(changesPerWrite, keys.count) {
        let key = keys[keys.count - 1 - (number * changesPerWrite + index) % keys.count]
        let value = JSONValue.number(JSONNumber(Int64(number % 90 + 10)))
        members.append(JSONMember("\(key.text)/like_count", value))
      }
      _ = try session.write(.update(place, members))
      changeCount += members.count
    }
    try session.close()
    Output.print("\(changeCount)")
  }
}
