import Glibc

/// A terminal with a shell in it, as a person would have it in front of them.
///
/// Keys go in, and what is on the screen comes out. The only way to wait is for the screen, or what
/// tmux knows of it, to fulfil a condition.
final class TmuxTerminal {
  /// What did not happen, and what was on the screen instead.
  struct Missed: Error, CustomStringConvertible {
    let description: String
  }

  /// How long a screen is waited for; a loaded machine is slow.
  static let patienceSeconds = 20.0
  private static let pauseMilliseconds: Int32 = 5

  /// The prompt of the shell after a status of 0.
  static let prompt = "[0] ready$"

  private let tmux: Tmux
  /// A folder for the files of this terminal.
  var folder: TemporaryFolder { tmux.folder }
  private var recordFile: String { folder.file("record") }
  private var marks: [String] = []

  /// Opens a terminal and waits for the prompt of its shell.
  init(columns: Int = 80, rows: Int = 24, isFirstStart: Bool = false) throws {
    tmux = try Tmux(isFirstStart: isFirstStart)
    // This shell, unlike others, never touches the modes of the terminal: what it finds after a
    // program is what the program left behind.
    let settings = try tmux.folder.write("PS1='[$?] ready$ '\n", to: "settings")
    try tmux.run([
      "set-option", "-g", "default-terminal", "tmux-256color", ";",
      "set-option", "-g", "history-limit", "0", ";",
      "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-e", "ENV=\(settings)",
      "exec dash -i",
    ])
    try wait("a prompt") { $0.text.contains(Self.prompt) }
  }
}

// MARK: Doing

extension TmuxTerminal {
  /// Strikes keys, by the names that tmux has for them; other words are typed as they are.
  func keys(_ keys: String...) throws { try self.keys(contentsOf: keys) }

  /// Strikes the keys of a list.
  func keys(contentsOf keys: [String]) throws { try tmux.run(["send-keys"] + keys) }

  /// Types a text.
  func type(_ text: String) throws { try tmux.run(["send-keys", "-l", "--", text]) }

  /// Types a command line and Enter.
  func command(_ line: String) throws {
    try type(line)
    try keys("Enter")
  }

  /// Runs the program by a command line: words before its name, arguments, words after them.
  func runnel(_ arguments: [String], before: String = "", after: String = "") throws {
    let words = ([try Program.path()] + arguments).map { "'\($0)'" }.joined(separator: " ")
    try command("clear; \(before) \(words) \(after)")
  }

  /// Sends reports of the mouse: button, column and row, and `M` or `m`, as a terminal sends them.
  func mouse(_ reports: String...) throws {
    for report in reports {
      let bytes = "\u{1B}[<\(report)".utf8.map { String($0, radix: 16) }
      try tmux.run(["send-keys", "-H"] + bytes)
    }
  }

  /// Pastes a text, marked as such if the program asked for that.
  func paste(_ text: String) throws {
    let file = try folder.write(text, to: "paste")
    try tmux.run(["load-buffer", file, ";", "paste-buffer", "-p"])
  }

  /// Gives the terminal a color behind its text, which it tells who asks.
  func setBackground(_ color: String) throws {
    try tmux.run(["set-option", "-g", "window-style", "bg=\(color)"])
  }

  /// Changes the size of the terminal.
  func resize(columns: Int, rows: Int) throws {
    try tmux.run(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Closes the terminal while the program runs in it.
  func close() throws { try tmux.run(["kill-server"]) }

  /// Writes all that goes to the terminal from now on to a file as well.
  func record() throws { try tmux.run(["pipe-pane", "-O", "exec cat >\(recordFile)"]) }

  /// The process in the foreground of the terminal: the program, while it runs.
  func foregroundProcess() throws -> pid_t {
    let shell = try value("#{pane_pid}")
    let stat = try File(check(open("/proc/\(shell)/stat", O_RDONLY | O_CLOEXEC), "open")).contents()
    // After the name, which may contain anything: state, parent, group, session, terminal, and then
    // the group in the foreground, which has the number of its first process.
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    guard fields.count > 6, let group = pid_t(fields[6]), "\(group)" != shell else {
      throw Missed(description: "No program is in the foreground:\n\(try screen())")
    }
    return group
  }

  /// Sends a signal to the program in the foreground.
  func send(_ signal: Int32) throws { try check(kill(foregroundProcess(), signal), "kill") }
}

// MARK: Standing still

extension TmuxTerminal {
  /// Runs `body` while the terminal takes nothing; it gets the program in the foreground, and the
  /// terminal as a descriptor.
  func halt(_ body: (_ program: pid_t, _ tty: Int32) throws -> Void) throws {
    let program = try foregroundProcess()
    let server = try pid_t(value("#{pid}")) ?? 0
    let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
    let tty = try File(check(open(value("#{pane_tty}"), flags), "open"))
    guard server > 1 else { throw Missed(description: "tmux does not tell its process.") }
    try check(kill(server, SIGSTOP), "kill")
    defer { kill(server, SIGCONT) }
    try body(program, tty.descriptor)
  }

  /// Waits until a process has taken a signal that it handles; false if it does not for half a second.
  func takes(_ signal: Int32, _ process: pid_t) throws -> Bool {
    for _ in 0..<100 {
      let flags = O_RDONLY | O_CLOEXEC
      let status = try File(check(open("/proc/\(process)/status", flags), "open")).contents()
      let line = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
      let pending = line.flatMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) } ?? 0
      if pending & (1 << UInt64(signal - 1)) == 0 { return true }
      poll(nil, 0, TmuxTerminal.pauseMilliseconds)
    }
    return false
  }
}

