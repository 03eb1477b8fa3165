import ArgumentParser
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree
import Synchronization

/// `runnel import`: writes a JSON document to a place.
struct ImportCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Write a JSON file to a place.",
    discussion: """
      All of the document is imported, or nothing: a mistake in it, or Ctrl-C, leaves everything as it \
      was. \(CreationOptions.help)

      Where something stands already, you are asked at a terminal; elsewhere one of two options is \
      needed. --replace puts the document in the place of what stands there. --merge makes each object \
      of the document an update of what stands there, down to the leaves: members that the document \
      does not name stay, null removes, {} and [] change nothing, and a value takes the place of \
      whatever stands there.

      `runnel undo` brings back what stood there. What is too large for the history is kept in a file \
      beside the database, DATABASE-undo-NUMBER.json, which is named; delete it when you do not want it \
      back. Where the history is off, nothing is kept.

      The tree has objects and no arrays: ["a","b"] becomes {"0":"a","1":"b"}. null, {} and [] stand \
      for nothing, and are not kept. Of two members of an object with one name, the last counts, and it is \
      said how many there are and where.

      A large document is written to a server in batches. What others write there meanwhile is not replaced: \
      the import stops at the first such place, and says how to go on.

      Examples:
        runnel import chat.json
        runnel import chat.json --database chat.db --create
        curl https://example.org/users.json | runnel import - /users --merge
      """)

  @Argument(help: "The file with the JSON; - is standard input.", completion: .file())
  var file: FileName
  @Argument(help: PlaceArgument.optionalHelpWithData, transform: PlaceArgument.placeToWrite)
  var place: DataPlace = .root
  @Flag(help: "Put the document in the place of what stands there.") var replace = false
  @Flag(help: "Write only what the document names, and keep the rest.") var merge = false
  @Flag(
    name: [.short, .long],
    help: ArgumentHelp(
      "Do not ask, even if a profile has `confirm`; and replace also what others write into a server's "
        + "database meanwhile."))
  var force = false
  @Option(
    help: ArgumentHelp(
      "Continue an interrupted import into a server's database with this batch.",
      valueName: "number"))
  var fromBatch: Int?
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  var fileNames: [FileName] { [file] }

  func validate() throws {
    if replace, merge {
      throw ValidationError("--replace and --merge exclude each other: give one.")
    }
  }

  func run() throws {
    // This must come before the database, or a connection, starts a thread.
    let interruption = try Interruption()
    let remote = try interruption.whileSignalsEnd {
      try database.of(place).remote(for: .change)
    }
    if let remote { return try load(into: remote, interruption) }
    if fromBatch != nil {
      throw Failure("--from-batch is for a server's database.", status: .usage)
    }
    do {
      if file.isStandard {
        let mode = try chosenMode(interruption)
        try run(mode, InputDocument(file, interruption: interruption), interruption)
      } else {
        // If the document cannot be read, no consent is needed.
        let document = try InputDocument(file, interruption: interruption)
        try run(chosenMode(interruption), document, interruption)
      }
    } catch let stopped as Interruption.Stopped {
      throw Failure(
        "The import was stopped. Nothing was changed.",
        status: .interrupted(by: stopped.signal))
    }
  }

  private func run(
    _ mode: ImportMode, _ document: borrowing InputDocument, _ interruption: Interruption
  ) throws {
    let name = document.name
    try document.withBytes { bytes in
      try database.of(place).open(for: creation.access) { session in
        let outcome = try load(bytes, named: name, into: session, mode, interruption)
        let kept = outcome.undoFile.map {
          " " + ImportWork.words(forFile: $0, bytes: outcome.undoFileBytes)
        }
        StandardError.say(
          "Imported \(bytes.count) bytes at \(path) of \(session.file).\(kept ?? "")"
            + UnkeptParts.sentences(of: bytes))
      }
    }
  }

  private func load(
    _ bytes: UnsafeBufferPointer<UInt8>, named name: String, into session: DatabaseSession,
    _ mode: ImportMode, _ interruption: Interruption
  ) throws -> ImportOutcome {
    try interruption.check()
    var work = ImportWork("Importing \(name)", totalBytes: bytes.count, interruption)
    defer { work.end() }
    do {
      return try session.importJSON(bytes, at: path, mode: mode) { work.isWanted(at: $0) }
    } catch let error as DatabaseError where error.code == .malformedJSON {
      work.end()
      let hint = ImportCommand.hint(forFile: name, path)
      throw Failure("\(name): \(error.message)\(hint)")
    } catch {
      let told = work.told(error)
      let advice = NameAdvice(for: told, file: file.isStandard ? nil : name)
      throw advice.map { Failure("\(told)\($0.sentence)") } ?? told
    }
  }
}

