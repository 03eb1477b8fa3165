import ArgumentParser
import RunnelDatabase
import RunnelServer

/// `runnel restore`: brings a database back from a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore a database from a backup.",
    discussion: """
      Before anything is written, the files of the backup are compared with its backup.json, and \
      the database in it is checked. The files beside the database are restored too, with the new \
      name: secrets and service accounts that were removed since the backup come back with it.

      Existing files are replaced only with --replace, and not while a program has the database \
      open. They are kept as chat.db.replaced and so on, and their names are printed; so are files \
      beside the database of which the backup has none, such as secrets that were made later. The \
      new files have the owner, group and mode of those that they replace; files that root adds \
      belong to the owner of the database, or of the folder.

      Example:
        runnel restore /backups/chat-2026-11-23T12-00-00Z --to chat.db
      """)

  @Argument(help: "The folder of the backup.", completion: .directory) var backup: String
  @Option(
    help: ArgumentHelp("The database file.", valueName: "file"), completion: .file(),
    transform: DatabaseOptions.fileName)
  var to: String
  @Flag(help: "Replace existing files; they are kept under other names.")
  var replace = false

  func run() throws {
    do {
      let restored = try BackupRestore(backup)
      let strays = restored.strays(for: to)
      let kept = try restored.restore(to: to, replaces: replace)
      for name in kept { StandardError.say("Kept as \(name).") }
      for name in strays {
        StandardError.say(
          "The backup has no such file as \(name): it was set aside, and is not used.")
      }
      if RestoreCommand.hasKeys(restored.manifest) {
        StandardError.say(
          "The secrets and service accounts are those of the backup: remove those that were removed since."
        )
      }
      try StandardOutput.say("\(to)\n")
    } catch let error as ServerError {
      throw Failure(error.message, status: error.isUsage ? .usage : .failure)
    }
  }

  /// Whether a backup has files by which administrators are known.
  private static func hasKeys(_ manifest: BackupManifest) -> Bool {
    let ends = [".secrets.json", ".service-accounts.json"]
    return manifest.files.contains { file in ends.contains { file.name.hasSuffix($0) } }
  }
}
