import ArgumentParser

/// `runnel` without a command, or `runnel open`: opens the workspace in the terminal.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open the workspace in the terminal.",
    discussion: """
      This is what runnel does without a command. Press ? in it for help. \(CreationOptions.help)

      Where the output is no terminal, the rows of the view are written instead, a line of JSON for \
      each: its members after $key, or $value of a record that is a value. --plain writes text.

      Examples:
        runnel --view Roster --filter 'role:organizer' | jq -r .name
        runnel --plain --follow
        runnel --check
      """)

  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions
  @OptionGroup var workspace: WorkspaceOptions

  func run() throws {
    if try workspace.tell() { return }
    if try workspace.showReplay() { return }
    if workspace.listing.isPlain { return try workspace.list(database.file(for: .read)) }
    try workspace.checkTerminal()
    let file = try database.file(for: workspace.readonly ? .read : creation.access)
    try workspace.open(file)
  }
}
