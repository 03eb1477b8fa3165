import ArgumentParser
import RunnelServer

/// The backups that a server makes.
struct ServerBackupOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Make backups in this folder, as `runnel backup` does.", valueName: "folder"),
    completion: .directory)
  var backup: String?
  @Option(
    help: ArgumentHelp(
      "The time from one backup to the next: 30m, 6h, 1d (default: 1d).", valueName: "time"),
    transform: ServerBackupOptions.milliseconds)
  var every: Int64?
  @Option(
    help: ArgumentHelp("How many backups of a database stay (default: all).", valueName: "count"),
    transform: BackupCommand.count)
  var keep: Int?

  func validate() throws {
    if backup == nil, every != nil || keep != nil {
      throw ValidationError("--every and --keep are for backups: give --backup and a folder.")
    }
  }

  func apply(to configuration: inout ServerConfiguration) {
    guard let backup else { return }
    configuration.backups = BackupPlan(
      folder: backup, everyMilliseconds: every ?? 86_400_000, keep: keep)
  }

  /// A time in milliseconds: a number from 1 with s, m, h or d.
  static func milliseconds(_ text: String) throws -> Int64 {
    let factors: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = text.last.flatMap({ factors[$0] }), let number = Int64(text.dropLast()),
      number > 0, !number.multipliedReportingOverflow(by: unit).overflow
    else { throw ValidationError("give a time like 30m, 6h or 1d.") }
    return number * unit
  }
}
