import Foundation
import RunnelDatabase
import Testing

extension TerminalTests {
  /// However the program ends or stops, the terminal is as it was.
  @Suite struct LeavingTests {
    @Test func leavingGivesTheTerminalBack() throws {
      let session = try Session()
      try session.terminal.keys("q")
      try session.expectTerminalAsBefore(status: 0)
    }

    @Test func doubleInterruptLeaves() throws {
      let session = try Session()
      // Two strokes that are a second apart are not one wish.
      try session.terminal.keys("C-c", "C-c")
      try session.expectTerminalAsBefore(status: 0)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
    func signalGivesTheTerminalBack(signal: Int32) throws {
      let session = try Session()
      try session.terminal.send(signal)
      try session.expectTerminalAsBefore(status: 128 + signal)
    }

    @Test func signalWhileTypingGivesTheTerminalBack() throws {
      let session = try Session()
      try session.terminal.keys("a")
      try session.terminal.type("text")
      try session.terminal.wait(for: "not saved")
      try session.terminal.send(SIGTERM)
      try session.expectTerminalAsBefore(status: 128 + SIGTERM)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGUSR1, SIGALRM])
    func draftComesBackAfterASignal(signal: Int32) throws {
      let session = try Session()
      try session.terminal.keys("a")
      try session.terminal.type("half a thought")
      try session.terminal.wait("the whole text") {
        $0.first("not saved")?.contains("half a thought") == true
      }
      try session.terminal.send(signal)
      try session.expectTerminalAsBefore(status: 128 + signal)
      try session.startAgain()
      try session.terminal.wait(for: "1 Messages ~")
      try session.terminal.keys("a")
      try session.terminal.wait("the draft again") {
        $0.first("not saved")?.contains("half a thought") == true
      }
    }

    /// The terminal reads nothing: what tmux shows stands still.
    @Test(arguments: [SIGTERM, SIGHUP])
    func draftIsKeptIfTheTerminalTakesNothing(signal: Int32) throws {
      let session = try Session()
      try session.terminal.keys("a")
      try session.terminal.type("half a thought")
      try session.terminal.wait("the whole text") {
        $0.first("not saved")?.contains("half a thought") == true
      }
      try session.terminal.halt { program, tty in
        var number: UInt16 = 0
        // Each size is a whole new screen; at last the program waits, and takes the next one no more.
        repeat {
          number += 1
          var size = winsize(ws_row: 48 + number % 2, ws_col: 190, ws_xpixel: 0, ws_ypixel: 0)
          try check(ioctl(tty, UInt(TIOCSWINSZ), &size), "ioctl")
          try check(kill(program, SIGWINCH), "kill")
        } while try session.terminal.takes(SIGWINCH, program) && number < 1000
        try check(kill(program, signal), "kill")
        #expect(session.ends(program), "the program goes on")
      }
      try session.terminal.resize(columns: 100, rows: 24)
      try session.terminal.resize(columns: 80, rows: 24)
      try session.startAgain()
      try session.terminal.keys("a")
      try session.terminal.wait("the draft again") {
        $0.first("not saved")?.contains("half a thought") == true
      }
    }

    /// The message waits for another program, and is stored while this one ends.
    @Test(arguments: [SIGTERM, SIGHUP])
    func messageThatIsStoredAtTheEndIsNoDraft(signal: Int32) throws {
      let session = try Session()
      let lock = try HeldLock(session.file)
      try session.terminal.keys("a")
      try session.terminal.type("held back")
      try session.terminal.wait("the whole text") {
        $0.first("not saved")?.contains("held back") == true
      }
      try session.terminal.keys("Enter")
      try session.terminal.wait("an empty line for the next message") {
        !$0.lines.contains { $0.contains("zoe held back") }
      }
      try session.terminal.send(signal)
      lock.release()
      try session.expectTerminalAsBefore(status: 128 + signal)
      try session.startAgain()
      #expect(try session.terminal.screen().contains("held back"))
      #expect(try !session.terminal.screen().contains("1 Messages ~"))
    }

    @Test func unkeptDraftIsAskedAbout() throws {
      let session = try Session(options: ["--no-session"])
      try session.terminal.keys("a")
      try session.terminal.type("half a thought")
      try session.terminal.wait(for: "not saved")
      try session.terminal.keys("Escape")
      try session.terminal.wait(for: "kept as a draft")
      try session.terminal.keys("q")
      try session.terminal.wait(for: "a draft in Messages: half a thought")
      try session.terminal.sayYes(to: "y leave")
      try session.terminal.wait(for: "[0] ready$")
    }

