import Foundation
import Glibc
import RunnelApp
import RunnelTerminal
import RunnelWorkspace

/// The output of `--check`: what the program finds in its environment, and what prevents the
/// workspace from working.
struct SystemCheck {
  /// The result of one check.
  struct Finding {
    var name: String
    var value: String
    /// The advice, or nil if nothing is wrong.
    var advice: String?
  }

  private static let nameWidth = 15

  private let options: TerminalOptions
  private let configuration: ConfigurationFile
  private let configurationPath: String?
  private let environment: [String: String]
  private let terminal = TerminalDescription()

  /// Examines the environment as the workspace would with these options.
  init(_ wishes: TerminalWishes, environment: [String: String]) {
    self.environment = environment
    configurationPath = ConfigurationFile.path(environment: environment)
    configuration = configurationPath.map { ConfigurationFile(file: $0) } ?? ConfigurationFile()
    options = wishes.applied(to: configuration.settings.terminal)
  }

  /// All results, in order.
  func findings() -> [Finding] {
    [
      terminalFinding, streams, colors, theme, signs, widths, mouse, clipboard, editor,
    ] + configurationFindings + folders
  }

  /// Prints all results.
  ///
  /// - Throws: `Failure` if the workspace cannot work here.
  func run() throws {
    let findings = findings()
    for finding in findings {
      let mark = finding.advice == nil ? " " : "!"
      let name = finding.name.padding(
        toLength: SystemCheck.nameWidth, withPad: " ", startingAt: 0)
      try StandardOutput.say("\(mark) \(name) \(finding.value)\n")
      if let advice = finding.advice {
        let blanks = String(repeating: " ", count: SystemCheck.nameWidth + 3)
        try StandardOutput.say("\(blanks)\(advice)\n")
      }
    }
    let count = findings.count { $0.advice != nil }
    if count == 0 { return }
    throw Failure(count == 1 ? "One thing is to be mended." : "\(count) things are to be mended.")
  }

  // MARK: The terminal

  private var terminalFinding: Finding {
    let name = terminal.name.isEmpty ? "TERM is not set" : terminal.name
    var finding = Finding(name: "terminal", value: name)
    if !terminal.isKnown {
      finding.advice =
        "set TERM to the name of your terminal, such as xterm-256color; --plain needs none."
    } else if !terminal.placesCursor {
      finding.advice = "it cannot place its cursor: set TERM to another type, or use --plain."
    } else {
      finding.value +=
        terminal.hasAlternateScreen ? ", alternate screen" : ", without an alternate screen"
    }
    return finding
  }

  private var streams: Finding {
    func word(_ isTerminal: Bool) -> String { isTerminal ? "a terminal" : "no terminal" }
    return Finding(
      name: "input, output",
      value: "\(word(StandardInput.isTerminal)), \(word(StandardOutput.isTerminal))")
  }

  private var colors: Finding {
    let used =
      switch terminal.depth(options) {
      case .none: "none are used"
      case .sixteen: "16 are used"
      case .extended: "256 are used"
      }
    let reason = environment["NO_COLOR"].map { $0.isEmpty ? "" : ", NO_COLOR is set" } ?? ""
    return Finding(name: "colors", value: "\(terminal.colorCount), \(used)\(reason)")
  }

  private var theme: Finding {
    guard options.theme == .automatic else {
      return Finding(name: "theme", value: options.theme.name)
    }
    let told = environment["COLORFGBG"].map { "COLORFGBG is \($0)" } ?? "COLORFGBG is not set"
    let asked = terminal.isANSI ? "the terminal is asked" : "the terminal cannot be asked"
    return Finding(name: "theme", value: "auto: \(asked), \(told)")
  }

  private var signs: Finding {
    let kind = terminal.glyphs(options).isASCII ? "ASCII" : "Unicode"
    let locale = terminal.isUTF8 ? "the locale is UTF-8" : "the locale is not UTF-8"
    return Finding(name: "signs", value: "\(kind), \(locale)")
  }

  private var widths: Finding {
    var finding = Finding(name: "widths", value: "not asked: there is no terminal")
    guard StandardInput.isTerminal, StandardOutput.isTerminal, terminal.isANSI else {
      return finding
    }
    guard let answers = WidthProbe.run() else {
      finding.value = "the terminal does not tell"
      return finding
    }
    let others = answers.filter { $0.expected != $0.measured }
    finding.value =
      others.isEmpty
      ? "as expected"
      : others.map { "\($0.name) takes \($0.measured), expected \($0.expected)" }
        .joined(separator: "; ")
    return finding
  }

  private var mouse: Finding {
    if !options.usesMouse { return Finding(name: "mouse", value: "off") }
    return Finding(
      name: "mouse",
      value: terminal.isANSI
        ? "on, places as numbers (SGR); hold Shift to select text" : "the terminal has none")
  }

  private var clipboard: Finding {
    let ways = Clipboard().ways.map { way in
      switch way {
      case .program(let arguments): arguments[0]
      case .terminal(.none): "the terminal (OSC 52)"
      case .terminal: "the terminal (OSC 52), through the one around it"
      }
    }
    return Finding(name: "clipboard", value: ways.joined(separator: ", then "))
  }

  private var editor: Finding {
    let command = ExternalEditor().command
    var finding = Finding(name: "editor", value: command)
    let program = command.split(separator: " ").first.map(String.init) ?? ""
    if !isInstalled(program) {
      finding.advice = "it was not found: set EDITOR to the one that you use."
    }
    return finding
  }

  private func isInstalled(_ program: String) -> Bool {
    if program.contains("/") { return access(program, X_OK) == 0 }
    return (environment["PATH"] ?? "").split(separator: ":").contains {
      access("\($0)/\(program)", X_OK) == 0
    }
  }

  // MARK: Files

  private var configurationFindings: [Finding] {
    guard let path = configurationPath else {
      return [Finding(name: "configuration", value: "none, as HOME is not set")]
    }
    if access(path, F_OK) != 0 {
      return [Finding(name: "configuration", value: "\(path) does not exist")]
    }
    let themes = configuration.themes.filter { $0.theme.name == options.theme.name }
    let problems = configuration.problems + themes.flatMap(\.problems)
    if problems.isEmpty {
      return [Finding(name: "configuration", value: "\(path) is in order")]
    }
    return problems.map { problem in
      Finding(name: "configuration", value: "\(problem)", advice: "it is left out; all else holds.")
    }
  }

  private var folders: [Finding] {
    [
      folder("data", UserFolders.data(environment)),
      folder("state", UserFolders.state(environment)),
    ]
  }

  private func folder(_ name: String, _ path: String?) -> Finding {
    guard let path else {
      return Finding(
        name: name, value: "no folder", advice: "set HOME, or name a file with --database.")
    }
    if access(path, F_OK) != 0 {
      return Finding(name: name, value: "\(path) does not exist yet")
    }
    let isWritable = access(path, W_OK | X_OK) == 0
    return Finding(
      name: name, value: path, advice: isWritable ? nil : "it may not be written: mend its rights.")
  }
}
