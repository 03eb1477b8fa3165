import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel import`: replaces what stands at a place by a JSON document.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Replace everything at a place by a JSON file.",
    discussion: """
      The database is made if it does not exist. All of the document is imported, or nothing: a \
      mistake in it, or Ctrl-C, leaves everything as it was.

      The tree has objects and no arrays: ["a","b"] becomes {"0":"a","1":"b"}. null, {} and [] stand \
      for nothing, and are not kept.

      Examples:
        runnel import chat.json
        curl https://example.org/users.json | runnel import - /users
      """)

  @Argument(help: "The file with the JSON; - is standard input.", completion: .file())
  var file: String
  @Argument(help: Place.optionalHelp, transform: Place.path) var path: Path = .root
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let interruption = try Interruption()
    do {
      try run(interruption)
    } catch let stopped as Interruption.Stopped {
      throw Failure(
        "The import was stopped. Nothing was changed.",
        status: .interrupted(by: stopped.signal))
    }
  }

  private func run(_ interruption: Interruption) throws {
    let document = try InputDocument(file, interruption: interruption)
    try database.open(for: .create) { session in
      let bytes = try document.withBytes { bytes in
        try load(bytes, named: document.name, into: session, interruption)
        return bytes.count
      }
      StandardError.say("Imported \(bytes) bytes at \(path) of \(session.file).")
    }
  }

  private func load(
    _ bytes: UnsafeBufferPointer<UInt8>, named name: String, into session: DatabaseSession,
    _ interruption: Interruption
  ) throws {
    var progress = ProgressLine("Importing \(name)", totalBytes: bytes.count)
    var signal: Int32?
    try interruption.check()
    defer { progress.clear() }
    do {
      _ = try session.importJSON(bytes, at: path) { count in
        progress.report(bytes: count)
        signal = signal ?? interruption.pending()
        return signal == nil
      }
    } catch let error as DatabaseError {
      progress.clear()
      switch (error.code, signal) {
      case (.cancelled, let signal?): throw Interruption.Stopped(signal: signal)
      case (.malformedJSON, _): throw Failure("\(name): \(error.message)")
      default: throw error
      }
    }
  }
}