    @Test func crashKeepsItsMessageAndGivesTheTerminalBack() throws {
      // The message is followed by a backtrace, for which there is to be room.
      let session = try Session(
        rows: 70, options: ["--allow-crash"], before: "SWIFT_BACKTRACE=enable=no")
      try session.terminal.keys("C-x", "!")
      try session.terminal.wait(for: "Fatal error: This crash was asked for")
      // Which signal a fault is depends on the machine.
      try session.terminal.wait("a prompt after a crash") {
        $0.contains("[132] ready$") || $0.contains("[133] ready$")
      }
      try session.expectTerminalAsBefore(status: nil)
    }

    @Test func quitSignalGivesTheTerminalBack() throws {
      let session = try Session(before: "SWIFT_BACKTRACE=enable=no")
      try session.terminal.send(SIGQUIT)
      try session.terminal.wait(for: "[131] ready$")
      try session.expectTerminalAsBefore(status: nil)
    }

    /// Every signal that ends a program which does not handle it; those of faults are sent, too.
    @Test(arguments: [
      SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSYS,
      SIGSEGV, 34, 64,
    ])
    func anySignalThatEndsAProgramGivesTheTerminalBack(signal: Int32) throws {
      let session = try Session(before: "SWIFT_BACKTRACE=enable=no")
      try session.terminal.send(signal)
      try session.expectTerminalAsBefore(status: 128 + signal)
    }

    @Test func pasteThatIsFarTooLongIsRefused() throws {
      let session = try Session()
      let count = 3 << 20
      try session.terminal.paste(String(repeating: "q d y\n", count: count / 6))
      try session.terminal.wait(for: "not pasted: \(count / 6 * 6) characters")
      try session.terminal.keys("k")
      try session.terminal.wait(for: "row 56 of 57")
    }

    @Test func resizesOneAfterAnotherEndInTheLastSize() throws {
      let session = try Session()
      for step in 0..<30 {
        try session.terminal.resize(columns: 30 + step * 7 % 60, rows: 6 + step * 5 % 30)
      }
      try session.terminal.resize(columns: 90, rows: 20)
      try session.terminal.wait("the last size") {
        $0.lines.count == 20 && $0.lines[19].hasSuffix("row 57 of 57 loaded")
      }
      try session.terminal.keys("k")
      try session.terminal.wait(for: "row 56 of 57")
      try session.terminal.keys("q")
      try session.terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test func longPasteIsOneTextAndRunsNoCommand() throws {
      let session = try Session()
      // Letters that would leave, delete and confirm, were they keys.
      let text = String(repeating: "q d y ", count: 170_000)
      try session.terminal.paste(text)
      try session.terminal.wait(for: "a paste goes into a text field")
      try session.terminal.keys("a")
      try session.terminal.paste("one\ntwo\tthree")
      try session.terminal.wait(for: "one⏎two")
      // Escape and a letter at once would be one key.
      try session.terminal.keys("Escape")
      try session.terminal.wait(for: "kept as a draft")
      try session.terminal.keys("q")
      try session.terminal.wait(for: "[0] ready$")
    }

    @Test func crashKeyIsOffUnlessAsked() throws {
      let session = try Session()
      try session.terminal.keys("C-x", "!", "k")
      try session.terminal.wait(for: "row 56 of 57")
    }

    @Test func closedTerminalEndsTheProgram() throws {
      let session = try Session()
      let processID = try session.terminal.foregroundProcess()
      try session.terminal.close()
      #expect(session.ends(processID))
    }

    @Test(arguments: ["C-z", ""])
    func stoppedProgramGivesTheTerminalBackAndComesBack(key: String) throws {
      let session = try Session()
      try session.terminal.keys("k")
      let before = try session.terminal.wait(for: "row 56 of 57")
      if key.isEmpty { try session.terminal.send(SIGTSTP) } else { try session.terminal.keys(key) }
      try session.terminal.wait(for: "Stopped")
      try session.expectTerminalAsBefore(status: nil)
      try session.terminal.command("fg")
      try session.terminal.wait("the screen as before") { $0 == before }
      try session.terminal.wait(forValue: "1", of: "#{alternate_on}")
      try session.terminal.keys("k")
      try session.terminal.wait(for: "row 55 of 57")
      try session.terminal.keys("q")
      try session.expectTerminalAsBefore(status: 0)
    }

    @Test func programStoppedWhileTheTerminalChangesHasTheNewSize() throws {
      let session = try Session()
      // Once before too, so that curses remembers a size that is not the terminal's.
      try session.terminal.resize(columns: 90, rows: 26)
      try session.terminal.wait("the new height") {
        $0.lines.count == 26 && $0.lines[25].hasSuffix("row 57 of 57 loaded")
      }
      try session.terminal.keys("C-z")
      try session.terminal.wait(for: "Stopped")
      try session.terminal.resize(columns: 100, rows: 30)
      try session.terminal.command("fg")
      let screen = try session.terminal.wait("the whole new height") {
        $0.lines.count == 30 && $0.lines[29].hasSuffix("row 57 of 57 loaded")
      }
      #expect(screen.lines[29].count == 99)
      try session.terminal.keys("q")
      try session.terminal.wait(for: TmuxTerminal.prompt)
    }
  }
}

/// The program on the demo in a terminal whose condition was noted before.
private final class Session {
  let terminal: TmuxTerminal
  private let demo: DemoDatabase
  private let modes: String
  private let flags: String

