import RunnelTerminal
import RunnelWorkspace

/// Writes the manual page from the program's own descriptions of its commands and its keys.
///
/// Source: man(7).
struct ManualPage {
  private let program: CommandDescription
  private let keymap: Keymap
  private var lines: [String] = []

  init(_ program: CommandDescription, keymap: Keymap) {
    self.program = program
    self.keymap = keymap
  }

  /// The text of the page.
  mutating func text() -> String {
    lines = [
      ".\\\" Made by `make manual` from the program itself.",
      ".TH RUNNEL 1 \"\" \"runnel \(MainCommand.version)\" \"User Commands\"", ".SH NAME",
      "runnel \\- \(ManualPage.escaped(program.abstract ?? ""))", ".SH SYNOPSIS",
      ".B runnel", "[\\fIoptions\\fR]", ".br", ".B runnel", "\\fIcommand\\fR ...",
      ".SH DESCRIPTION",
    ]
    paragraphs(program.discussion)
    lines.append(".SH COMMANDS")
    for command in program.shownSubcommands { describe(command, after: ["runnel"]) }
    describeKeys()
    lines += ManualPage.closing
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: Commands

  private mutating func describe(_ command: CommandDescription, after names: [String]) {
    let path = names + [command.commandName]
    let arguments = command.shownArguments
    lines.append(".SS \(ManualPage.escaped(path.joined(separator: " ")))")
    paragraphs(command.abstract)
    let positional = arguments.filter { $0.kind == "positional" }.map(ManualPage.usage)
    lines += [".PP", "Usage:", ".B \(ManualPage.escaped(path.joined(separator: " ")))"]
    lines.append((["[\\fIoptions\\fR]"] + positional).joined(separator: " "))
    paragraphs(command.discussion)
    for argument in arguments where !ManualPage.isCommon(argument) { describe(argument) }
    for command in command.shownSubcommands { describe(command, after: path) }
  }

  /// True for an argument that every command has.
  private static func isCommon(_ argument: CommandDescription.Argument) -> Bool {
    (argument.names ?? []).contains { ["help", "version"].contains($0.name) }
  }

  private static func usage(_ argument: CommandDescription.Argument) -> String {
    let name = "\\fI\(escaped(argument.valueName ?? ""))\\fR" + (argument.isRepeating ? " ..." : "")
    return argument.isOptional ? "[\(name)]" : name
  }

  private mutating func describe(_ argument: CommandDescription.Argument) {
    let value = ManualPage.escaped(argument.valueName ?? "")
    lines.append(".TP")
    if argument.kind == "positional" {
      lines.append(".I \(value)")
    } else {
      let names = (argument.names ?? []).map { "\\fB\(ManualPage.escaped($0.text))\\fR" }
      lines.append(
        names.joined(separator: ", ") + (argument.kind == "option" ? " \\fI\(value)\\fR" : ""))
    }
    var words = argument.abstract ?? ""
    if let values = argument.allValues, !values.isEmpty {
      words += " (values: \(values.joined(separator: ", ")))"
    }
    if let value = argument.defaultValue { words += " (default: \(value))" }
    lines.append(ManualPage.escaped(words))
    if let discussion = argument.discussion { lines.append(ManualPage.escaped(discussion)) }
  }

  // MARK: Keys

  private mutating func describeKeys() {
    lines += [
      ".SH KEYS", "These are the keys of the workspace by context, unless the configuration file",
      "says otherwise. Press ? in the workspace for those of the place you are in.",
    ]
    var contexts: [KeymapContext] = []
    for binding in keymap.bindings where !contexts.contains(binding.context) {
      contexts.append(binding.context)
    }
    for context in contexts {
      lines.append(".SS \(context)")
      var done: Set<ActionID> = []
      for binding in keymap.bindings
      where binding.context == context && done.insert(binding.action).inserted {
        let keys = keymap.bindings
          .filter { $0.context == context && $0.action == binding.action }.map(\.keys)
        lines += [
          ".TP", "\\fB\(ManualPage.escaped(keys.joined(separator: " ")))\\fR",
          ManualPage.escaped("\(binding.description) [\(binding.action)]"),
        ]
      }
    }
    lines.append(".SS \(ManualPage.escaped(PaletteCommand.sectionTitle))")
    for command in PaletteCommand.all {
      lines += [
        ".TP", "\\fB\(ManualPage.escaped(command.usage))\\fR", ManualPage.escaped(command.help),
      ]
    }
  }

  // MARK: Text

  /// Appends paragraphs, separated by empty lines; indented lines are shown unchanged.
  private mutating func paragraphs(_ text: String?) {
    guard let text, !text.isEmpty else { return }
    for paragraph in ManualPage.paragraphs(of: text) {
      lines.append(".PP")
      let isLiteral = paragraph.contains { $0.hasPrefix("  ") }
      if isLiteral { lines.append(".nf") }
      lines += paragraph.map(ManualPage.escaped)
      if isLiteral { lines.append(".fi") }
    }
  }

  private static func paragraphs(of text: String) -> [[String]] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .split(whereSeparator: \.isEmpty).map { $0.map(String.init) }
  }

