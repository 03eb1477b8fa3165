import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel export`: writes the subtree at a place to standard output, in a form to import again.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write everything at a place as JSON, to import again.",
    discussion: """
      Keeps priorities, as members named .priority. Large trees are written piece by piece.

      Example:
        runnel export /messages > messages.json
      """)

  @Argument(help: Place.optionalHelp, transform: Place.path) var path: Path = .root
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .read) { session in
      try export(session)
      try StandardOutput.write("\n")
    }
  }

  private func export(_ session: DatabaseSession) throws {
    // The session takes any error for one of the storage; what the output said counts.
    var outputError: (any Error)?
    do {
      try session.exportJSON(path, layout: layout.layout) { bytes in
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