  init(rows: Int = 24, options: [String] = [], before: String = "") throws {
    demo = try DemoDatabase()
    terminal = try TmuxTerminal(rows: rows)
    try terminal.record()
    modes = try terminal.modes()
    flags = try terminal.value(Session.flags)
    try terminal.runnel(demo.arguments + options, before: before)
    try terminal.wait(for: "row 57 of 57")
    try #require(terminal.modes() != modes)
    try #require(terminal.value(Session.flags) != flags)
  }

  /// Starts the program once more in the same terminal.
  func startAgain() throws {
    try terminal.runnel(demo.arguments)
    try terminal.wait(for: "row 57 of 57")
  }

  /// The path of the database.
  var file: String { demo.file }

  private static let flags = [
    "alternate_on", "cursor_flag", "mouse_any_flag", "mouse_sgr_flag", "keypad_flag",
    "keypad_cursor_flag", "insert_flag", "origin_flag", "wrap_flag", "scroll_region_lower",
  ].map { "\($0)=#{\($0)}" }.joined(separator: " ")

  /// Waits for the prompt and checks that nothing of the program is left on the terminal.
  func expectTerminalAsBefore(status: Int32?) throws {
    let prompt = status.map { "[\($0)] ready$" } ?? "] ready$"
    let screen = try terminal.wait("a prompt on the last line that is not empty") { screen in
      screen.lines.last { !$0.isEmpty }?.contains(prompt) == true
    }
    // The command line is still there, and nothing of the program's screen.
    #expect(!screen.contains("● live"))
    #expect(!screen.contains("? help"))
    #expect(try terminal.modes() == modes)
    #expect(try terminal.value(Session.flags) == flags)
    try terminal.wait("the last of what was recorded") { _ in
      (try? terminal.recordedModes())?.isSubset(of: ["?25", "?7"]) == true
    }
    // The shell takes a command, which is seen as it is typed.
    try terminal.command("echo still $((6 * 7))")
    try terminal.wait(for: "still 42")
    #expect(try terminal.screen().contains("ready$ echo still $((6 * 7))"))
  }

  /// Waits until a process is gone, or only its parent has not asked for its status yet; false if it
  /// stays.
  func ends(_ processID: pid_t) -> Bool {
    for _ in 0..<2000 {
      let descriptor = open("/proc/\(processID)/stat", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0, let stat = try? File(descriptor).contents() else { return true }
      if stat.contains(") Z ") { return true }
      poll(nil, 0, 10)
    }
    return false
  }
}

/// The right to write a database, which another thread holds.
private final class HeldLock {
  private let end = DispatchSemaphore(value: 0)

  init(_ file: String) throws {
    let session = try ServingSession(file: file, environment: .system)
    let (begun, end) = (DispatchSemaphore(value: 0), end)
    nonisolated(unsafe) let held = session
    Thread.detachNewThread {
      do {
        try held.perform(isWriting: true) { _ in
          begun.signal()
          end.wait()
        }
        try held.close()
      } catch {
        Issue.record(error)
        begun.signal()
      }
    }
    begun.wait()
  }

  func release() { end.signal() }
}
