import RunnelBase
import RunnelTree

/// Notes what a write changes, so that it can be told and undone.
///
/// A write can change more than its places: a leaf above one gives way to children, and a parent that
/// is emptied loses its priority. So a place below a leaf is noted as that of the leaf, and the
/// priorities above a removal are noted where they went.
struct HistoryRecorder {
  /// What stands at a place, as JSON text in the export format.
  private struct Note {
    var path: Path
    /// Nil if it is too large to keep.
    var old: [UInt8]?
  }

  /// The places whose nodes are written; none is within another.
  private var nodes: [Note] = []
  /// The places whose priorities are written, or may go.
  private var priorities: [Note] = []
  /// What the write makes of a place, where it says so itself.
  private var written: [Path: Node] = [:]
  /// True if what stood before is kept even where what stands since is too large.
  private var keepsOld = false
  /// The file of what stood at the one place, if that was too large.
  var file: UndoFile?

  /// Reads what stands where `parts` are about to be done.
  init(_ parts: [Assignment], _ transaction: StoreTransaction) throws {
    for part in parts {
      guard case .node(let node) = part.target else { continue }
      let (path, old) = try transaction.standing(at: part.path)
      nodes.append(Note(path: path, old: old))
      written[part.path] = node
    }
    if nodes.count > 1 { nodes = HistoryRecorder.outermost(nodes) }
    try notePriorities(parts, transaction)
  }

  /// Reads what stands at a place of which an import is about to change anything.
  init(wholeOf path: Path, _ transaction: StoreTransaction) throws {
    // Above it, priorities may go, as if it were removed.
    try self.init([Assignment(path: path, target: .node(.empty))], transaction)
    written = [:]
    keepsOld = true
  }

  /// The place that is noted, of one whose old value is too large to keep; nil if it is kept.
  var placeTooLarge: Path? { nodes.first { $0.old == nil }?.path }

  /// The notes that are not within another, each once, in the order of their places.
  private static func outermost(_ notes: [Note]) -> [Note] {
    var result: [Note] = []
    // What is within a place follows it at once.
    for note in notes.sorted(by: { $0.path < $1.path }) {
      if let last = result.last, last.path.contains(note.path) { continue }
      result.append(note)
    }
    return result
  }

  /// Notes the priorities that are written, and those that may go since something below is removed.
  private mutating func notePriorities(
    _ parts: [Assignment], _ transaction: StoreTransaction
  ) throws {
    var paths: Set<Path> = []
    for part in parts {
      switch part.target {
      case .priority: paths.insert(part.path)
      case .node(let node) where node.isEmpty:
        for depth in part.path.keys.indices {
          paths.insert(Path(unchecked: Array(part.path.keys[..<depth])))
        }
      case .node: break
      }
    }
    for path in paths.sorted() where !nodes.contains(where: { $0.path.contains(path) }) {
      priorities.append(Note(path: path, old: try transaction.priorityText(at: path)))
    }
  }

  /// What was written, once it has been, as the text of the entry's parts; nil if it was nothing.
  func parts(after transaction: StoreTransaction) throws -> [UInt8]? {
    var writer = JSONWriter()
    var isEmpty = true
    func write(_ note: Note, _ new: [UInt8]?, isPriority: Bool) {
      isEmpty = false
      let values = note.old.flatMap { old in new.map { (old: old, new: $0) } }
      HistoryEntry.Part.write(
        note.path, isPriority: isPriority, values: values, before: keepsOld ? note.old : nil,
        file: isPriority ? nil : file, to: &writer)
    }
    writer.beginArray()
    for note in nodes {
      let new = try newText(at: note.path, transaction)
      // What stays as it was is nothing to undo. Two that are too large to keep are not compared.
      if let new, new == note.old { continue }
      write(note, new, isPriority: false)
    }
    for note in priorities {
      let new = try transaction.priorityText(at: note.path)
      if note.old != new { write(note, new, isPriority: true) }
    }
    writer.endArray()
    return isEmpty ? nil : writer.bytes
  }

  private func newText(at path: Path, _ transaction: StoreTransaction) throws -> [UInt8]? {
    if let node = written[path] { return transaction.textIfSmall(node) }
    return try transaction.exportIfSmall(path, maxBytes: History.valueBytesMax)
  }
}

extension StoreTransaction {
  /// What stands where something is about to be written, or at the leaf above that gives way to it.
  ///
  /// The place of the one or the other, and its JSON in the export format; nil if it is too large to
  /// keep. One way down to the row.
  fileprivate func standing(at path: Path) throws -> (path: Path, json: [UInt8]?) {
    switch try location(of: path, isMissingChecked: false) {
    case .missing: return (path, textIfSmall(.empty))
    case .row(.record(let bytes)):
      return (path, bytes.count > History.valueBytesMax ? nil : bytes)
    case .row(.split): return (path, try exportIfSmall(path, maxBytes: History.valueBytesMax))
    case .inside(let record, var rest):
      let node = try RecordCoding.node(record)
      let depth = path.keys.count - rest.keys.count
      rest = node.pathOfLeaf(towards: rest) ?? rest
      let place = Path(unchecked: Array(path.keys[..<(depth + rest.keys.count)]))
      return (place, textIfSmall(node[rest]))
    }
  }

  /// A priority as JSON text; null if there is none.
  fileprivate func priorityText(at path: Path) throws -> [UInt8] {
    (try storedSummary(at: path).priority?.json ?? .null).jsonBytes()
  }

  /// A node as JSON text in the export format; nil if it is too large to keep.
  fileprivate func textIfSmall(_ node: Node) -> [UInt8]? {
    let text = writer.record(node)
    return text.count > History.valueBytesMax ? nil : text
  }

  /// What stands where a part of an entry is; nil if it is too large to keep.
  func historyValue(of part: HistoryEntry.Part) throws -> JSONValue? {
    if part.isPriority { return try storedSummary(at: part.path).priority?.json ?? .null }
    let text = try exportIfSmall(part.path, maxBytes: History.valueBytesMax)
    // JSON has a nil of its own, so that a choice between both must be spelled out.
    guard let text else { return Optional.none }
    return try JSONValue(parsing: String(decoding: text, as: UTF8.self))
  }
}

extension Node {
  /// The path of the leaf that stands on the way to a place below; nil if none does.
  fileprivate func pathOfLeaf(towards path: Path) -> Path? {
    var node = self
    for (depth, key) in path.keys.enumerated() {
      if node.leaf != nil { return Path(unchecked: Array(path.keys[..<depth])) }
      node = node[key]
    }
    return nil
  }
}
