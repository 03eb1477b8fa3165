import ArgumentParser
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelPostgres
import RunnelServer
import RunnelTree

/// `runnel store import`: writes a document or a database file to a namespace.
struct ImportToStoreCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Write a JSON file, or a database file, to a namespace.",
    discussion: """
      All of it is imported, or nothing, also while servers serve the namespace: their clients see it as \
      one change. The servers' writes to the namespace wait meanwhile, and are refused after 60 seconds, so \
      import what is large while nobody writes. Security rules are not asked: `runnel store rules put` \
      stores those of the file.

      Of a database file, the content and the indexes are imported; its history is not. Indexes are those of \
      a whole tree: at another place than / they are left out.

      Examples:
        runnel store init chat
        runnel store import chat chat.db
        runnel store import chat users.json /users --replace
      """)

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @Argument(help: "The file; - is JSON from standard input.", completion: .file())
  var file: FileName
  @Argument(help: PlaceArgument.optionalHelp, transform: PlaceArgument.target)
  var place: Path = .root
  @Flag(help: "Put the document in the place of what stands there.") var replace = false
  @OptionGroup var option: StoreOption

  var fileNames: [FileName] { [file] }

  func run() throws {
    if !file.isStandard, let text = file.text, try ImportToStoreCommand.isDatabase(file) {
      let session = try DatabaseSession(file: text, isReadOnly: true, environment: .system)
      // A file that was only read can be closed without loss.
      defer { try? session.close() }
      let scratch = try ScratchDatabase(named: "import.json")
      defer { scratch.remove() }
      try ImportToStoreCommand.export(session, to: scratch.file)
      let indexes = session.declaredIndexes
      let count = try load(FileName(bytes: Array(scratch.file.utf8)), indexes).count
      let words = indexes.count == 1 ? "1 index" : "\(indexes.count) indexes"
      let what = place.isRoot && !indexes.isEmpty ? " with \(words)" : ""
      let rest =
        place.isRoot || indexes.isEmpty
        ? "" : " Without its \(words): indexes are imported with a whole tree, at /."
      return StandardError.say(
        "Imported \(file.shown) at \(place) of \(namespace)\(what): \(count) bytes as JSON.\(rest)")
    }
    let (count, unkept) = try load(file, [])
    StandardError.say("Imported \(count) bytes of JSON at \(place) of \(namespace).\(unkept)")
  }

  /// Imports a document, and declares indexes; returns the number of bytes, and sentences about what is not kept.
  private func load(
    _ document: FileName, _ indexes: [IndexDefinition]
  ) throws -> (count: Int, unkept: String) {
    let document = try InputDocument(document)
    let store = try option.opened()
    defer { store.close() }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, with the keys that sign tokens, and is not replaced: "
          + "`runnel accounts import FILE --store \(option.store)` adds accounts.", status: .usage)
    }
    var line = ProgressLine("Importing \(file.shown)")
    defer { line.clear() }
    let loaded = try document.withBytes { bytes in
      try store.write(to: found) { transaction in
        if !replace, try transaction.summary(at: place).kind != .empty {
          throw Failure(
            "Something stands at \(place) of \(namespace). Nothing was changed: --replace puts the document "
              + "in its place.", status: .usage)
        }
        let now = max(DatabaseEnvironment.system.now(), transaction.earliestTime)
        do {
          try transaction.importJSON(bytes, at: place, now: now) { line.report(bytes: $0) }
        } catch let error as JSONError {
          throw Failure("\(file.shown) is not JSON: \(error). Nothing was changed.")
        } catch let error as TreeError where error.code != .storage {
          throw Failure(
            "\(file.shown): \(error) Nothing was changed.\(NameAdvice.signs(for: error) ?? "")")
        }
      }
      return (bytes.count, UnkeptParts.sentences(of: bytes))
    }
    if place.isRoot, !indexes.isEmpty { try store.declareIndexes(indexes, of: found) }
    return loaded
  }

  private static func isDatabase(_ file: FileName) throws -> Bool {
    let descriptor = open(file.cString, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { throw Failure.system("\(file.shown) cannot be read") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: DatabaseOptions.mark.count)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return count == bytes.count && bytes == DatabaseOptions.mark
  }

  private static func export(_ session: DatabaseSession, to file: String) throws {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw Failure.system("\(file) cannot be written") }
    defer { close(descriptor) }
    try session.exportJSON(.root) { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
          if errno == EINTR { continue }
          throw Failure.system("\(file) cannot be written")
        }
        rest = rest.dropFirst(count)
      }
    }
  }
}
