import ArgumentParser
import RunnelPostgres
import RunnelServer

/// `runnel store drop`: removes a namespace.
struct DropNamespaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Remove a namespace from a store, with all that is in it.",
    discussion: """
      Of a namespace that was moved to another store, the rows that are left here are removed, if it is open \
      there. Any other is removed with --force only, and its data are lost: servers stop serving it within a \
      second. The name is free afterwards. With --force the other store is not asked.

      Example:
        runnel store drop chat --store main
      """)

  private static let movesMax = 8

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
    if !force, let doubt = try doubt(found, of: store) {
      let move = "runnel store move \(namespace) --store \(option.store) --give-up --force"
      let hint = found.state == .moved ? " `\(move)` opens it again here." : ""
      try Consent(isGiven: false).require(
        "\(doubt) Remove \(namespace) with all its data? It cannot be brought back.",
        because: "\(doubt)\(hint) Its data would be lost.")
    }
    let notice = WaitNotice(option.store)
    defer { notice.end() }
    try store.dropNamespace(found)
    try StandardOutput.say("\(namespace) was removed from \(store.connection.name).\n")
  }
  /// Why what is here may be the only copy of a namespace; nil if it is open in another store.
  private func doubt(
    _ found: PostgresStore.Namespace, of store: PostgresStore
  ) throws -> String? {
    guard found.state == .moved else { return "\(namespace) was not moved to another store." }
    let place = try store.newPlace(of: found)
    let start = "\(namespace) was moved to \(place.words), but"
    guard PostgresPlace.isName(place.store) else {
      return "\(start) that store has no name here, and cannot be asked."
    }
    var name = place.store
    do {
      for _ in 0...DropNamespaceCommand.movesMax {
        let other = try PostgresStore(try StoreOption.place(named: name))
        defer { other.close() }
        try other.checkVersion()
        if try StoreMove.areSame(store, other) { return "\(start) that is this store." }
        guard let there = try other.namespace(named: namespace) else {
          // What was dropped there was moved on before.
          guard let next = try other.formerPlace(of: namespace) else {
            return "\(start) is not there."
          }
          name = next.store
          continue
        }
        if there.state != .moved {
          return try store.hasArrived(found, as: there, in: other)
            ? nil : "\(start) what is there is another one, or not open yet."
        }
        name = try other.newPlace(of: there).store
      }
    } catch let error as PostgresError {
      return "\(start) the store cannot be asked: \(error)"
    } catch is Failure {
      // What is no name of a store says nothing.
    }
    return "\(start) is not found there."
  }
}
