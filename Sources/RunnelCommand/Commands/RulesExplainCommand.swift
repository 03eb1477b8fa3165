import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// `runnel rules explain`: explains why rules allow or deny an operation.
struct ExplainRulesCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say whether rules allow an operation on a database, and why.",
    discussion: """
      Prints the verdict, and each rule that was asked with its place, how it came out, and the values \
      that it read. Nothing is written. The status is 0 if the operation is allowed and 1 if not. For a \
      read whose order has no index, in the rules or in the file, the line that the rules lack is printed \
      too: such a read is refused over HTTP, also to administrators, and a listen is sent, and decided \
      as, everything at its place.

      Examples:
        runnel rules explain read /users/ana --as uid:bo -d chat.db
        runnel rules explain write /users/ana/name '"Ana"' --as uid:ana --rules rules.json
        runnel rules explain update /users/ana '{"name": "Ana", "age": 30}' --as uid:ana
        runnel rules explain read /messages --limit-to-last 20 --as '{"uid": "bo", "token": {}}'
      """)

  /// The operation to explain.
  enum Operation: String, ExpressibleByArgument, CaseIterable {
    case read
    case write
    case update
    case remove
  }

  @Argument(help: "What is wanted: read, write, update or remove.")
  var operation: Operation
  @Argument(help: PlaceArgument.requiredHelp, transform: PlaceArgument.path) var path: Path
  @OptionGroup var value: DataArgument
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The caller: uid:NAME, or the value of auth in JSON (default: unauthenticated).",
      valueName: "identity"),
    transform: ExplainRulesCommand.identity)
  var identity: JSONValue = .null
  @Option(
    help: ArgumentHelp(
      "The rules file (default: NAME.rules.json beside the database NAME.db).", valueName: "file"),
    completion: .file())
  var rules: FileName?
  @OptionGroup var query: QueryOptions
  @Flag(help: "Print the explanation as JSON.")
  var json = false
  @OptionGroup var place: DatabaseFileOptions

  private var database: DatabaseOptions { place.options }
  var fileNames: [FileName] { rules.map { [$0] } ?? [] }

  func validate() throws {
    _ = try query.query(at: path)
    if operation == .read || operation == .remove, value.data != nil {
      throw ValidationError("\(operation.rawValue) takes no value: remove it.")
    }
  }

  func run() throws {
    // Only a denial has the status of a failure; other errors have the status of usage.
    let file = try usage { try database.file(for: .read) }
    let rules = try LoadedRules(rules ?? ExplainRulesCommand.rulesFile(beside: file))
    let write = try write()
    let read = write == nil ? try query.query(at: path) : nil
    let (explanation, lack) = try usage {
      try database.open(for: .read) { session in
        let hasIndex = read.map { session.hasIndex($0, or: rules.engine) } ?? true
        return try session.read { reader in
          let explanation = try explain(write, rules.engine, reader)
          let lack = try hasIndex ? nil : read.map { try indexLack(of: $0, rules, reader) }
          return (explanation, lack)
        }
      }
    }
    let isAllowed = explanation.verdict.isAllowed && lack?.listen.verdict.isAllowed != false
    if json {
      var told = explanation.json
      if let lack { lack.tell(in: &told, isAllowed: explanation.verdict.isAllowed) }
      try StandardOutput.write(told.jsonText() + "\n")
    } else {
      let text = explanation.text(file: rules.name)
      try StandardOutput.say(
        (lack?.text(after: text, isAllowed: explanation.verdict.isAllowed) ?? text) + "\n")
    }
    if !isAllowed { throw ExitCode(ExitStatus.failure.rawValue) }
  }

  private func indexLack(
    of query: Query, _ rules: LoadedRules, _ reader: some TreeReader
  ) throws -> IndexLack {
    let listen = try rules.engine.explain(
      .read(query.path), as: identity, now: DatabaseEnvironment.system.now(),
      before: TreeRulesReader(reader))
    return IndexLack(query: query, file: rules.name, listen: listen)
  }

  private func explain(
    _ write: Write?, _ engine: RulesEngine, _ reader: some TreeReader
  ) throws -> RulesExplanation {
    let now = DatabaseEnvironment.system.now()
    let asked: RulesOperation
    if let write {
      asked = .write(try write.assignments(now: now, reader: reader))
    } else {
      asked = .read(try query.query(at: path))
    }
    return try engine.explain(asked, as: identity, now: now, before: TreeRulesReader(reader))
  }

  /// The write to explain, or nil for a read.
  private func write() throws -> Write? {
    switch operation {
    case .read: return nil
    case .remove: return .remove(path)
    case .write: return .set(path, try value.json())
    case .update:
      guard case .object(let members) = try value.json() else {
        throw Failure("An update is an object of children with their values.", status: .usage)
      }
      return .update(path, members)
    }
  }

  /// Returns the result of `body`; an error that prevents an answer gets the status of usage, as it
  /// is no denial.
  private func usage<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as Failure where failure.status == .failure {
      throw Failure(failure.message, status: .usage)
    } catch let error as DatabaseError where error.code != .locked {
      throw Failure(error.message, status: .usage)
    } catch let error as TreeError {
      throw Failure("\(error)", status: .usage)
    }
  }

  /// The rules file of a database: `chat.rules.json` beside `chat.db`.
  private static func rulesFile(beside database: String) -> FileName {
    let name = database.hasSuffix(".db") ? String(database.dropLast(3)) : database
    return FileName(bytes: Array((name + ".rules.json").utf8))
  }

  private static func identity(_ text: String) throws -> JSONValue {
    if let auth = RulesIdentity.auth(named: text) { return auth }
    throw ValidationError(
      "it is uid:NAME, or a JSON object such as '{\"uid\": \"bo\", \"token\": {\"admin\": true}}'.")
  }
}
