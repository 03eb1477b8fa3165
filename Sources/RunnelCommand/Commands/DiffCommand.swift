import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelTree

/// `runnel diff`: prints the differences of two trees.
struct DiffCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Say in what two places differ, of one database or two.",
    discussion: """
      Prints a line of JSON for each difference, in the order of paths, and nothing if there is \
      none. "change" is "added", "removed", "changed" or, if only that differs, "priority"; "path" \
      is given from the two places. Values carry their priorities, as in `runnel export`.

      Examples:
        runnel diff /users /backup/users
        runnel diff /users --with yesterday.db
        runnel diff / --with backup.json
      """)

  @Argument(help: "The place in the old tree; / is the root.", transform: PlaceArgument.path)
  var old: Path
  @Argument(
    help: """
      The place in the new tree (default: the same place of another database, the whole of a JSON \
      file).
      """,
    transform: PlaceArgument.path)
  var new: Path?
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
    if new == nil, other == nil {
      throw ValidationError("Name a second place, or another file with --with.")
    }
  }

  func run() throws {
    try database.open(for: .read) { session in
      try session.read { reader in
        let old = try TreeDiff.Side(reader, at: old)
        if let other {
          try compare(old, withFile: other)
        } else {
          try compare(old, TreeDiff.Side(reader, at: new ?? .root))
        }
      }
    }
  }

  private func compare(_ old: TreeDiff.Side, withFile name: FileName) throws {
    let document = try InputDocument(name)
    if document.withBytes({ $0.starts(with: DatabaseOptions.mark) }) {
      guard let text = name.text else {
        throw Failure("\(name.shown): the name of a database is UTF-8: rename it.", status: .usage)
      }
      let file = try DatabaseOptions.fileName(text)
      let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
      return try session.read { try compare(old, TreeDiff.Side($0, at: new ?? self.old)) }
    }
    let root = try document.withBytes { try node(in: $0, of: document.name) }
    try compare(old, TreeDiff.Side(root[new ?? .root]))
  }

  private func node(in bytes: UnsafeBufferPointer<UInt8>, of file: String) throws -> Node {
    do {
      var scanner = JSONScanner(bytes)
      let node = try NodeReader(at: .root).read(&scanner)
      try scanner.finish()
      return node ?? .empty
    } catch let error as JSONError {
      throw Failure("\(file): it is neither a database nor JSON: \(error)")
    } catch let error as TreeError {
      throw Failure("\(file): \(error)")
    }
  }

  private func compare(_ old: TreeDiff.Side, _ new: TreeDiff.Side) throws {
    var diff = TreeDiff(from: old, to: new)
    while let difference = try diff.next() { try StandardOutput.write(difference.line) }
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
