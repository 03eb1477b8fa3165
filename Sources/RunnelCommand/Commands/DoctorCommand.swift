import ArgumentParser
import RunnelApp
import RunnelDatabase
import RunnelTree

/// `runnel doctor`: checks a database file, and repairs it if asked to.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check a database file, and repair what can be repaired.",
    discussion: """
      Every row is read and compared with its checksum and with what follows from it. The file is not \
      changed, and others may go on using it. Each fault is a line: where, what, and what a repair \
      does. The exit status is 0 if nothing is wrong, or all was repaired and nothing is missing.

      A repair makes counts, indexes and the feed of changes anew from the data. It deletes and \
      guesses nothing: a row that is damaged, and rows to which nothing leads any more, are put below \
      /recovered/repair-1 (or -2, and so on), each with the place where it was and what was wrong. \
      Look through them, move what is good back with `runnel move`, and remove the rest. What is lost \
      stays lost, and is told. If the database is sound, a repair removes the files beside it that \
      imports kept for `runnel undo` and that no write of the history needs any more.

      Where SQLite's own structures are damaged, nothing is repaired: --salvage makes a new database of \
      all rows that can still be read, and leaves the damaged file as it is. What belongs to no place \
      any more is below /recovered there. The history is not taken along. Indexes are made anew there: \
      so a list that was wrong by an index is right again. Such damage are also pages that stand at a \
      wrong place in the file, each sound by itself.

      The counters and copies that a resources file describes are compared with the records too, and \
      made anew by a repair: the file beside the database (chat.resources.yaml for chat.db), or the \
      one after --resources. Records whose owner is gone are told; that is no fault.

      Examples:
        runnel doctor
        runnel doctor --repair -d chat.db
        runnel doctor --salvage rescued.db -d chat.db
        runnel doctor --resources chat.resources.yaml
      """)

  @Flag(help: "Make counts, indexes and the feed anew, and recover what is damaged or unreachable.")
  var repair = false
  @Option(
    help: ArgumentHelp("The file that defines the resources.", valueName: "file"),
    completion: .file())
  var resources: String?
  @Option(
    help: ArgumentHelp(
      "Make a new database, this file, of all that can be read of a damaged one.", valueName: "file"
    ),
    completion: .file(), transform: DatabaseOptions.fileName)
  var salvage: String?
  @OptionGroup var database: DatabaseOptions

  func validate() throws {
    if let salvage, salvage.hasSuffix("/") {
      throw ValidationError("\(salvage) names a folder: name the new file.")
    }
    if repair, salvage != nil {
      throw ValidationError("--repair and --salvage exclude each other: give one.")
    }
  }

  func run() throws {
    let interruption = try Interruption()
    let file = try database.file(for: repair ? .change : .read, mayBeEmpty: salvage != nil)
    let described = resources ?? ResourceDefinitionFile.path(beside: file)
    let resources = try described.map { try ResourceDefinitionFile(file: $0).registry }
    let work = salvage != nil ? "Salvaging" : repair ? "Repairing" : "Checking"
    var line = ProgressLine("\(work) \(file)")
    var signal: Int32?
    defer { line.clear() }
    do {
      try run(on: file) { step, rows in
        line.report(rows > 0 ? "\(step), \(rows) rows" : step)
        signal = signal ?? interruption.pending()
        return signal == nil
      } ending: {
        line.clear()
      }
      if let resources, salvage == nil {
        try ResourceCare(registry: resources, repairs: repair).run(on: database)
      }
    } catch let error as DatabaseError {
      line.clear()
      if error.code == .corrupt, salvage == nil {
        throw Failure(
          "\(file) is so damaged that SQLite cannot open it, or it is no database. Nothing was changed. "
            + DoctorCommand.salvageAdvice)
      }
      guard error.code == .cancelled, let signal else { throw error }
      throw Interruption.Stopped(signal: signal)
    }
  }

  private func run(
    on file: String, progress: @escaping DatabaseCare.Progress, ending: () -> Void
  ) throws {
    if let salvage {
      let outcome = try DatabaseCare.salvage(file: file, to: salvage, progress: progress)
      ending()
      return try tell(outcome, of: file, in: salvage)
    }
    guard repair else {
      let report = try DatabaseCare.check(file: file, progress: progress)
      ending()
      return try tell(report, of: file)
    }
    let repair = try DatabaseCare.repair(file: file, progress: progress)
    ending()
    for file in repair.removedFiles {
      try StandardOutput.say("\(file): removed, no write of the history needed it.\n")
    }
    guard let after = repair.after else { return try tell(repair.before, of: file) }
    try DoctorCommand.list(repair.before)
    let count = repair.before.repairableCount
    try StandardOutput.say("Repaired \(count == 1 ? "1 fault" : "\(count) faults") of \(file).\n")
    try DoctorCommand.list(repair)
    if !after.isSound { try tell(after, of: file) }
    let rest = DoctorCommand.rest(of: repair, file)
    if !rest.isEmpty { throw Failure(rest) }
  }

  /// Prints what was recovered into a new database from a damaged one.
  private func tell(_ outcome: DatabaseSalvage, of file: String, in new: String) throws {
    try StandardOutput.say("Salvaged \(outcome.rowCount) rows into \(new).\n")
    try DoctorCommand.list(outcome.repair)
    var sentences = [DoctorCommand.rest(of: outcome.repair, new)].filter { !$0.isEmpty }
    if !outcome.hasAllPages {
      sentences.append(
        "Some pages of \(file) could not be read: what stood on them may be missing, and nothing else tells "
          + "what that was. Compare with a backup, a copy or an export.")
    }
    if !outcome.hasIndexes {
      sentences.append(
        "The list of indexes could not be read: `runnel index add` makes those that are missing.")
    }
    if outcome.hasForeignLog {
      sentences.append(
        "\(file)-wal is not the log of this file, so it was not used: what was written last may be in the "
          + "log that belongs to it.")
    }
    if let damage = outcome.logDamage {
      sentences.append(
        "\(file)-wal is damaged: \(damage) in the usual way. Its parts that are whole were read all the "
          + "same, so what was written last is here in part, beside older states: compare with a copy."
      )
    }
    if !sentences.isEmpty { throw Failure(sentences.joined(separator: " ")) }
  }

  /// Prints the places of the recovered data.
  private static func list(_ repair: DatabaseRepair) throws {
    for row in repair.recovered {
      try StandardOutput.say("\(row.path): from \(row.place), as \(row.why)\n")
    }
    let hidden = repair.recoveredCount - repair.recovered.count
    if hidden > 0 { try StandardOutput.say("and \(hidden) more there\n") }
  }

  /// The things that a person must look at after a repair.
  private static func rest(of repair: DatabaseRepair, _ file: String) -> String {
    var sentences: [String] = []
    if let folder = repair.recovered.first?.path.parent {
      let rows = repair.recoveredCount == 1 ? "1 row" : "\(repair.recoveredCount) rows"
      sentences.append("\(rows) of \(file) can be looked through at \(folder).")
    }
    return (sentences + losses(repair.before)).joined(separator: " ")
  }

  /// Returns the sentences about data that no repair brings back.
  private static func losses(_ report: DatabaseReport) -> [String] {
    var sentences: [String] = []
    if report.lostCount > 0 {
      let children = report.lostCount == 1 ? "1 child is" : "\(report.lostCount) children are"
      sentences.append(
        "\(children) missing, unless \(report.lostCount == 1 ? "it is" : "they are") among what is recovered: look for them in a backup, "
          + "a copy or an export.")
    }
    if report.doubtfulCount > 0 {
      let nodes =
        report.doubtfulCount == 1 ? "1 node does" : "\(report.doubtfulCount) nodes do"
      sentences.append(
        "\(nodes) not say any more how many children belong to it, so some may be missing: compare "
          + "with a backup, a copy or an export.")
    }
    return sentences
  }

  /// Prints a report; if the file is damaged, the command ends with a failure.
  private func tell(_ report: DatabaseReport, of file: String) throws {
    try DoctorCommand.list(report)
    for file in report.unnamedFiles {
      try StandardOutput.say(
        "\(file): no write of the history needs it; a repair removes it, so keep what you want of it.\n"
      )
    }
    if let torn = report.tornLogEnd {
      try StandardOutput.say(
        "\(file)-wal: \(torn), as after a power failure; the file is read without that write.\n")
    }
    if report.isSound {
      try StandardOutput.say(
        "\(file) is sound: format \(report.version), "
          + StoredCounts.words(rows: report.rowCount, entries: report.entryCount) + ".\n")
      if report.uncheckedCount > 0 {
        try StandardOutput.say(
          "\(report.uncheckedCount) rows have no checksum until they are next written, or "
            + "`runnel compact` is run.\n")
      }
      return
    }
    throw Failure(
      "\(file) has \(DoctorCommand.count(report)). \(DoctorCommand.advice(report, of: file))")
  }

  private static func list(_ report: DatabaseReport) throws {
    for fault in report.faults { try StandardOutput.say("\(fault)\n") }
    let hidden = report.faultCount - report.faults.count
    if hidden > 0 { try StandardOutput.say("and \(hidden) more\n") }
  }

  private static func count(_ report: DatabaseReport) -> String {
    report.faultCount == 1 ? "1 fault" : "\(report.faultCount) faults"
  }

  /// The advice if the file's own structures are damaged.
  private static let structureAdvice =
    "The structure of the file itself is damaged, so it cannot be repaired where it is. "
    + salvageAdvice
  private static let salvageAdvice =
    "`runnel doctor --salvage NEW` makes a new database of all that can still be read; a backup or a copy "
    + "may have more."

  private static func advice(_ report: DatabaseReport, of file: String) -> String {
    if !report.isComplete { return structureAdvice }
    let mended = report.repairableCount
    if mended == 0 {
      return "None can be repaired: restore it from a copy, or export what is left of it."
    }
    let losses = losses(report)
    let whole = losses.isEmpty ? "A repair mends all" : "A repair makes the file sound again"
    let which = mended == report.faultCount ? whole : "A repair mends \(mended) of them"
    var sentences = ["\(which): run `runnel doctor --repair -d \(file)`."]
    if report.recoverableCount > 0 {
      sentences.append("What is damaged, or belongs to no place, is then below /recovered.")
    }
    return (sentences + losses).joined(separator: " ")
  }
}
