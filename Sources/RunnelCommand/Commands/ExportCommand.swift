import ArgumentParser
import Foundation
import RunnelDatabase
import RunnelTree

/// `runnel export`: writes the subtree at a place to standard output, in a format that can be
/// imported.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write everything at a place as JSON, to import again; or its children as records.",
    discussion: """
      Keeps priorities, as members named .priority. Large trees are written piece by piece.

      With --format jsonl, csv or markdown, each child is a record: its key as $key, its members after it, \
      or $value of a child that is a value. CSV and Markdown have a column for each field that any of \
      them has, no priorities, and JSON for what is no text in a field. In CSV, a ' stands before a text \
      that a spreadsheet would take for a formula. `yi` in the workspace imports JSON lines and CSV.

      With --at, everything is as it was at a time, as far as the history goes back: the writes since then \
      are taken back in a copy, which needs room in the folder for temporary files. The time is \
      2026-11-23T12:00:00Z, with another offset from UTC in place of Z, or milliseconds since 1970 as \
      `runnel history` prints them. The history keeps no values over 64 KiB: once one was replaced or removed, \
      the times before are not known any more.

      Examples:
        runnel export /messages > messages.json
        runnel export --at 2026-11-23T12:00:00Z > noon.json
        runnel export /messages --format csv > messages.csv
      """)

  @Argument(help: PlaceArgument.optionalHelpWithData, transform: PlaceArgument.place)
  var place: DataPlace = .root
  @Option(
    help: ArgumentHelp("The time whose state is wanted (default: now).", valueName: "time"),
    transform: ExportCommand.time)
  var at: Int64?
  @OptionGroup var output: FormatOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  func run() throws {
    if let remote = try database.of(place).remote(for: .read) {
      if at != nil { throw Failure("--at is for files: a server does not say.", status: .usage) }
      return try remote.print(
        Query(path), [(name: "format", value: "export")], output, keepsPriorities: true)
    }
    try database.of(place).open(for: .read) { session in
      guard let at else { return try write(session) }
      try EarlierState.with(session, at: at, of: path) { try write($0) }
    }
  }

  private func write(_ session: DatabaseSession) throws {
    if output.hasRecords {
      return try output.writeChildren(of: path, from: session, keepsPriorities: true)
    }
    try export(session)
    try StandardOutput.write("\n")
  }

  /// Reads a time: milliseconds since 1970, or ISO 8601.
  private static func time(_ text: String) throws -> Int64 {
    if let milliseconds = Int64(text) { return milliseconds }
    let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
    // Each style reads one of the two forms.
    guard let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else {
      throw ValidationError("give a time like 2026-11-23T12:00:00Z, or milliseconds since 1970.")
    }
    // The styles carry a day or an hour that does not exist over to the next one.
    let numbers = text.split { !$0.isNumber }.prefix(6).compactMap { Int($0) }
    let given =
      numbers.count < 6
      ? nil
      : DateComponents(
        calendar: Calendar(identifier: .gregorian), year: numbers[0], month: numbers[1],
        day: numbers[2], hour: numbers[3], minute: numbers[4], second: numbers[5])
    guard given?.isValidDate == true else {
      throw ValidationError("there is no such time: check the day and the hour.")
    }
    return Int64((date.timeIntervalSince1970 * 1000).rounded())
  }

  private func export(_ session: DatabaseSession) throws {
    // The session reports any error as one of the storage; the error of the output matters here.
    var outputError: (any Error)?
    do {
      try session.exportJSON(path, layout: output.layout.layout) { bytes in
        do {
          try StandardOutput.write(bytes)
        } catch {
          outputError = error
          throw error
        }
      }
    } catch {
      throw outputError ?? error
    }
  }
}
