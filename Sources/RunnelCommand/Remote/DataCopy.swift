import RunnelBase
import RunnelDatabase
import RunnelTree

/// A copy of a subtree from one database to another; one or both may be on servers.
struct DataCopy {
  private let source: DatabaseOptions
  private let from: Path
  private let target: DatabaseOptions
  private let to: Path
  /// The purpose for which the target is opened.
  private let access: DatabaseOptions.Access
  private let isForced: Bool

  init(
    _ source: DatabaseOptions, _ from: Path, _ target: DatabaseOptions, _ to: Path,
    access: DatabaseOptions.Access, isForced: Bool
  ) {
    (self.source, self.from, self.target, self.to) = (source, from, target, to)
    (self.access, self.isForced) = (access, isForced)
  }

  /// Makes the copy.
  ///
  /// - Throws: `Failure` if the source is empty, or the user does not consent to replace the target.
  func run() throws {
    // If the target cannot be written, the source is not read.
    let remote = try target.remote(for: access)
    if remote == nil { _ = try target.file(for: access) }
    let bytes = try exported()
    if bytes == Array("null".utf8) {
      throw Failure("\(from) of \(try name(source)) is empty. Nothing was copied.")
    }
    if let remote { return try write(bytes, to: remote) }
    try target.open(for: access) { session in
      try Consent(isGiven: isForced).requireToReplace(to, in: session)
      var line = ProgressLine("Writing \(to) of \(session.file)", totalBytes: bytes.count)
      defer { line.clear() }
      let outcome = try bytes.withUnsafeBufferPointer { bytes in
        try session.importJSON(bytes, at: to, mode: .replace) { step in
          if case .reading(let count) = step { line.report(bytes: count) }
          return true
        }
      }
      line.clear()
      let kept = outcome.undoFile.map {
        " " + ImportWork.words(forFile: $0, bytes: outcome.undoFileBytes)
      }
      tell(bytes.count, "\(to) of \(session.file)", kept ?? "")
    }
  }

  private func exported() throws -> [UInt8] {
    if let remote = try source.remote(for: .read) {
      do {
        return try remote.exportedBytes(from)
      } catch let failure as Failure {
        throw Failure("\(failure.message) Nothing was copied.", status: failure.status)
      }
    }
    var bytes: [UInt8] = []
    try source.open(for: .read) { try $0.exportJSON(from) { bytes += $0 } }
    return bytes
  }

  private func write(_ bytes: [UInt8], to remote: RemoteDatabase) throws {
    let json = try JSONValue(parsing: bytes)
    let start = try start(at: remote)
    if start != .empty {
      try Consent(isGiven: isForced).require(
        "Replace \(remote.words(to))? Nothing brings it back.",
        because: "This would replace \(remote.words(to)).")
    } else {
      try remote.requireConsent(isGiven: isForced, toFill: to, with: json)
    }
    let document = RemoteImport(json, at: to, merges: false)
    var line = ProgressLine("Writing \(remote.placeWords(to))")
    defer { line.clear() }
    var run = ImportRun(document, to: remote, start, .copying) { done, values in
      line.report("batch \(done) of \(document.batches.count), \(values) values")
    }
    try run.run()
    line.clear()
    tell(bytes.count, remote.placeWords(to), "")
  }

  /// Reads what stands at the place, as far as that matters.
  private func start(at remote: RemoteDatabase) throws -> ImportRun.Start {
    if isForced { return .forced }
    if try remote.isEmpty(to) { return .empty }
    return .standing(tag: try remote.tagToReplace(to, option: "--force"))
  }

  private func tell(_ count: Int, _ place: String, _ more: String) {
    StandardError.say("Copied \(count) bytes to \(place).\(more)")
  }

  private func name(_ options: DatabaseOptions) throws -> String {
    let name = try options.originChoice()?.name ?? options.database
    return ControlCharacters.escapedLine(name ?? "the default database")
  }
}