extension ImportCommand {
  /// Writes the document to a server, in batches if it is large.
  private func load(into remote: RemoteDatabase, _ interruption: Interruption) throws {
    let (batches, first, start, name, unkept) = try interruption.whileSignalsEnd {
      try plan(for: remote)
    }
    var line = ProgressLine("Importing \(name)")
    defer { line.clear() }
    let count = batches.batches.count
    let written = Mutex(first - 1)
    let watch = InterruptionWatch(interruption) {
      RemoteImport.wordsWhenStopped(afterBatch: written.withLock(\.self), of: count)
    }
    defer { watch.cancel() }
    var run = ImportRun(batches, to: remote, from: first, start, .importing) { done, values in
      written.withLock { $0 = done }
      line.report("batch \(done) of \(count), \(values) values")
    }
    try run.run()
    line.clear()
    StandardError.say("Imported \(name) at \(remote.placeWords(path)).\(unkept)")
  }

  /// Reads the document, asks for what needs consent, and divides it into batches.
  private func plan(
    for remote: RemoteDatabase
  ) throws -> (
    batches: RemoteImport, first: Int, start: ImportRun.Start, name: String, unkept: String
  ) {
    let document = try InputDocument(file)
    let json: JSONValue
    let unkept: String
    do {
      (json, unkept) = try document.withBytes {
        (try JSONValue(parsing: $0), UnkeptParts.sentences(of: $0))
      }
    } catch let error as JSONError {
      throw Failure(
        "\(document.name): it is not JSON: \(error).\(ImportCommand.hint(forFile: document.name, path))"
      )
    }
    let first = fromBatch ?? 1
    let start = try start(at: remote, isFirst: first == 1)
    if case .standing = start {
      try Consent(isGiven: false, option: "--replace").require(
        "Replace \(remote.words(path)) by \(file.shown)? Nothing brings it back.",
        because: "This would replace \(remote.words(path)); --merge would keep the rest.")
    } else if remote.choice.confirms {
      try Consent(isGiven: force).require(
        "Import \(file.shown) at \(remote.placeWords(path))? The data that it replaces cannot be brought back.",
        because: "This would import \(file.shown) at \(remote.placeWords(path)).")
    }
    try PlaceArgument.check(.set(path, json))
    let batches = RemoteImport(json, at: path, merges: merge)
    guard (1...max(1, batches.batches.count)).contains(first) else {
      throw Failure("The document has \(batches.batches.count) batches.", status: .usage)
    }
    return (batches, first, force ? .forced : start, document.name, unkept)
  }

  /// Reads what stands at the place, as far as that matters.
  private func start(at remote: RemoteDatabase, isFirst: Bool) throws -> ImportRun.Start {
    if merge { return .merged }
    if replace || !isFirst { return .replaced }
    if try remote.isEmpty(path) { return .empty }
    return .standing(tag: try remote.tagToReplace(path, option: "--replace"))
  }

  /// Returns advice about a file whose name says that it is not a JSON document; empty for other
  /// files.
  private static func hint(forFile name: String, _ path: Path) -> String {
    let place = ControlCharacters.escapedLine(path.isRoot ? "PLACE" : path.description)
    let name = ControlCharacters.escapedLine(name)
    if [".jsonl", ".ndjson"].contains(where: name.hasSuffix) {
      return
        " A file with a JSON value in each line is added by `runnel push \(place) --lines < \(name)`."
    }
    if [".csv", ".tsv"].contains(where: name.hasSuffix) {
      return
        " `runnel \(name)` opens the table as a database of its own. To add its rows to a list, open the "
        + "list in the workspace and press yi."
    }
    return ""
  }
}

