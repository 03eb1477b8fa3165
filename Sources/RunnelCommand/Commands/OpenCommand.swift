import ArgumentParser
import RunnelSync

/// `runnel` without a command, or `runnel open`: opens the workspace in the terminal.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open the workspace in the terminal.",
    discussion: """
      This is what runnel does without a command. Press ? in it for help. \(CreationOptions.help)

      A server's database is kept in a local replica, which is shown at once. What you write while \
      offline is sent when the server can be reached. `runnel sync status` lists the replicas.

      If the output is not a terminal, the rows of the view are written instead, a line of JSON for \
      each: $key and the members of the record, or $value if the record is a value. --plain writes text.

      Examples:
        runnel --view Roster --filter 'role:organizer' | jq -r .name
        runnel --plain --follow
        runnel --check
        runnel open 'https://chat.example.com/?ns=main' --token-file token.txt
      """)

  @Argument(
    help: ArgumentHelp(
      "The address of a server's database, instead of --database.", valueName: "url"))
  var address: String?
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions
  @OptionGroup var workspace: WorkspaceOptions

  func validate() throws {
    guard let address else { return }
    guard OriginAddress.isMeant(by: address) else {
      throw ValidationError("Unexpected argument '\(address)'")
    }
    if database.database != nil {
      throw ValidationError("--database and an address exclude each other: give one.")
    }
    try DatabaseOptions.check(address)
  }

  /// Returns the address of the server's database to open, or nil for a file.
  private func originAddress() throws -> OriginAddress? {
    if let address { return try OriginAddress(address) }
    return try database.originAddress()
  }

  func run() throws {
    if try workspace.tell() { return }
    if try workspace.showReplay() { return }
    if workspace.listing.isPlain, try originAddress() == nil {
      return try workspace.list(database.file(for: .read))
    }
    if let origin = try originAddress() {
      try workspace.checkTerminal()
      return try workspace.open(origin, database.origin)
    }
    try workspace.checkTerminal()
    let file = try database.file(for: workspace.readonly ? .read : creation.access)
    try workspace.open(file)
  }
}
