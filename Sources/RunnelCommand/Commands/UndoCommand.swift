import ArgumentParser
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

/// `runnel undo`: undoes a write.
struct UndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Put back what stood before a write.",
    discussion: """
      Takes the number that `runnel history` prints; without one, the newest write is undone that is \
      not undone yet, so that each call goes one write further back. It is refused if another value \
      stands at one of its places, or if it was undone already. Where one write did the same with many \
      records, such as setting a field of all of them, --partial takes it back at the others; what was \
      written since stays, and is named. An undoing is a write too: undo it by its number to do again what it \
      undid. An import is undone as a whole; where what stood there was kept in a file beside the \
      database, that file is needed, and removed when it is in the tree again. What `runnel perform` or \
      the workspace did with a record is undone as an operation on it: its counters and copies stay \
      right, whatever was done since.

      Example:
        runnel undo 42
        runnel undo 42 --partial
      """)

  @Argument(help: "The number of the write.", transform: UndoCommand.number) var write: Int64?
  @Flag(help: "Leave the records that were written since, and take the write back at the others.")
  var partial = false
  @Option(
    help: ArgumentHelp(
      "The file that defines the resources (default: beside the database).", valueName: "file"),
    completion: .file())
  var resources: String?
  @OptionGroup var database: DatabaseOptions

  /// Reads the number of a write; a place is none.
  private static func number(_ text: String) throws -> Int64 {
    if let number = Int64(text) { return number }
    let shown = ShellText.quoted(ControlCharacters.escapedLine(text))
    throw ValidationError(
      text.hasPrefix("/")
        ? "it takes the number of a write, not a place: `runnel history \(shown)` lists the writes there "
          + "with their numbers."
        : "it takes the number of a write: `runnel history` lists the writes with their numbers.")
  }

  func run() throws {
    let interruption = try Interruption()
    do {
      try database.open(for: .change) { session in
        guard let id = try write ?? session.newestUndoable()?.id else {
          throw try UndoCommand.nothing(in: session)
        }
        try undo(id, in: session, interruption)
      }
    } catch let stopped as Interruption.Stopped {
      throw Failure("Nothing was undone.", status: .interrupted(by: stopped.signal))
    }
  }

  /// Returns the failure for a history without a write to undo, with the newest undoing, which can be undone
  /// by its number.
  private static func nothing(in session: DatabaseSession) throws -> Failure {
    let words = "There is nothing to undo: no write is remembered that is not undone."
    guard let last = try session.history(count: 1).first, last.undoes != nil else {
      return Failure(words)
    }
    return Failure("\(words) `runnel undo \(last.id)` takes the last undoing back.")
  }

  private func undo(
    _ id: Int64, in session: DatabaseSession, _ interruption: Interruption
  ) throws {
    let next = id == .max ? id : id + 1
    let entry = try session.historyPage(before: next, count: 1).entries.first { $0.id == id }
    var work = ImportWork("Undoing write \(id)", interruption)
    defer { work.end() }
    var left: PartialUndo?
    let place = entry.flatMap(UndoCommand.placeOfRecords)
    let count = try place.map { try UndoCommand.recordCount(at: $0, in: session) }
    do {
      let registry = entry?.operation == nil ? nil : try registry(for: id)
      if partial {
        left = try session.undoWhatStands(id, in: registry) { work.isWanted(at: $0) }.partial
      } else {
        _ = try session.undo(id, in: registry) { work.isWanted(at: $0) }
      }
    } catch let error as ResourceError {
      throw Failure("Write \(id) was not undone. \(error.message)")
    } catch {
      throw try advised(work.told(error), id, in: session)
    }
    work.end()
    StandardError.say(
      left.map { UndoCommand.words(undone: id, $0) } ?? UndoCommand.words(undone: entry))
    if left == nil, let place, let count {
      let now = try UndoCommand.recordCount(at: place, in: session)
      StandardError.say(
        "\(now == 1 ? "1 record stands" : "\(now) records stand") there now, \(count) before.")
    }
    for part in try session.history(count: 1).first?.parts ?? [] {
      guard case .file(let suffix, let bytes, _)? = part.before else { continue }
      StandardError.say(ImportWork.words(forFile: session.file + suffix, bytes: bytes))
    }
  }

  /// The place of a write that put many records there at once, as an import does; nil for any other write.
  private static func placeOfRecords(_ entry: HistoryEntry) -> Path? {
    guard let part = entry.parts.first, entry.parts.count == 1, !part.isPriority else { return nil }
    if part.before != nil { return part.path }
    let members = [part.values?.old, part.values?.new].flatMap { $0?.object ?? [] }
    return !members.isEmpty && members.allSatisfy { $0.value.object != nil } ? part.path : nil
  }

  /// The number of children of a place; of the root, of all collections together.
  private static func recordCount(at path: Path, in session: DatabaseSession) throws -> Int {
    var query = try Query(path.parent ?? path).ordered(by: .key)
    if let key = path.lastKey { query = try query.equal(to: .leaf(.string(key.text))) }
    return try session.rows(query, detail: .shallow).reduce(0) { count, row in
      if case .children(let below) = row.summary.kind { count + below } else { count }
    }
  }

  /// The resources by which a write was made.
  private func registry(for id: Int64) throws -> ResourceRegistry {
    let file = try database.file(for: .change)
    guard let named = resources ?? ResourceDefinitionFile.path(beside: file) else {
      throw Failure(
        "Write \(id) was an operation on a record, so it is undone as one, and no resources file was "
          + "found beside \(file): name one with --resources.", status: .usage)
    }
    do {
      return try ResourceDefinitionFile(file: named).registry
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .usage)
    }
  }

  /// Returns the error with what can be undone: a part of the write, or the write before if the newest
  /// one cannot be undone.
  private func advised(
    _ error: any Error, _ id: Int64, in session: DatabaseSession
  ) throws -> any Error {
    guard let refusal = error as? DatabaseError else { return error }
    if refusal.code == .changed, let part = try session.partialUndo(of: id) {
      return Failure(
        "\(refusal.message) \(UndoCommand.words(left: part)) `runnel undo \(id) --partial` takes it back "
          + "at the other \(part.doneCount == 1 ? "place" : "\(part.doneCount) places").")
    }
    if partial, refusal.code == .changed, !refusal.places.isEmpty,
      let entry = try session.historyPage(before: id == .max ? id : id + 1, count: 1).entries.first,
      entry.id == id
    {
      let reason = entry.reasonNotDivided ?? "Others have written at all its places since."
      return Failure("\(refusal.message) --partial takes no part of it back. \(reason)")
    }
    guard write == nil, refusal.code == .refused, let before = try undoable(before: id, in: session)
    else { return error }
    return Failure(
      "\(refusal.message) `runnel undo \(before)` undoes the newest write before it at other places."
    )
  }

  /// The newest write before another one that can be undone without it: it is not undone yet, keeps its
  /// values, and the other one wrote nothing at its places.
  private func undoable(before id: Int64, in session: DatabaseSession) throws -> Int64? {
    let entries = try session.history(count: History.entryCountDefault)
    let undone = Set(entries.compactMap(\.undoes))
    let written = entries.first { $0.id == id }?.parts ?? []
    return entries.first { entry in
      entry.id < id && entry.undoes == nil && !undone.contains(entry.id) && entry.isUndoable
        && !written.contains { entry.concerns($0.path) }
    }?.id
  }

  /// The message about a write that was undone in part.
  private static func words(undone id: Int64, _ part: PartialUndo) -> String {
    "Undone in part: write \(id), at \(part.doneCount) of \(part.count) places. \(words(left: part))"
  }

  /// A sentence that names what stays as others have written it since.
  private static func words(left part: PartialUndo) -> String {
    let places = part.left.prefix(namedMax).map(\.path.description)
    let rest = part.left.count - places.count
    let more = rest <= 0 ? "" : rest == 1 ? " and 1 more place" : " and \(rest) more places"
    return "Written since: \(places.joined(separator: ", "))\(more)."
  }

  /// The number of places that the message names.
  private static let namedMax = 3

  /// The message that names the write and its places.
  private static func words(undone entry: HistoryEntry?) -> String {
    guard let entry else { return "Undone." }
    let places = entry.parts.map(\.path.description)
    let rest = places.count - namedMax
    let more = rest <= 0 ? "" : rest == 1 ? " and 1 more place" : " and \(rest) more places"
    let author = entry.author.isEmpty ? "" : " by \(entry.author)"
    return "Undone: write \(entry.id)\(author), which changed "
      + places.prefix(namedMax).joined(separator: ", ") + more + "."
  }
}
