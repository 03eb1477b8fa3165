import ArgumentParser
import Glibc
import RunnelDatabase
import RunnelPostgres
import RunnelServer

/// The database whose secrets or service accounts a command changes or lists: a file, or a namespace of a
/// store.
struct AccessArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The database file (default: that of the commands).", valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var file: String?
  @Option(
    help: ArgumentHelp("The store, in the place of a file.", valueName: "name"))
  var store: String?
  @Option(
    help: ArgumentHelp(
      "The namespace of the store (default: its accounts, with all namespaces).",
      valueName: "name"))
  var namespace: String?

  func validate() throws {
    if namespace != nil, store == nil {
      throw ValidationError("--namespace is for a store: give --store and its name.")
    }
    if file != nil, store != nil {
      throw ValidationError("give a database file, or --store and a name, not both.")
    }
  }

  /// What an administrator of the place may do everything with, if its name does not say so; nil if it does.
  var holds: String? {
    namespace == nil ? store.map { "all namespaces of the store \($0), and for its accounts" } : nil
  }

  /// The words by which another command means the same place, each with a blank before it.
  var words: String {
    let options = [store.map { ["--store", $0] }, namespace.map { ["--namespace", $0] }]
    let words = options.compactMap(\.self).joined() + [file].compactMap(\.self)
    return words.map { " " + ShellText.quoted($0) }.joined()
  }

  /// Changes what `body` is given, and stores it unless `body` throws.
  ///
  /// `body` is also given the file of the database, or the name of the namespace.
  ///
  /// - Throws: `Failure` or `PostgresError` if it cannot be read or written, and the errors of `body`.
  func change<Table: AdministratorTable, Result>(
    _ body: (inout Table, _ database: String) throws -> Result
  ) throws -> Result {
    try telling {
      if let store { return try change(inStore: store, body) }
      let database = try databaseFile()
      let path = Table.file(beside: database)
      var table = try Table(file: path)
      let result = try body(&table, database)
      try table.write(to: path)
      return result
    }
  }

  /// Reads what is there.
  ///
  /// - Throws: `Failure` or `PostgresError` if it cannot be read.
  func read<Table: AdministratorTable>() throws -> Table {
    try telling {
      guard let store else { return try Table(file: Table.file(beside: databaseFile())) }
      let opened = try PostgresStore(StoreOption.place(named: store))
      defer { opened.close() }
      let found = try found(in: opened)
      return try table(opened.keptValue(Table.keptName, of: found), found.name)
    }
  }

  private func databaseFile() throws -> String {
    let file = try DatabaseOptions(database: file, .none).file(
      for: .read,
      maker:
        "`runnel serve --accounts` and `runnel accounts add` make a file of accounts, `runnel import FILE "
        + "--create` a database of data.")
    var status = stat()
    if stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw Failure("\(file) is a folder: name one of the databases in it.", status: .usage)
    }
    return file
  }

  private func telling<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ServerError {
      throw Failure(error.message, status: error.isUsage ? .usage : .failure)
    }
  }

  private func found(in store: PostgresStore) throws -> PostgresStore.Namespace {
    if namespace == nil {
      try store.checkVersion()
      try store.makeNamespace(named: AccountAdministration.namespace)
    }
    let found = try RulesOfStoreCommand.namespace(
      named: namespace ?? AccountAdministration.namespace, of: store)
    if found.state == .moved {
      throw Failure(
        "\(found.name) was moved to \(try store.newPlace(of: found).words): its secrets and service accounts are "
          + "there.")
    }
    return found
  }

  private func table<Table: AdministratorTable>(_ text: String?, _ place: String) throws -> Table {
    try text.map { try Table(parsing: Array($0.utf8), from: place) } ?? Table()
  }

  private func change<Table: AdministratorTable, Result>(
    inStore store: String, _ body: (inout Table, _ database: String) throws -> Result
  ) throws -> Result {
    let opened = try PostgresStore(StoreOption.place(named: store))
    defer { opened.close() }
    let found = try found(in: opened)
    var result: Result?
    let now = DatabaseEnvironment.system.now()
    try opened.changeKept(Table.keptName, of: found, now: now) { text in
      var table: Table = try table(text, found.name)
      result = try body(&table, found.name)
      return String(decoding: table.bytes, as: UTF8.self)
    }
    guard let result else { preconditionFailure("The change was made.") }
    return result
  }
}
