import ArgumentParser
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// `runnel diff`: prints the differences of two trees.
struct DiffCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Say in what two places differ, of one database or two.",
    discussion: """
      Prints a line of JSON for each difference, in the order of paths, and nothing if there is \
      none. "change" is "added", "removed", "changed" or, if only that differs, "priority"; "path" \
      is given from the two places. Values carry their priorities, as in `runnel export`. The exit status \
      is that of diff(1): 0 if there is no difference, 1 if there is one, 2 if they could not be compared; or 3 \
      if that may succeed later.

      A place without the name of a database is in the database of --database, or else in that of the other \
      place. Data of a server are downloaded for the comparison.

      Examples:
        runnel diff /users /backup/users
        runnel diff /users --with yesterday.db
        runnel diff / --with backup.json
        runnel diff prod:/users chat.db:/users
      """)

  @Argument(
    help: "The place in the old tree, such as /users or prod:/users; / is the root.",
    transform: PlaceArgument.place)
  var old: DataPlace
  @Argument(
    help: """
      The place in the new tree (default: the same place of another database, the whole of a JSON \
      file).
      """,
    transform: PlaceArgument.place)
  var new: DataPlace?
  @Option(
    name: .customLong("with"),
    help: ArgumentHelp(
      "Where the new tree is: another database, or a JSON file; - is standard input.",
      valueName: "file"),
    completion: .file())
  var other: FileName?
  @OptionGroup var database: DatabaseOptions

  var fileNames: [FileName] { other.map { [$0] } ?? [] }

  func validate() throws {
    if new == nil, other == nil, old.database != nil, database.database != nil {
      throw ValidationError(
        "The place and -d both name a database: name the second one with --with instead of -d.")
    }
    if new == nil, other == nil {
      throw ValidationError("Name a second place, or another file with --with.")
    }
    if new?.database != nil, other != nil {
      throw ValidationError("The second place and --with both name a database: give one.")
    }
  }

  func run() throws {
    let hasDifferences: Bool
    do {
      hasDifferences = try compareAll()
    } catch let failure as Failure where failure.status == .failure {
      throw Failure(failure.message, status: .usage)
    } catch let error as DatabaseError where error.code != .locked {
      throw Failure(error.told, status: .usage)
    } catch let error as TreeError {
      throw Failure("\(error)", status: .usage)
    }
    if hasDifferences { throw ExitCode(ExitStatus.failure.rawValue) }
  }

  /// Prints the differences; returns false if there are none.
  private func compareAll() throws -> Bool {
    let beside = other == nil ? new : nil
    let options = database.for(old, beside: beside)
    if let other {
      return try options.withSides([old.path]) { try compare($0[0], withFile: other) }
    }
    let place = new ?? .root
    let otherOptions = database.for(place, beside: old)
    if options.database == otherOptions.database {
      return try options.withSides([old.path, place.path]) { try compare($0[0], $0[1]) }
    }
    return try options.withSides([old.path]) { old in
      try otherOptions.withSides([place.path]) { try compare(old[0], $0[0]) }
    }
  }

  private func compare(_ old: TreeDiff.Side, withFile name: FileName) throws -> Bool {
    let document = try InputDocument(name)
    if document.withBytes({ $0.starts(with: DatabaseOptions.mark) }) {
      guard let text = name.text else {
        throw Failure("\(name.shown): the name of a database is UTF-8: rename it.", status: .usage)
      }
      let file = try DatabaseOptions.fileName(text)
      let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
      return try session.read {
        try compare(old, TreeDiff.Side($0, at: (new ?? self.old).path))
      }
    }
    let root = try document.withBytes { try node(in: $0.withoutMark, of: document.name) }
    return try compare(old, TreeDiff.Side(root[new?.path ?? .root]))
  }

  private func node(in bytes: UnsafeBufferPointer<UInt8>, of file: String) throws -> Node {
    do {
      var scanner = JSONScanner(bytes)
      let node = try NodeReader(at: .root).read(&scanner)
      try scanner.finish()
      return node ?? .empty
    } catch let error as JSONError {
      if DiffCommand.isOfLines(bytes) {
        throw Failure(
          "\(file): it is JSON lines, which are not compared. `runnel FILE` opens them, and `--with` takes "
            + "the database that it makes of them, FILE.db.")
      }
      if ImportPlan.format(ofFile: file) == .csv {
        throw Failure(
          "\(file): it is a table, which is not compared. `runnel FILE` opens it, and `--with` takes the "
            + "database that it makes of it, FILE.db.")
      }
      throw Failure("\(file): it is neither a database nor JSON: \(error)")
    } catch let error as TreeError {
      let way =
        error.code == .invalidKey
        ? " `runnel FILE` opens it with other keys for such names, and `--with` takes the database that "
          + "it makes of it, FILE.db." : ""
      throw Failure("\(file): \(error)\(way)")
    }
  }

  /// Whether a text begins with a line that is JSON by itself, with another line of JSON after it.
  private static func isOfLines(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2).prefix(2)
    return lines.count == 2
      && lines.allSatisfy { (try? JSONValue(parsing: String(decoding: $0, as: UTF8.self))) != nil }
  }

  private func compare(_ old: TreeDiff.Side, _ new: TreeDiff.Side) throws -> Bool {
    var diff = TreeDiff(from: old, to: new)
    var hasDifferences = false
    while let difference = try diff.next() {
      hasDifferences = true
      try StandardOutput.write(difference.line)
    }
    return hasDifferences
  }
}

extension DatabaseOptions {
  /// Calls `body` with places to be compared; all places of a file are read in one state of it.
  fileprivate func withSides(
    _ paths: [Path], _ body: ([TreeDiff.Side]) throws -> Bool
  ) throws -> Bool {
    if let remote = try remote(for: .read) {
      return try body(paths.map { TreeDiff.Side(try remote.node(at: $0)) })
    }
    return try open(for: .read) { session in
      try session.read { reader in try body(paths.map { try TreeDiff.Side(reader, at: $0) }) }
    }
  }
}

extension TreeDifference {
  /// The difference as a line of JSON, in UTF-8 with its line feed.
  fileprivate var line: [UInt8] {
    let name: String
    let values: [(name: String, value: JSONValue)]
    switch change {
    case .added(let node): (name, values) = ("added", [("new", node.exportJSON)])
    case .removed(let node): (name, values) = ("removed", [("old", node.exportJSON)])
    case .changed(let old, let new):
      (name, values) = ("changed", [("old", old.exportJSON), ("new", new.exportJSON)])
    case .priority(let old, let new):
      (name, values) = ("priority", [("old", old?.json ?? .null), ("new", new?.json ?? .null)])
    }
    let members = [
      JSONMember("change", .string(name)), JSONMember("path", .string(path.description)),
    ]
    let object = JSONValue.object(members + values.map { JSONMember($0.name, $0.value) })
    return object.jsonBytes() + [UInt8(ascii: "\n")]
  }
}
