import ArgumentParser
import Glibc
import RunnelDatabase
import RunnelServer

/// `runnel backup`: makes backups of databases that may be in use.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Make a backup of a database, or of each in a folder, and check it.",
    discussion: """
      A backup is a folder with one state of the database and the files beside it: rules, secrets, \
      service accounts, views, resources, and the undo files of imports. Other programs can read \
      and write meanwhile. The written files are read again and checked before the backup gets its \
      name; its path is printed. Only you may read it. `runnel restore` restores it.

      With --keep the oldest backups of the same database are removed. `runnel serve --backup` \
      makes backups automatically.

      Examples:
        runnel backup chat.db --to /backups
        runnel backup /srv/databases --to /backups --keep 7
      """)

  @Argument(
    help: ArgumentHelp(
      "The database file, or a folder of NAME.db (default: that of the commands).",
      valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var file: String?
  @Option(
    help: ArgumentHelp("The folder for backups.", valueName: "folder"), completion: .directory)
  var to: String
  @Option(
    help: ArgumentHelp(
      "The number of backups of a database to keep (default: all).", valueName: "count"),
    transform: BackupCommand.count)
  var keep: Int?

  func run() throws {
    let interruption = try Interruption()
    var failures: [String] = []
    for file in try files() {
      do {
        try backUp(file, interruption)
      } catch let error as ServerError {
        failures.append(error.message)
      } catch let error as DatabaseError {
        failures.append(error.message)
      }
    }
    if !failures.isEmpty { throw Failure(failures.joined(separator: "\n")) }
  }

  private func files() throws -> [String] {
    let options = DatabaseOptions(database: file, .none)
    let file = try options.file(for: .read)
    var status = stat()
    guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [file] }
    do throws(ServerError) {
      let files = try DatabaseBackup.files(in: file)
      if files.isEmpty { throw ServerError("\(file) has no database: none ends with .db.") }
      return files
    } catch {
      throw Failure(error.message)
    }
  }

  private func backUp(_ file: String, _ interruption: Interruption) throws {
    var line = ProgressLine("Backing up \(file)")
    var signal: Int32?
    defer { line.clear() }
    do {
      let now = DatabaseEnvironment.system.now()
      let (path, _) = try DatabaseBackup(file).make(in: to, keep: keep, now: now) {
        line.report("copying")
        signal = signal ?? interruption.pending()
        return signal == nil
      }
      line.clear()
      try StandardOutput.say(path + "\n")
    } catch let error as DatabaseError {
      guard error.code == .cancelled, let signal else { throw error }
      throw Interruption.Stopped(signal: signal)
    }
  }

  /// Reads a number from 1.
  static func count(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else {
      throw ValidationError("give a number from 1.")
    }
    return number
  }
}
