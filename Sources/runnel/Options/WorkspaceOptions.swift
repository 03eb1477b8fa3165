import ArgumentParser
import Foundation
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

  @Option(
    help: ArgumentHelp("The file that defines the views.", valueName: "file"), completion: .file())
  var views: String?
  @Option(
    help: ArgumentHelp(
      "The file that defines the resources: what is counted, logged and asked for in forms.",
      valueName: "file"), completion: .file())
  var resources: String?
  @Option(help: ArgumentHelp("The view to show first.", valueName: "name"))
  var view: String?
  @Flag(help: "Refuse every write.")
  var readonly = false
  @Option(
    help: ArgumentHelp(
      "The theme; auto asks the terminal what is behind the text. The themes: "
        + "\(WorkspaceOptions.themes.joined(separator: ", ")).",
      valueName: "name"),
    completion: .list(WorkspaceOptions.themes), transform: WorkspaceOptions.theme)
  var theme: ThemeChoice?
  @Flag(help: "Use no colors.")
  var noColor = false
  @Flag(help: "Use no signs beyond ASCII.")
  var ascii = false
  @Option(help: "Use the mouse, or leave it to the terminal.")
  var mouse: Mouse?
  @Option(
    help: ArgumentHelp("Add what happens to this file.", valueName: "file"), completion: .file())
  var log: String?
  @Option(
    help: ArgumentHelp(
      "Record the session to this file, which then holds what was shown and typed.",
      valueName: "file"), completion: .file())
  var record: String?
  @Option(
    help: ArgumentHelp(
      "Show a recorded session after its last action; as text, where there is no terminal.",
      valueName: "file"), completion: .file())
  var replay: String?
  @Flag(help: ArgumentHelp("Let C-x ! end the program with a fault.", visibility: .hidden))
  var allowCrash = false

  /// Shows the session that `--replay` names; false if none is named.
  ///
  /// - Throws: `Failure` if it cannot be read.
  func showReplay() throws -> Bool {
    guard let replay else { return false }
    do {
      let session = try SessionReplay(file: replay)
      if StandardInput.isTerminal, StandardOutput.isTerminal {
        let status = try Application.run(session, terminal: wishes)
        if status != 0 { Glibc.exit(status) }
      } else {
        let lines = session.canvas().textLines().map { $0 + "\n" }.joined()
        try StandardOutput.write(lines)
        StandardError.say("\(replay): \(session.summary).")
      }
    } catch let error as TerminalError {
      throw Failure(error.message, status: .usage)
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .failure)
    }
    return true
  }

  private var wishes: TerminalWishes {
    var wishes = TerminalWishes()
    wishes.theme = theme
    wishes.colorDepth = noColor ? ColorDepth.none : nil
    wishes.signs = ascii ? .ascii : nil
    wishes.usesMouse = mouse.map { $0 == .on }
    return wishes
  }

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
    options.resources = resources
    options.view = view
    options.record = record
    options.isReadOnly = readonly
    options.allowsCrash = allowCrash
    options.configuration = ConfigurationFile.path(
      environment: ProcessInfo.processInfo.environment)
    options.terminal = wishes
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

  private static let themes = ThemeChoice.allCases.map(\.rawValue)

  private static func theme(_ text: String) throws -> ThemeChoice {
    if let theme = ThemeChoice(rawValue: text) { return theme }
    throw ValidationError("the themes are \(themes.joined(separator: ", ")).")
  }
}
