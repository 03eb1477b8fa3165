import RunnelBase
import RunnelStorage
import RunnelTree

/// Records the changes of a write, so that they can be shown and undone.
///
/// A write can change more than its places: a leaf above a place is replaced by children, and a
/// parent that becomes empty loses its priority. So a place below a leaf is recorded as the place
/// of the leaf, and the priorities above a removal are recorded if they are lost.
struct HistoryRecorder {
  /// The value at a place, as JSON text in the export format.
  private struct Note {
    var path: Path
    /// The text; nil if it is too large to keep, or not known.
    var old: [UInt8]?
    /// True if a replica knows only a part of it.
    var isPartlyKnown = false
  }

  /// The places whose nodes are written; none is within another.
  private var nodes: [Note] = []
  /// The places whose priorities are written, or may be lost.
  private var priorities: [Note] = []
  /// The new nodes of places, if the write contains them.
  private var written: [Path: Node] = [:]
  /// True if the old value is kept even if the new one is too large.
  private var keepsOld = false
  /// The file with the old value of the one place, if that was too large.
  var file: UndoFile?

  /// Reads the old values before `parts` are carried out; of the places that a replica knows only in part, none is
  /// kept.
  init(
    _ parts: [Assignment], _ transaction: StoreTransaction, partlyKnown: Set<Path> = []
  ) throws {
    for part in parts {
      guard case .node(let node) = part.target else { continue }
      if partlyKnown.contains(part.path) {
        nodes.append(Note(path: part.path, old: nil, isPartlyKnown: true))
      } else {
        let (path, old) = try transaction.standing(at: part.path)
        nodes.append(Note(path: path, old: old))
      }
      written[part.path] = node
    }
    if nodes.count > 1 { nodes = HistoryRecorder.outermost(nodes) }
    try notePriorities(parts, transaction)
  }

  /// Reads the old value before an import, which may change anything at its place.
  init(wholeOf path: Path, _ transaction: StoreTransaction) throws {
    // The priorities above may be lost, as if the place were removed.
    try self.init([Assignment(path: path, target: .node(.empty))], transaction)
    written = [:]
    keepsOld = true
  }

  /// The recorded place whose old value is too large to keep; nil if there is none.
  var placeTooLarge: Path? { nodes.first { $0.old == nil }?.path }

  /// The notes that are not within another, each once, in the order of their places.
  private static func outermost(_ notes: [Note]) -> [Note] {
    var result: [Note] = []
    // Places within a place follow it directly.
    for note in notes.sorted(by: { $0.path < $1.path }) {
      if let last = result.last, last.path.contains(note.path) { continue }
      result.append(note)
    }
    return result
  }

  /// Records the priorities that are written, and those that may be lost by a removal below.
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
    let noted = Set(nodes.map(\.path))
    for path in paths.sorted() where !path.isWithin(noted) {
      priorities.append(Note(path: path, old: try transaction.priorityText(at: path)))
    }
  }

  /// The changes after the write, as the text of the entry's parts; nil if nothing changed.
  ///
  /// `operation` is the record of the operation that made the write, if one did.
  func parts(
    after transaction: StoreTransaction, operation: Path? = nil
  ) throws -> [UInt8]? {
    var writer = JSONWriter()
    var isEmpty = true
    // The old value of a single place is kept even if its new value is too large to compare.
    let isAlone = nodes.count == 1
    func write(_ note: Note, _ new: [UInt8]?, isPriority: Bool) {
      let record = isEmpty ? operation : nil
      isEmpty = false
      let values = note.old.flatMap { old in new.map { (old: old, new: $0) } }
      HistoryEntry.Part.write(
        note.path, isPriority: isPriority, values: values,
        before: keepsOld || isAlone && new == nil ? note.old : nil,
        file: isPriority ? nil : file, operation: record, isPartlyKnown: note.isPartlyKnown,
        to: &writer)
    }
    writer.beginArray()
    for note in nodes {
      let new = try newText(at: note.path, transaction)
      // An unchanged value needs no undoing. Values that are too large to keep are not compared.
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
  /// The node that a write to a place replaces: the node at the place, or a leaf above it.
  ///
  /// Returns its place, and its JSON in the export format; nil if it is too large to keep. The tree
  /// is descended once.
  fileprivate func standing(at path: Path) throws -> (path: Path, json: [UInt8]?) {
    switch try tree.location(of: path, isMissingChecked: false) {
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
    (try tree.storedSummary(at: path).priority?.json ?? .null).jsonBytes()
  }

  /// A node as JSON text in the export format; nil if it is too large to keep.
  fileprivate func textIfSmall(_ node: Node) -> [UInt8]? {
    let text = tree.writer.record(node)
    return text.count > History.valueBytesMax ? nil : text
  }

  /// The present value at the place of a part; nil if it is too large to keep.
  func historyValue(of part: HistoryEntry.Part) throws -> JSONValue? {
    if part.isPriority { return try tree.storedSummary(at: part.path).priority?.json ?? .null }
    let text = try exportIfSmall(part.path, maxBytes: History.valueBytesMax)
    // JSON has a null of its own, so Swift's nil must be written out.
    guard let text else { return Optional.none }
    return try JSONValue(parsing: String(decoding: text, as: UTF8.self))
  }
}

extension Path {
  /// True if the place, or one above it, is among places.
  ///
  /// O(d²) in the depth, however many places there are.
  fileprivate func isWithin(_ places: Set<Path>) -> Bool {
    (0...keys.count).contains { places.contains(Path(unchecked: Array(keys[..<$0]))) }
  }
}

extension Node {
  /// The path of the leaf on the way to a place below; nil if there is none.
  fileprivate func pathOfLeaf(towards path: Path) -> Path? {
    var node = self
    for (depth, key) in path.keys.enumerated() {
      if node.leaf != nil { return Path(unchecked: Array(path.keys[..<depth])) }
      node = node[key]
    }
    return nil
  }
}
