import ArgumentParser
import Glibc
import RunnelApp
import RunnelTerminal

/// How the workspace looks and behaves in the terminal.
struct WorkspaceOptions: ParsableArguments {
  /// Whether the mouse is used.
  enum Mouse: String, ExpressibleByArgument, CaseIterable {
    case on
    case off
  }

  /// Which theme is used.
  enum Theme {
    case automatic
    case named(ThemeName)
  }

  @Option(
    help: ArgumentHelp("The file that defines the views.", valueName: "file"), completion: .file())
  var views: String?
  @Option(help: ArgumentHelp("The view to show first.", valueName: "name"))
  var view: String?
  @Flag(help: "Refuse every write.")
  var readonly = false
  @Option(
    help: ArgumentHelp(
      "The colors: \(ThemeName.allCases.map(\.rawValue).joined(separator: ", ")), or auto, which asks "
        + "the terminal what is behind the text.",
      valueName: "name"),
    completion: .list(["auto"] + ThemeName.allCases.map(\.rawValue)),
    transform: WorkspaceOptions.theme)
  var theme: Theme?
  @Flag(help: "Use no colors.")
  var noColor = false
  @Flag(help: "Use no signs beyond ASCII.")
  var ascii = false
  @Option(help: "Use the mouse, or leave it to the terminal.")
  var mouse = Mouse.on
  @Option(
    help: ArgumentHelp("Add what happens to this file.", valueName: "file"), completion: .file())
  var log: String?
  @Flag(help: ArgumentHelp("Let C-x ! end the program with a fault.", visibility: .hidden))
  var allowCrash = false

  /// - Throws: `Failure` if there is no terminal to open the workspace in.
  func checkTerminal() throws {
    guard StandardInput.isTerminal, StandardOutput.isTerminal else {
      throw Failure(
        "the workspace needs a terminal; use get, export or watch to read without one",
        status: .usage)
    }
  }

  /// Opens the workspace on a database file, and ends the process with its exit code.
  func open(_ file: String) throws {
    var options = ApplicationOptions(database: file)
    options.views = views
    options.view = view
    options.isReadOnly = readonly
    options.allowsCrash = allowCrash
    options.terminal = TerminalOptions(signs: ascii ? .ascii : .automatic, usesMouse: mouse == .on)
    if case .named(let name)? = theme { options.terminal.theme = name }
    if noColor { options.terminal.colorDepth = ColorDepth.none }
    do {
      try LogFile.start(log)
      let status = try Application.run(options)
      if status != 0 { Glibc.exit(status) }
    } catch let error as TerminalError {
      throw Failure(error.message, status: .usage)
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .usage)
    }
  }

  private static func theme(_ text: String) throws -> Theme {
    if text == "auto" { return .automatic }
    guard let name = ThemeName(rawValue: text) else {
      let names = ThemeName.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("the themes are auto, \(names).")
    }
    return .named(name)
  }
}