// MARK: Consent

extension ImportCommand {
  /// The import mode, from the options or from the user's answer at the terminal.
  ///
  /// - Throws: `Failure` if neither decides.
  private func chosenMode(_ interruption: Interruption) throws -> ImportMode {
    if merge { return .merge }
    if replace { return .replace }
    guard try databaseExists() else { return .add }
    return try database.of(place).open(for: .read) { session in
      guard let place = try session.occupiedPlace(for: path) else { return .add }
      let standing = try Standing(at: place, in: session)
      guard StandardInput.isTerminal, !self.file.isStandard else {
        throw Failure(
          "This would replace \(standing.words). Nothing was changed: --replace does it, and --merge "
            + "writes only what the document names.", status: .usage)
      }
      try ask(standing, isUndoable: session.historyPage(count: 0).limit > 0, interruption)
      return .replace
    }
  }

  private func ask(
    _ standing: Standing, isUndoable: Bool, _ interruption: Interruption
  ) throws {
    let way =
      isUndoable
      ? "`runnel undo` would bring it back;"
      : "The history is off, so that nothing would bring it back;"
    let question = "Replace \(standing.words) by \(file.shown)? \(way) --merge would keep it."
    if try !StandardInput.confirms(question, interruption) { throw Failure("Nothing was changed.") }
  }

  /// True if a database file exists, which may hold anything.
  private func databaseExists() throws -> Bool {
    let file = try database.of(place).database ?? DefaultDatabase.file(makesFolder: false)
    var status = stat()
    return stat(file, &status) == 0 && status.st_size > 0
  }
}

/// The progress of an import, or of undoing one: the terminal shows it in a line, and a signal ends
/// the work.
struct ImportWork {
  private var line: ProgressLine
  private let interruption: Interruption
  private var signal: Int32?

  init(_ what: String, totalBytes: Int = 0, _ interruption: Interruption) {
    line = ProgressLine(what, totalBytes: totalBytes)
    self.interruption = interruption
  }

  /// Shows the progress of the work; returns false if the work must end.
  mutating func isWanted(at step: ImportStep) -> Bool {
    switch step {
    case .keeping(let bytes):
      line.report("keeping what stands there, \(ProgressLine.megabytes(bytes)) MB")
    case .reading(let bytes): line.report(bytes: bytes)
    }
    signal = signal ?? interruption.pending()
    return signal == nil
  }

  /// Returns the words about a file that keeps the data that the import replaced.
  static func words(forFile file: String, bytes: Int) -> String {
    let write = ImportWork.number(inFile: file).map { " \($0)" } ?? ""
    return
      "What stood there is in \(file) (\(ProgressLine.megabytes(bytes)) MB) for `runnel undo\(write)`: "
      + "delete the file when you do not want it back."
  }

  /// The number of the write that a file is kept for, which its name has; nil if the name has none.
  private static func number(inFile file: String) -> Int64? {
    let name = file.split(separator: "-")
    guard let mark = name.lastIndex(of: "undo"), mark + 1 < name.endIndex else { return nil }
    return Int64(name[mark + 1].prefix { $0.isNumber })
  }

  /// Removes the line.
  mutating func end() { line.clear() }

  /// Throws if a signal ended the work.
  ///
  /// - Throws: `Stopped`.
  mutating func checkSignal() throws {
    end()
    if let signal { throw Interruption.Stopped(signal: signal) }
  }

  /// Returns the error to throw for an error of the work: `Stopped` if a signal ended it.
  mutating func told(_ error: any Error) -> any Error {
    end()
    guard let error = error as? DatabaseError, error.code == .cancelled, let signal else {
      return error
    }
    return Interruption.Stopped(signal: signal)
  }
}
