import ArgumentParser

/// `runnel` without a command, or `runnel open`: opens the workspace in the terminal.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open the workspace in the terminal.",
    discussion: "This is what runnel does without a command. Press ? in it for help.")

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var workspace: WorkspaceOptions

  func run() throws {
    if try workspace.showReplay() { return }
    try workspace.checkTerminal()
    let file = try database.file(for: workspace.readonly ? .read : .create)
    try workspace.open(file)
  }
}
