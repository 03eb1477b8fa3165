import ArgumentParser
import RunnelPostgres
import RunnelServer
import RunnelTree

/// `runnel store export`: writes a namespace, or a place of it, to standard output.
struct ExportFromStoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write everything at a place of a namespace as JSON, to import again.",
    discussion: """
      All of it is from one state, also while servers serve the namespace; the number of the newest change \
      in it is told. Priorities are kept, as members named .priority. The database keeps old versions of \
      rows until the end, so export what is large at a quiet time. The accounts of the store are no \
      namespace of this kind: `runnel accounts export` writes them.

      Examples:
        runnel store export chat > chat.json
        runnel store export chat /users --store main > users.json
      """)

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @Argument(help: PlaceArgument.optionalHelp, transform: PlaceArgument.path)
  var place: Path = .root
  @OptionGroup var output: LayoutOptions
  @OptionGroup var option: StoreOption

  func run() throws {
    let store = try option.opened()
    defer { store.close() }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, with the keys that sign tokens, and is not exported: "
          + "`runnel accounts export --store \(option.store) --to FILE` writes the accounts, and a backup of "
          + "PostgreSQL has all.", status: .usage)
    }
    let head = try store.exportJSON(place, of: found, layout: output.layout) { bytes in
      try StandardOutput.write(bytes)
    }
    try StandardOutput.write("\n")
    StandardError.say("Exported \(place) of \(namespace), as of change \(head).")
  }
}
