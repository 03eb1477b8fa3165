import RunnelBase
import RunnelStorage
package import RunnelTree

/// The way in which an import treats a node that exists at its place.
public enum ImportMode: Hashable, Sendable {
  /// The import is refused.
  case add
  /// The document replaces the node.
  case replace
  /// Each object of the document updates the node at its place, down to the leaves.
  ///
  /// Members that the document does not name stay, null removes, an empty object or array changes
  /// nothing, and a leaf replaces the node at its place. A priority counts as a member.
  case merge
}

/// The progress of an import, or of undoing one.
public enum ImportStep: Hashable, Sendable {
  /// The old node is being kept; `bytes` were kept so far.
  case keeping(bytes: Int)
  /// The document is being read; `bytes` were read so far.
  case reading(bytes: Int)
}

/// The result of an import.
package struct ImportOutcome: Sendable {
  /// The deliveries for listeners of the session, in order.
  package var deliveries: [Delivery]
  /// The file with the old node, if that was too large for the history; nil if there is none.
  package var undoFile: String?
  /// The size of that file, in bytes.
  package var undoFileBytes = 0
}

extension DatabaseSession {
  /// The largest document, in bytes, whose merging becomes an entry of the history place by place.
  static let mergedAtOnceBytesMax = 1 << 20

  /// Writes a JSON document to a place, read piece by piece, so that it can be undone.
  ///
  /// The old node is kept in the history, or in a file beside the database if it is too large for
  /// that; it is not kept if the history is off. O(n) in the document and in the old node; memory
  /// is that of one record besides the document's own.
  ///
  /// - Parameters:
  ///   - document: the text of the document.
  ///   - path: the place.
  ///   - mode: what to do with the old node.
  ///   - progress: called now and then; false stops the import.
  /// - Returns: the deliveries for listeners of this session, and the file with the old node.
  /// - Throws: `DatabaseError` (`malformedJSON` with line and column, `refused`, `cancelled`,
  ///   `diskFull`, or another failure of the storage); then nothing was written, and no file is
  ///   left.
  package func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, mode: ImportMode,
    progress: @escaping (ImportStep) -> Bool = { _ in true }
  ) throws -> ImportOutcome {
    let importing = DocumentImport(file: file, author: environment.author, progress)
    return try importing.outcome {
      try core.perform(.importing) { transaction, now in
        try path.checkIsWritable(by: "import")
        return try importing.run(on: transaction) {
          try DatabaseSession.reading(document) {
            try importing.write(document, at: path, mode, transaction, now: now)
          }
        }
      }
    }
  }

  /// Replaces everything at a place by a JSON document that goes to a place in it, as one write.
  ///
  /// All of it is done or nothing, and one undo brings the old node back; otherwise it is as `importJSON`.
  ///
  /// - Parameters:
  ///   - document: the text of the document.
  ///   - path: the place of the document.
  ///   - replaced: the place whose old node goes: `path`, or a place above it.
  ///   - progress: called now and then; false stops the import.
  /// - Returns: the deliveries for listeners of this session, and the file with the old node.
  /// - Throws: `DatabaseError`, as `importJSON`; then nothing was written, and no file is left.
  package func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, inPlaceOf replaced: Path,
    progress: @escaping (ImportStep) -> Bool = { _ in true }
  ) throws -> ImportOutcome {
    precondition(replaced.contains(path), "What is replaced must hold the place of the document.")
    let importing = DocumentImport(file: file, author: environment.author, progress)
    return try importing.outcome {
      try core.perform(.importing) { transaction, now in
        try path.checkIsWritable(by: "import")
        return try importing.run(on: transaction) {
          try DatabaseSession.reading(document) {
            try importing.write(document, at: path, inPlaceOf: replaced, transaction, now: now)
          }
        }
      }
    }
  }

  static func reading<Result>(
    _ document: UnsafeBufferPointer<UInt8>, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as JSONError {
      throw DatabaseError(.malformedJSON, "The document is not JSON: \(error).")
    }
  }

  /// The place of the node that a write to a place would replace: the place itself, or a value
  /// above it; nil if there is none.
  ///
  /// O(depth² log n).
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  package func occupiedPlace(for path: Path) throws -> Path? {
    try store.read { try $0.occupiedPlace(for: path) }
  }

  /// Restores the old nodes at the places of an import.
  func undoImport(
    _ entry: HistoryEntry, _ progress: @escaping (ImportStep) -> Bool
  ) throws -> [Delivery] {
    let importing = DocumentImport(file: file, author: environment.author, progress)
    let outcome = try importing.outcome {
      try core.perform(.importing) { transaction, now in
        try importing.run(on: transaction) {
          try importing.undo(entry, transaction, now: now)
        }
      }
    }
    // Its content is in the tree again.
    importing.restoredFile?.remove(of: file)
    return outcome.deliveries
  }
}

