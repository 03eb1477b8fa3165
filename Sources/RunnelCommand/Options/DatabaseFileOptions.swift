import ArgumentParser

/// The database file that a command works on, which reaches no server.
struct DatabaseFileOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The database file (default: $XDG_DATA_HOME/runnel/default.db).", valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var database: String?

  func validate() throws { try database.map(DatabaseOptions.check) }

  /// The options of a command that may reach a server, of which none is given.
  var options: DatabaseOptions { DatabaseOptions(database: database, .none) }
}
