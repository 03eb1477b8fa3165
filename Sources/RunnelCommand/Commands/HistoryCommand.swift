import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelTree

/// `runnel history`: prints the writes that concern a place.
struct HistoryCommand: ParsableCommand {
  /// The greatest number of writes that a history can keep.
  private static let keptMax = 1_000_000_000

  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Print who wrote what, the newest first.",
    discussion: """
      Prints one JSON object a write: its number, the time in milliseconds since 1970, who wrote, and \
      for each place what stood there before and since. Values of more than 64 KiB are not kept, \
      but for what an import replaced: that is in the file that "file" names.

      A database keeps the newest 1000 writes; --keep sets another number, and 0 ends the history. If \
      writes would be forgotten by that, you are asked at a terminal, and --force is needed without \
      one. Numbers ascend, and may skip some.

      Examples:
        runnel history /users/ana
        runnel history --limit 5
        runnel history --keep 10000
      """)

  @Argument(help: PlaceArgument.optionalHelp, transform: PlaceArgument.path) var path: Path = .root
  @Option(name: [.short, .long], help: "How many writes to print at most.") var limit = 20
  @Option(
    help: ArgumentHelp(
      "Keep so many writes from now on, and print nothing.", valueName: "count"))
  var keep: Int?
  @Flag(name: [.short, .long], help: "Forget writes without asking.") var force = false
  @OptionGroup var database: DatabaseOptions

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit is a positive number.") }
    if let keep, !(0...HistoryCommand.keptMax).contains(keep) {
      throw ValidationError("--keep is a number from 0 to \(HistoryCommand.keptMax).")
    }
  }

  func run() throws {
    if let keep { return try database.open(for: .change) { try set(keep, $0) } }
    try database.open(for: .read) { session in
      for entry in try session.history(of: path, count: limit) {
        try StandardOutput.write(HistoryCommand.json(entry, session.file).jsonText() + "\n")
      }
    }
  }

  private func set(_ keep: Int, _ session: DatabaseSession) throws {
    if try session.historyPage(count: keep).hasOlder {
      let rest = keep == 0 ? "all writes" : "all writes but the newest \(keep)"
      try Consent(isGiven: force).require(
        "Forget \(rest)? They could not be undone any more.",
        because: "This would forget \(rest).")
    }
    try session.setHistoryLimit(keep)
  }

  private static func json(_ entry: HistoryEntry, _ file: String) -> JSONValue {
    var members = [
      JSONMember("write", .number(JSONNumber(entry.id))),
      JSONMember("at", .number(JSONNumber(entry.at))),
      JSONMember("by", .string(entry.author)),
    ]
    if let undoes = entry.undoes {
      members.append(JSONMember("undoes", .number(JSONNumber(undoes))))
    }
    members.append(JSONMember("changes", .array(entry.parts.map { json($0, file) })))
    return .object(members)
  }

  private static func json(_ part: HistoryEntry.Part, _ file: String) -> JSONValue {
    var members = [JSONMember("path", .string(part.name))]
    if let values = part.values {
      members += [JSONMember("old", values.old), JSONMember("new", values.new)]
    } else if part.isPartlyKnown {
      members.append(JSONMember("partlyKnown", .bool(true)))
    } else {
      members.append(JSONMember("tooLarge", .bool(true)))
      switch part.before {
      case .value(let old): members.append(JSONMember("old", old))
      case .file(let suffix, _, _): members.append(JSONMember("file", .string(file + suffix)))
      case nil: break
      }
    }
    return .object(members)
  }
}
