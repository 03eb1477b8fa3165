import Glibc

/// A notice that reaches the user outside of the screen.
package struct TerminalNotice: Hashable, Sendable {
  /// A way to the user.
  package enum Way: String, Hashable, Sendable, CaseIterable {
    /// The terminal's bell.
    case bell
    /// The sequence OSC 9, by which terminals show a text on the desktop.
    case osc9
    /// The sequence OSC 777, the same with a title.
    case osc777
    /// The desktop's program `notify-send`.
    case notifySend = "notify-send"
  }

  /// The greatest number of characters of a text.
  private static let lengthMax = 200

  /// The title, without control characters.
  package let title: String
  /// The text, without control characters.
  package let text: String
  /// The ways to the user.
  package let ways: [Way]

  /// Makes a notice; control characters become blanks, and long texts are cut.
  package init(title: String, text: String, by ways: [Way]) {
    (self.title, self.text) = (TerminalNotice.plain(title), TerminalNotice.plain(text))
    self.ways = ways
  }

  private static func plain(_ text: String) -> String {
    var plain = String.UnicodeScalarView()
    for scalar in text.prefix(lengthMax).unicodeScalars {
      // Characters that change the direction of text could hide what was written.
      let isControl =
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
      plain.append(isControl ? " " : scalar)
    }
    return text.count > lengthMax ? String(plain) + "…" : String(plain)
  }

  /// The sequence OSC 9.
  ///
  /// Source: iTerm2's proprietary escape codes.
  var osc9: [UInt8] { Array("\u{1B}]9;\(title): \(text)\u{07}".utf8) }

  /// The sequence OSC 777; a semicolon in the title would end it.
  ///
  /// Source: rxvt-unicode, perl extension `notify`.
  var osc777: [UInt8] {
    let title = title.map { $0 == ";" ? "," : String($0) }.joined()
    return Array("\u{1B}]777;notify;\(title);\(text)\u{07}".utf8)
  }

  /// The arguments of `notify-send`, whose text may have marks of HTML.
  var arguments: [String] {
    let escaped = text.map { character -> String in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: String(character)
      }
    }.joined()
    return ["--app-name=runnel", "--", title, escaped]
  }
}

/// Sends notices to the user.
package struct NoticeSender: Sendable {
  private static let program = "notify-send"
  private static let patienceMilliseconds: Int32 = 2000

  private let wrapping: ClipboardSequence.Wrapping
  private let hasProgram: Bool

  /// Finds the ways of this process.
  package init() {
    self.init(
      environment: { name in getenv(name).map { String(cString: $0) } },
      isInstalled: Clipboard.isInstalled)
  }

  /// Finds the ways of an environment.
  ///
  /// - Parameters:
  ///   - environment: returns the variable with a name.
  ///   - isInstalled: tells whether a program with a name exists.
  init(environment: (String) -> String?, isInstalled: (String) -> Bool) {
    func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }
    wrapping = isSet("TMUX") ? .tmux : isSet("STY") ? .screen : .none
    hasProgram = isInstalled(NoticeSender.program)
  }

  /// Sends a notice by each of its ways; the bell rings instead of a program that is not installed.
  ///
  /// It does not wait for the program.
  package func send(_ notice: TerminalNotice, to screen: any Screen) {
    let isMissing = notice.ways.contains(.notifySend) && !hasProgram
    if notice.ways.contains(.bell) || isMissing { screen.bell() }
    for way in notice.ways {
      switch way {
      case .bell: break
      case .osc9: screen.send(ClipboardSequence.wrapped(notice.osc9, wrapping))
      case .osc777: screen.send(ClipboardSequence.wrapped(notice.osc777, wrapping))
      case .notifySend:
        guard hasProgram else { continue }
        // The shell starts the program in the background, without this terminal.
        let script = "\"$0\" \"$@\" </dev/null >/dev/null 2>&1 &"
        _ = ChildProcess.run(
          ["sh", "-c", script, NoticeSender.program] + notice.arguments, input: [],
          milliseconds: NoticeSender.patienceMilliseconds)
      }
    }
  }
}
