import ArgumentParser
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

/// `runnel perform`: carries out operations on resources, with everything that follows from them.
struct PerformCommand: ParsableCommand {
  /// The operations on a record.
  enum Deed: String, ExpressibleByArgument, CaseIterable {
    case create
    case update
    case destroy
    case createOrUpdate = "create-or-update"
    case toggle

    var kind: ResourceOperation.Kind {
      switch self {
      case .create: .create
      case .update: .update
      case .destroy: .destroy
      case .createOrUpdate: .createOrUpdate()
      case .toggle: .toggle()
      }
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "perform",
    abstract: "Change a record by an operation of its resource.",
    discussion: """
      The record, its counters and copies, what is destroyed with it and the entry of the action log \
      are one write. The path of the record is printed once that is safe on disk; a `create` in a \
      collection makes a new key.

      Examples:
        runnel perform create /group_message/allotment '{"from": "zoe", "text": "hello"}'
        runnel perform update /user/zoe '{"plot": 12}'
        runnel perform toggle /message_like/allotment/KEY/zoe '{}'
        runnel perform --lines < operations.jsonl
      A line is {"operation": "update", "path": "/user/zoe", "value": {"plot": 12}}.
      """)

  @Argument(help: "The operation: \(Deed.allCases.map(\.rawValue).joined(separator: ", ")).")
  var deed: Deed?
  @Argument(help: "The record, or for `create` its collection.", transform: PlaceArgument.target)
  var path: Path?
  @Argument(help: "The record or its fields as JSON, if it needs any.")
  var value: String?
  @Flag(help: "Carry out each line of standard input, and print a path a line.")
  var lines = false
  @Option(
    help: ArgumentHelp(
      "The file that defines the resources (default: beside the database).", valueName: "file"),
    completion: .file())
  var resources: String?
  @Option(
    help: ArgumentHelp("Who does it, for the action log (default: $USER).", valueName: "name"))
  var author: String?
  @OptionGroup var database: DatabaseOptions

  func validate() throws {
    if lines != (deed == nil) || lines != (path == nil) {
      throw ValidationError("name an operation and a path, or read them with --lines.")
    }
    if let value { _ = try CommandLineJSON.value(value) }
  }

  func run() throws {
    let registry = try registry()
    try database.open(for: .change, author: author) { session in
      let performer = Performer(session: session, registry: registry)
      if let deed, let path {
        let json = try value.map(CommandLineJSON.value) ?? .null
        return try print(performer.perform(deed.kind, path, json))
      }
      var lines = StandardInputLines()
      while let line = try lines.next() {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
        let path: Path
        do {
          path = try performer.perform(line: JSONValue(parsing: line))
        } catch {
          throw Failure(
            "Line \(lines.count) was not done: \(error) Those before it were; nothing after it was "
              + "read.")
        }
        try print(path)
      }
    }
  }

  private func registry() throws -> ResourceRegistry {
    let file = try database.file(for: .change)
    guard let named = resources ?? ResourceDefinitionFile.path(beside: file) else {
      throw Failure(
        "No resources file was found beside \(file): name one with --resources.", status: .usage)
    }
    do {
      return try ResourceDefinitionFile(file: named).registry
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .usage)
    }
  }

  private func print(_ path: Path) throws {
    try StandardOutput.write(JSONValue.string(path.description).jsonText() + "\n")
  }
}

/// Carries out operations, which name the place of their record.
private struct Performer {
  let session: DatabaseSession
  let registry: ResourceRegistry

  /// Carries out an operation; returns the path of the record.
  func perform(_ kind: ResourceOperation.Kind, _ path: Path, _ value: JSONValue) throws -> Path {
    let operation: ResourceOperation
    switch registry.place(of: path) {
    case .record(let identity, let field) where field.isRoot:
      try checkToggle(kind, identity)
      operation = registry.operation(kind, on: identity, value: value)
    case .above where kind == .create:
      guard let (definition, names) = registry.resource(ofChildrenOf: path) else {
        throw Performer.noRecord(at: path)
      }
      operation = registry.creation(of: definition, names: names, value: value)
    case .record, .above, .copy, .log, .free: throw Performer.noRecord(at: path)
    }
    do {
      return try session.perform(operation, in: registry).plan.path
    } catch let error as ResourceError {
      throw Failure(error.message)
    }
  }

  /// Throws if a record is to be toggled whose resource makes the keys: it is nobody's own record,
  /// as a like is, and would be destroyed by mistake.
  private func checkToggle(_ kind: ResourceOperation.Kind, _ identity: ResourceIdentity) throws {
    guard case .toggle = kind, try registry.definition(identity.resource).primary.keyName == nil
    else {
      return
    }
    throw Failure(
      "`\(identity.resource)` makes its own keys, so its records are not toggled: `create` adds one, "
        + "`destroy` removes one.", status: .usage)
  }

  private static func noRecord(at path: Path) -> Failure {
    Failure("No resource has a record at \(path).")
  }

  /// Carries out the operation in a line.
  func perform(line: JSONValue) throws -> Path {
    guard case .string(let name)? = line["operation"],
      let deed = PerformCommand.Deed(rawValue: name), case .string(let path)? = line["path"]
    else {
      throw Failure(
        "it has no `operation` (\(PerformCommand.Deed.allCases.map(\.rawValue).joined(separator: ", ")))"
          + " or no `path`.")
    }
    return try perform(deed.kind, Path(path), line["value"] ?? .null)
  }
}

extension Failure: CustomStringConvertible {
  /// The message: what happened, and what to do.
  var description: String { message }
}