/// An import, or the undoing of an import, within its transaction.
final class DocumentImport {
  private let file: String
  private let author: String
  private let progress: (ImportStep) -> Bool
  private var step = ImportStep.reading(bytes: 0)
  private var undoFile: UndoFile?
  /// The file from which the old node was put back; nil if there was none.
  private(set) var restoredFile: UndoFile?

  init(file: String, author: String, _ progress: @escaping (ImportStep) -> Bool) {
    self.file = file
    self.author = author
    self.progress = progress
  }

  /// Does the work; if it fails, the file with the old node is removed.
  func outcome(_ work: () throws -> [Delivery]) throws -> ImportOutcome {
    do {
      let deliveries = try work()
      return ImportOutcome(
        deliveries: deliveries, undoFile: undoFile?.path(of: file),
        undoFileBytes: undoFile?.byteCount ?? 0)
    } catch {
      undoFile?.remove(of: file)
      throw error
    }
  }

  /// Removes the undo file after the transaction failed: the old node is still in the tree.
  func removeUndoFile() { undoFile?.remove(of: file) }

  /// Runs `body`, during which also a long statement can be stopped, such as the removal of a large
  /// tree.
  func run<Result>(
    on transaction: StoreTransaction, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try LongStatement.run(
        on: transaction.db, while: { self.progress(self.step) }, body)
    } catch let error as DatabaseError where error.code == .cancelled {
      throw DocumentImport.stopped
    }
  }

  /// The error of an import that was stopped, in whichever step.
  private static let stopped = DatabaseError(
    .cancelled, "The import was stopped. Nothing was changed.")

  private func report(_ step: ImportStep) throws {
    self.step = step
    if !progress(step) { throw DocumentImport.stopped }
  }

  // MARK: Writing

  /// Writes the document; returns the places written.
  func write(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, _ mode: ImportMode,
    _ transaction: StoreTransaction, now: Int64
  ) throws -> [Path] {
    switch mode {
    case .add:
      if let place = try transaction.occupiedPlace(for: path) {
        throw DatabaseError(
          .refused,
          "Something stands at \(place). Nothing was changed: the mode `.replace` replaces it, and `.merge` writes "
            + "only what the document names.")
      }
    case .replace: break
    case .merge where document.count <= DatabaseSession.mergedAtOnceBytesMax:
      if let places = try mergeAtOnce(document, at: path, transaction, now: now) { return places }
    case .merge: break
    }
    try recording(path, transaction, now: now, undoes: nil) {
      var importer = try importer(transaction)
      if mode == .merge {
        try importer.mergeDocument(document, at: path)
      } else {
        try importer.importDocument(document, at: path)
      }
    }
    return [path]
  }

  /// Writes the document, and removes all else at a place that holds its own; returns the places written.
  func write(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, inPlaceOf replaced: Path,
    _ transaction: StoreTransaction, now: Int64
  ) throws -> [Path] {
    try recording(replaced, transaction, now: now, undoes: nil) {
      if replaced != path {
        try transaction.carryOut(Assignment(path: replaced, target: .node(.empty)))
      }
      var importer = try importer(transaction)
      try importer.importDocument(document, at: path)
    }
    return [replaced]
  }

  /// Merges a document as a write of all its places; nil, with nothing done, if the history could
  /// not keep the old nodes.
  private func mergeAtOnce(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, _ transaction: StoreTransaction,
    now: Int64
  ) throws -> [Path]? {
    var scanner = JSONScanner(document)
    let json = try scanner.readValue()
    try scanner.finish()
    let parts = try MergePlan(transaction.tree).assignments(of: json, at: path)
    if parts.isEmpty { return [] }
    if try transaction.historyLimit() > 0 {
      let recorder = try HistoryRecorder(parts, transaction)
      if recorder.placeTooLarge != nil { return nil }
    }
    let entry = HistoryText(at: now, author: author, undoes: nil, parts: [])
    try transaction.carryOut(parts, noting: entry)
    return parts.map(\.path)
  }

  private func importer(_ transaction: StoreTransaction) throws -> Importer {
    try transaction.importer { bytes in
      self.step = .reading(bytes: bytes)
      return self.progress(self.step)
    }
  }

  /// Runs `body`, which may change anything at a place, and records the old node.
  private func recording(
    _ path: Path, _ transaction: StoreTransaction, now: Int64, undoes: Int64?,
    _ body: () throws -> Void
  ) throws {
    if try transaction.historyLimit() == 0 { return try body() }
    var recorder = try HistoryRecorder(wholeOf: path, transaction)
    if let place = recorder.placeTooLarge { try keep(place, transaction) }
    recorder.file = undoFile
    step = .reading(bytes: 0)
    try body()
    guard let parts = try recorder.parts(after: transaction) else { return }
    try undoFile?.finish(of: file)
    transaction.note(HistoryText(at: now, author: author, undoes: undoes, parts: parts))
  }

  /// Writes the old node to a file.
  private func keep(_ place: Path, _ transaction: StoreTransaction) throws {
    var count = 0
    UndoFile.removeUnfinished(of: file)
    undoFile = try UndoFile.make(of: file, number: transaction.feedEnd() + 1) { write in
      try withoutActuallyEscaping(write) { write in
        try Exporter(tree: transaction.tree, layout: .compact) { bytes in
          try write(bytes)
          count += bytes.count
          try self.report(.keeping(bytes: count))
        }.exportNode(at: place)
      }
    }
  }

  // MARK: Undoing

  /// Restores the old nodes at the places of an entry; returns the places.
  func undo(_ entry: HistoryEntry, _ transaction: StoreTransaction, now: Int64) throws -> [Path] {
    let (whole, others) = (
      entry.parts.filter { $0.before != nil }, entry.parts.filter { $0.before == nil }
    )
    guard let part = whole.first, whole.count == 1 else {
      throw DatabaseError(.refused, "Write \(entry.id) cannot be undone: it is not known how.")
    }
    try transaction.checkNotUndone(entry)
    let since = try WritesSince(entry, at: part.path, transaction)
    try check(since, entry, part.path)
    for other in others where try transaction.historyValue(of: other) != other.values?.new {
      throw DocumentImport.changed(entry, other.name)
    }
    let members = others.map { JSONMember($0.name, $0.values?.old ?? .null) }
    let rest = try Write.update(.root, members).assignments(now: now, reader: transaction)
    try recording(part.path, transaction, now: now, undoes: entry.id) {
      try putBack(part, since.repetitions, transaction)
      for assignment in rest { try transaction.carryOut(assignment) }
    }
    return [part.path] + rest.map(\.path)
  }

  private func putBack(
    _ part: HistoryEntry.Part, _ repetitions: [Int64], _ transaction: StoreTransaction
  ) throws {
    if let kept = try keptFile(of: part, repetitions, transaction) {
      restoredFile = kept
      return try kept.withBytes(of: file) { bytes in
        var importer = try importer(transaction)
        try importer.importDocument(bytes, at: part.path)
      }
    }
    guard case .value(let json)? = part.before else { return }
    let node = try Node(json: json, at: part.path)
    try transaction.carryOut(Assignment(path: part.path, target: .node(node)))
  }

  /// The file with the old node of a place; nil if it stands in the entry.
  ///
  /// If the entry was undone before, that used up its file. What did the same again has a file with
  /// the same content.
  private func keptFile(
    of part: HistoryEntry.Part, _ repetitions: [Int64], _ transaction: StoreTransaction
  ) throws -> UndoFile? {
    guard let own = part.undoFile, !own.exists(of: file) else { return part.undoFile }
    for id in repetitions.reversed() {
      let parts = try transaction.historyEntry(id)?.parts ?? []
      let other = parts.first { $0.path == part.path && !$0.isPriority }?.undoFile
      if let other, other.exists(of: file) { return other }
    }
    return own
  }

  /// Throws if the result of an entry does not stand, or if that is not known any more.
  private func check(_ since: WritesSince, _ entry: HistoryEntry, _ path: Path) throws {
    guard let isUndone = since.isUndone else {
      throw DatabaseError(
        .changed,
        "Write \(entry.id) cannot be undone: it is not known any more what was written since. "
          + "Nothing was changed.")
    }
    if !isUndone { throw DocumentImport.changed(entry, path.description) }
  }

  private static func changed(_ entry: HistoryEntry, _ name: String) -> DatabaseError {
    var error = DatabaseError(
      .changed,
      "Write \(entry.id) cannot be undone: \(name) was written since. Nothing was changed.")
    error.places = entry.parts.map(\.path)
    return error
  }
}

extension StoreTransaction {
  /// The place of the node that a write to a place would replace; nil if there is none.
  fileprivate func occupiedPlace(for path: Path) throws -> Path? {
    for depth in 0...path.keys.count {
      let place = Path(unchecked: Array(path.keys[..<depth]))
      switch try tree.storedSummary(at: place).kind {
      case .empty: return nil
      case .leaf: return place
      case .children: if depth == path.keys.count { return place }
      }
    }
    return nil
  }

  /// Carries out the parts of a write, and records the old nodes.
  fileprivate func carryOut(_ parts: [Assignment], noting entry: HistoryText) throws {
    let recorder = try historyLimit() > 0 ? HistoryRecorder(parts, self) : nil
    for part in parts { try carryOut(part) }
    guard let written = try recorder?.parts(after: self) else { return }
    note(HistoryText(at: entry.at, author: entry.author, undoes: entry.undoes, parts: written))
  }
}
