import ArgumentParser
import RunnelPostgres
import RunnelServer

/// `runnel store drop`: removes a namespace.
struct DropNamespaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Remove a namespace from a store, with all that is in it.",
    discussion: """
      Of a namespace that was moved to another store, the rows that are left here are removed. Any other is \
      removed with --force only, and its data are lost: servers stop serving it within a second. The \
      name is free afterwards.

      Example:
        runnel store drop chat --store main
      """)

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @Flag(help: "Remove it even if it was not moved to another store.")
  var force = false
  @OptionGroup var option: StoreOption

  func run() throws {
    let store = try option.opened()
    defer { store.close() }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, and is not removed.", status: .usage)
    }
    if found.state != .moved {
      try Consent(isGiven: force).require(
        "Remove \(namespace) with all its data? It cannot be brought back.",
        because: "\(namespace) was not moved to another store, and its data would be lost.")
    }
    let notice = WaitNotice(option.store)
    defer { notice.end() }
    try store.dropNamespace(found)
    try StandardOutput.say("\(namespace) was removed from \(store.connection.name).\n")
  }
}
