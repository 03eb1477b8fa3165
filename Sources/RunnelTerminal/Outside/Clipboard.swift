import Glibc

/// Puts text into the clipboard: by a program of the desktop, or through the terminal.
///
/// In a remote login, a desktop program would put the text into the clipboard of the wrong machine,
/// so the terminal is tried first there. The clipboard is never read.
package struct Clipboard: Sendable {
  /// A way to the clipboard.
  package enum Way: Hashable, Sendable {
    /// A program that reads the text from its standard input.
    case program([String])
    /// The terminal, by a control sequence.
    case terminal(ClipboardSequence.Wrapping)
  }

  /// The outcome of a copy.
  package enum Outcome: Hashable, Sendable {
    /// The program with this name took this number of bytes.
    case copied(by: String, byteCount: Int)
    /// This number of bytes was sent to the terminal, which does not say whether it took them.
    case sent(byteCount: Int)
    /// The text could not be copied, for this reason.
    case failed(String)
  }

  /// The longest time that a program may take.
  private static let patienceMilliseconds: Int32 = 2000

  /// The ways to the clipboard, the best first.
  package let ways: [Way]

  /// Finds the ways that this process has.
  package init() {
    self.init(
      environment: { name in getenv(name).map { String(cString: $0) } },
      isInstalled: Clipboard.isInstalled)
  }

  /// Finds the ways that an environment has.
  ///
  /// - Parameters:
  ///   - environment: returns the variable with a name.
  ///   - isInstalled: tells whether a program with a name exists.
  init(environment: (String) -> String?, isInstalled: (String) -> Bool) {
    func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }
    var programs: [[String]] = []
    if isSet("TMUX") { programs.append(["tmux", "load-buffer", "-w", "-"]) }
    var desktop: [[String]] = []
    if isSet("WAYLAND_DISPLAY") { desktop.append(["wl-copy"]) }
    if isSet("DISPLAY") {
      desktop += [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    }
    desktop.append(["pbcopy"])
    let wrapping: ClipboardSequence.Wrapping =
      isSet("TMUX") ? .tmux : isSet("STY") ? .screen : .none
    let isRemote = isSet("SSH_TTY") || isSet("SSH_CONNECTION")
    func ways(_ programs: [[String]]) -> [Way] {
      programs.filter { $0.first.map(isInstalled) ?? false }.map { .program($0) }
    }
    let terminal = Way.terminal(wrapping)
    self.ways =
      isRemote
      ? ways(programs) + [terminal] : ways(desktop) + ways(programs) + [terminal]
  }

  /// Copies a text by the first way that works.
  ///
  /// It waits at most two seconds for a program. A control sequence is sent to the terminal between
  /// two frames.
  package func copy(_ text: String, to screen: any Screen) -> Outcome {
    let bytes = Array(text.utf8)
    for way in ways {
      switch way {
      case .program(let arguments):
        let status = ChildProcess.run(
          arguments, input: bytes, milliseconds: Self.patienceMilliseconds)
        if status == 0 { return .copied(by: arguments[0], byteCount: bytes.count) }
      case .terminal(let wrapping):
        guard let sequence = ClipboardSequence.bytes(for: text, wrapping: wrapping) else {
          return .failed(
            "\(bytes.count) bytes are too many for the terminal, which takes "
              + "\(ClipboardSequence.bytesMax)")
        }
        screen.send(sequence)
        return .sent(byteCount: bytes.count)
      }
    }
    return .failed("there is no way to the clipboard")
  }

  static func isInstalled(_ program: String) -> Bool {
    guard let path = getenv("PATH").map({ String(cString: $0) }) else { return false }
    return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }
}