  /// Text with its formatter commands escaped, so that it is shown unchanged.
  static func escaped(_ text: String) -> String {
    let escaped = text.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "…": result += "..."
      default: result.append(character)
      }
    }
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  private static let closing = [
    ".SH FILES", ".TP", ".I $XDG_DATA_HOME/runnel/default.db",
    "The default database (~/.local/share if the variable is not set); \\-wal, \\-shm and",
    "\\-notify beside a database belong to it.", ".TP", ".I NAME.db\\-undo\\-NUMBER.json",
    "What stood at a place before the import that is write NUMBER of NAME.db, where that is too",
    "large for the history. \\fBrunnel undo\\fR needs it, and removes it once it is put back.",
    ".TP", ".I NAME.views.yaml",
    "The views of the database NAME.db, beside it.", ".TP",
    ".I $XDG_STATE_HOME/runnel/sessions/",
    "A file for each database with where you were and what was typed and not saved, which comes back",
    "after a crash too (~/.local/state if the variable is not set). A crash leaves no other file: its",
    "message stands in the terminal.", ".TP",
    ".I $XDG_CONFIG_HOME/runnel/config.yaml",
    "The configuration (~/.config if the variable is not set). See \\fBrunnel config\\fR.", ".TP",
    ".I $XDG_CONFIG_HOME/runnel/themes/NAME.yaml",
    "The theme NAME: \\fBbase\\fR is a theme of the program, \\fBroles\\fR has what is different, as",
    "\\fBtitle: red\\fR, \\fBtitle: link\\fR (as another role) or",
    "\\fBtitle: { foreground: 110, background: \\(dq#1c1c1c\\(dq, attributes: [bold] }\\fR.",
    ".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "If it is set and not empty, no colors are used.",
    ".TP", ".B COLORFGBG", "Tells the background where the terminal does not answer.", ".TP",
    ".B ESCDELAY",
    "How many milliseconds the rest of a key is waited for after Esc; 25 if it is not set.", ".TP",
    ".B RUNNEL_RESOURCES", "The folder of the files that come with the program.",
    ".SH EXIT STATUS", ".TP", ".B 0", "All went well.", ".TP", ".B 1",
    "Something failed, a file is not sound, or the answer to a question was no.", ".TP", ".B 2",
    "The command line was not understood, or lacks an option that is needed: \\fB\\-\\-force\\fR,",
    "\\fB\\-\\-replace\\fR or \\fB\\-\\-merge\\fR where something would be gone and nobody can be asked,",
    "\\fB\\-\\-create\\fR where the database does not exist. Or there is no terminal for the workspace.",
    ".TP", ".B 3",
    "Another process holds the database, or a server cannot be reached: try again. Or the answer",
    "to a write was lost: look whether it was done before you repeat it.", ".TP",
    ".B 128+n",
    "The signal n ended the program. After a signal that cannot be caught, \\fBreset\\fR",
    "brings the terminal back.",
  ]
}