// MARK: Seeing

extension TmuxTerminal {
  /// What is on the screen.
  func screen() throws -> TerminalText {
    TerminalText(try tmux.run(["capture-pane", "-p"]))
  }

  /// What is on the screen, with the sequences for its colors.
  func coloredScreen() throws -> String { try tmux.run(["capture-pane", "-p", "-e"]) }

  /// The modes of the terminal that the system knows, as `stty -a` shows them.
  func modes() throws -> String {
    let flags = O_RDONLY | O_NOCTTY | O_CLOEXEC
    let terminal = try File(check(open(value("#{pane_tty}"), flags), "open"))
    var modes = termios()
    try check(tcgetattr(terminal.descriptor, &modes), "tcgetattr")
    return "\(modes.c_iflag) \(modes.c_oflag) \(modes.c_cflag) \(modes.c_lflag) \(modes.c_cc)"
  }

  /// What went to the terminal since `record`.
  ///
  /// Who writes it down is another process: the end of it is found by a mark, a title that nobody sees.
  func recorded() throws -> String {
    let mark = "\u{1B}]2;mark \(marks.count)\u{7}"
    marks.append(mark)
    let flags = O_WRONLY | O_NOCTTY | O_CLOEXEC
    try File(check(open(value("#{pane_tty}"), flags), "open")).write(mark)
    let deadline = TmuxTerminal.now() + TmuxTerminal.patienceSeconds
    while true {
      let isLast = TmuxTerminal.now() > deadline
      let descriptor = open(recordFile, O_RDONLY | O_CLOEXEC)
      let text = descriptor < 0 ? "" : try File(descriptor).contents()
      if text.contains(mark) { return marks.reduce(text) { $0.replacing($1, with: "") } }
      if isLast { throw Missed(description: "What went to the terminal was not recorded.") }
      poll(nil, 0, TmuxTerminal.pauseMilliseconds)
    }
  }

  /// The modes of the terminal itself that were on at the end of what was recorded: `?1049` is the
  /// alternate screen, `?25` the cursor, `?2004` that pastes are marked, and so on.
  func recordedModes() throws -> Set<String> {
    let record = try recorded()
    var modes: Set<String> = []
    for part in record.split(separator: "\u{1B}[?").dropFirst() {
      let numbers = part.prefix { $0.isNumber || $0 == ";" }
      let isOn = part.dropFirst(numbers.count).first == "h"
      for number in numbers.split(separator: ";").map({ "?\($0)" }) {
        if isOn { modes.insert(number) } else { modes.remove(number) }
      }
    }
    return modes
  }

  /// What tmux knows of the terminal, by its own names.
  func value(_ format: String) throws -> String {
    String(try tmux.run(["display-message", "-p", format]).dropLast())
  }

  /// Waits until the screen is as it should be and stays so for a look, and returns it: a look may fall
  /// between two pieces of one frame.
  ///
  /// - Throws: `Missed` with what was on the screen in the end.
  @discardableResult
  func wait(
    _ what: String, seconds: Double = patienceSeconds, until isFulfilled: (TerminalText) -> Bool
  ) throws -> TerminalText {
    let deadline = TmuxTerminal.now() + seconds
    var before: TerminalText?
    while true {
      // The time is taken before the look, so that the last look is one after the deadline.
      let isLast = TmuxTerminal.now() > deadline
      let screen = try screen()
      let isSo = isFulfilled(screen)
      if isSo, isLast || "\(screen)" == before.map({ "\($0)" }) { return screen }
      before = isSo ? screen : nil
      if isLast { throw Missed(description: "There was not in time \(what):\n\(screen)") }
      poll(nil, 0, TmuxTerminal.pauseMilliseconds)
    }
  }

  /// Waits until a text is on the screen.
  @discardableResult
  func wait(for text: String, seconds: Double = patienceSeconds) throws -> TerminalText {
    try wait("`\(text)`", seconds: seconds) { $0.contains(text) }
  }

  /// Answers a question with yes, until it is gone: a `y` that comes before the question could be read
  /// is no answer to it.
  func sayYes(to question: String) throws {
    try wait(for: question)
    // One that was struck too soon does not count, and one too many would begin another command.
    var looks = 0
    try wait("an answer to `\(question)`") { screen in
      if looks % 10 == 0, screen.contains(question) { try? keys("y") }
      looks += 1
      return !screen.contains(question)
    }
  }

  /// Waits until a text is not on the screen any more.
  @discardableResult
  func wait(forNo text: String) throws -> TerminalText {
    try wait("no `\(text)`") { !$0.contains(text) }
  }

  /// Waits until what tmux knows of the terminal is as it should be.
  func wait(forValue expected: String, of format: String) throws {
    try wait("`\(expected)` as \(format)") { _ in (try? value(format)) == expected }
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
