import Foundation

/// A database of one test, worked on with the program.
final class TestDatabase {
  let folder: TemporaryFolder
  /// The path of the file.
  let file: String

  /// Makes a database that holds a JSON document, or only the folder for one.
  init(_ json: String? = nil) throws {
    folder = try TemporaryFolder()
    file = folder.file("test.db")
    if let json {
      let outcome = try run(["set", "/", json])
      if outcome.status != 0 { throw SystemError(call: "set", reason: outcome.errors) }
    }
  }

  /// The bytes of a database, of which many tests have copies: they are the same to the last bit.
  struct Template {
    let bytes: Data

    /// Makes the database that holds a JSON document.
    init(_ json: String) throws { try self.init(of: TestDatabase(json)) }

    /// Makes a database by a command.
    init(by arguments: [String]) throws {
      let database = try TestDatabase()
      let outcome = try database.run(arguments)
      if outcome.status != 0 { throw SystemError(call: arguments[0], reason: outcome.errors) }
      try self.init(of: database)
    }

    private init(of database: TestDatabase) throws {
      bytes = try Data(contentsOf: URL(fileURLWithPath: database.file))
    }
  }

  /// Makes a copy of a database.
  init(_ template: Template) throws {
    folder = try TemporaryFolder()
    file = folder.file("test.db")
    try template.bytes.write(to: URL(fileURLWithPath: file))
  }

  /// Runs a command on the database to its end.
  func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
    try Program.run(at(arguments), input: input)
  }

  /// Starts a command on the database.
  func start(
    _ arguments: [String], _ descriptors: RunningProgram.Descriptors = .init()
  ) throws -> RunningProgram {
    try RunningProgram(at(arguments), descriptors)
  }

  /// What `get` prints, without its line feed.
  func get(_ arguments: String...) throws -> String {
    let outcome = try run(["get"] + arguments)
    if outcome.status != 0 { throw SystemError(call: "get", reason: outcome.errors) }
    return String(outcome.output.dropLast())
  }

  /// The commands that make a database if they are told to.
  private static let makers = ["set", "push", "update", "import"]

  /// The arguments with the option that names the database, before a terminator if there is one; and with
  /// the one that makes it, if it is not there.
  private func at(_ arguments: [String]) -> [String] {
    let head = arguments.prefix { $0 != "--" }
    let makes = arguments.first.map(TestDatabase.makers.contains) ?? false
    let creation = makes && access(file, F_OK) != 0 ? ["--create"] : []
    return head + ["--database", file] + creation + arguments.dropFirst(head.count)
  }
}
