import ArgumentParser
import RunnelDatabase
import RunnelPostgres
import RunnelServer
import RunnelSync

/// `runnel store rules`: the security rules of a namespace.
struct RulesOfStoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Print or replace the security rules of a namespace.",
    discussion: """
      The rules of a namespace are stored with it. All servers change over to new ones at the same place \
      of the order of writes.

      Examples:
        runnel store rules get chat > chat.rules.json
        runnel store rules put chat chat.rules.json
      """,
    subcommands: [GetStoreRulesCommand.self, PutStoreRulesCommand.self])

  /// The namespace with a name.
  ///
  /// - Throws: `Failure` if there is none.
  static func namespace(
    named name: String, of store: PostgresStore
  ) throws -> PostgresStore.Namespace {
    try store.checkVersion()
    if let found = try store.namespace(named: name) { return found }
    throw Failure(
      "\(store.connection.name) has no namespace \(name): `runnel store status` lists all.")
  }
}

/// `runnel store rules get`: prints the rules.
struct GetStoreRulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the rules of a namespace.")

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @OptionGroup var option: StoreOption

  func run() throws {
    let store = try option.opened()
    defer { store.close() }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    if found.state == .moved {
      throw Failure(
        "\(namespace) was moved to \(try store.newPlace(of: found).words): its rules are there.")
    }
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, and no protocol serves it: it has no rules.",
        status: .usage)
    }
    guard let text = try store.rulesText(of: found) else {
      throw Failure(
        "\(namespace) has no rules, so everyone on a server's machine may use all of it: "
          + "`runnel store rules put \(namespace) FILE` stores some.")
    }
    try StandardOutput.write(text)
  }
}

/// `runnel store rules put`: replaces the rules.
struct PutStoreRulesCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "put", abstract: "Replace the rules of a namespace, after checking them.")

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @Argument(
    help: ArgumentHelp("The file of the rules; - for standard input.", valueName: "file"),
    completion: .file())
  var file: FileName
  @OptionGroup var option: StoreOption

  var fileNames: [FileName] { [file] }

  func run() throws {
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, and no protocol serves it: it has no rules.",
        status: .usage)
    }
    let rules = try LoadedRules(file).engine
    let store = try option.opened()
    defer { store.close() }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    let notice = WaitNotice(option.store)
    defer { notice.end() }
    do {
      try store.writeRules(
        String(decoding: rules.source, as: UTF8.self), of: found,
        now: DatabaseEnvironment.system.now())
    } catch let error as PostgresError where [.disconnected, .inDoubt].contains(error.kind) {
      throw Failure(
        "\(error.sentence) Whether the rules were replaced is not known: `runnel store rules get \(namespace)` prints "
          + "those that hold.", status: .retryable)
    } catch let error as PostgresError where error.isWorthRetrying {
      throw Failure(
        "\(error.sentence) The rules of \(namespace) were not replaced: try again.",
        status: .retryable)
    }
    try StandardOutput.say("The rules of \(namespace) were replaced.\n")
  }
}
