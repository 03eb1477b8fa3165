import ArgumentParser

/// `runnel` without a command, or `runnel open`: opens the workspace in the terminal.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open the workspace in the terminal.",
    discussion: "This is what runnel does without a command. Press ? in it for help.")

  /// Whether the mouse is used.
  enum Mouse: String, ExpressibleByArgument, CaseIterable {
    case on
    case off
  }

  @OptionGroup var database: DatabaseOptions
  @Option(
    help: ArgumentHelp("The file that defines the views.", valueName: "file"), completion: .file())
  var views: String?
  @Option(help: ArgumentHelp("The view to show first.", valueName: "name"))
  var view: String?
  @Flag(help: "Refuse every write.")
  var readonly = false
  @Flag(help: "Use no colors.")
  var noColor = false
  @Flag(help: "Use no signs beyond ASCII.")
  var ascii = false
  @Option(help: "Use the mouse, or leave it to the terminal.")
  var mouse = Mouse.on

  func run() throws {
    guard StandardInput.isTerminal, StandardOutput.isTerminal else {
      throw Failure(
        "the workspace needs a terminal; use get, export or watch to read without one",
        status: .usage)
    }
  }
}
