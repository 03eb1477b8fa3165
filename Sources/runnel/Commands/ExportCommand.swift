import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel export`: writes the subtree at a place to standard output, in a form to import again.
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

      Examples:
        runnel export /messages > messages.json
        runnel export /messages --format csv > messages.csv
      """)

  @Argument(help: PlaceArgument.optionalHelp, transform: PlaceArgument.path) var path: Path = .root
  @OptionGroup var output: FormatOptions
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .read) { session in
      if output.hasRecords {
        return try output.writeChildren(of: path, from: session, keepsPriorities: true)
      }
      try export(session)
      try StandardOutput.write("\n")
    }
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
