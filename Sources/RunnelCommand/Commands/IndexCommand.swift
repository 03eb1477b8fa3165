import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelTree

/// `runnel index`: the declared indexes of a database.
struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "List, add or remove the indexes of a database.",
    discussion: """
      An index keeps the children of a place in one more order, so that a query in this order, or in \
      its opposite, reads no more than it shows. Without one every child is read. Views declare the \
      indexes of their orders by themselves.

      A piece of the place that begins with $ stands for any key.

      Examples:
        runnel index add /messages created:desc
        runnel index add '/group_message/$group' pinned,created
        runnel index list
        runnel index remove /messages created:desc
      """,
    subcommands: [
      ListIndexesCommand.self, AddIndexCommand.self, RemoveIndexCommand.self,
    ])
}

/// The index that a command acts on.
struct IndexOptions: ParsableArguments {
  @Argument(help: "The place whose children are kept; $any stands for every key.")
  var path: String
  @Argument(
    help: ArgumentHelp(
      "The order, as for --order-by: a child, with ':desc' after it if it descends.",
      valueName: "order"),
    transform: OrderList.init)
  var order: OrderList

  /// The definition that the arguments describe.
  ///
  /// - Throws: `ValidationError` if the arguments describe no index.
  func definition() throws -> IndexDefinition {
    do throws(TreeError) {
      return try IndexDefinition(checkedPattern: path, serving: QueryIndex(order.keys))
    } catch {
      throw ValidationError(error.message)
    }
  }
}

/// `runnel index list`: prints the declared indexes.
struct ListIndexesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print the indexes, a JSON object a line.")

  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .read) { session in
      for definition in session.declaredIndexes {
        let line = JSONValue.object([
          JSONMember("path", .string(definition.pattern)),
          JSONMember("order", .string(definition.order.description)),
        ])
        try StandardOutput.write(line.jsonText() + "\n")
      }
    }
  }
}

/// `runnel index add`: declares an index.
struct AddIndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Declare an index, and enter what is stored.",
    discussion: "An index that is declared already is left as it is.")

  @OptionGroup var index: IndexOptions
  @OptionGroup var database: DatabaseOptions

  func validate() throws { _ = try index.definition() }

  func run() throws {
    let definition = try index.definition()
    let interruption = try Interruption()
    var signal: Int32?
    do {
      try database.open(for: .change) { session in
        try session.declareIndexes([definition]) { _ in
          signal = signal ?? interruption.pending()
          return signal == nil
        }
      }
    } catch let error as DatabaseError where error.code == .cancelled {
      guard let signal else { throw error }
      throw Failure(error.message, status: .interrupted(by: signal))
    }
  }
}

/// `runnel index remove`: removes an index.
struct RemoveIndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove an index; the children stay.")

  @OptionGroup var index: IndexOptions
  @OptionGroup var database: DatabaseOptions

  func validate() throws { _ = try index.definition() }

  func run() throws {
    let definition = try index.definition()
    try database.open(for: .change) { session in
      guard try session.removeIndexes([definition]).isEmpty else { return }
      throw Failure(
        "There is no index \(definition.pattern) \(definition.order). "
          + "`runnel index list` shows those that there are.")
    }
  }
}
