import RunnelBase
import RunnelTree

/// Notes what a write changes, so that it can be told and undone.
///
/// A write can change more than its places: a leaf above one gives way to children, and a parent that
/// is emptied loses its priority. So a place below a leaf is noted as that of the leaf, and the
/// priorities above are noted where they went.
struct HistoryRecorder {
  /// The places whose nodes are written; none is within another.
  private var nodes: [HistoryEntry.Part] = []
  /// The priorities that are written, or may go.
  private var priorities: [HistoryEntry.Part] = []
  /// What the write makes of a place, where it says so itself.
  private var written: [Path: Node] = [:]

  /// Reads what stands where `parts` are about to be done.
  init(_ parts: [Assignment], _ transaction: StoreTransaction) throws {
    var above = AncestorSummaries(transaction)
    var places: Set<Path> = []
    for part in parts {
      guard case .node(let node) = part.target else { continue }
      let place = try above.leaf(above: part.path) ?? part.path
      places.insert(place)
      written[part.path] = node
    }
    func isWithinAnother(_ place: Path) -> Bool {
      places.contains { $0 != place && $0.contains(place) }
    }
    for place in places.sorted() where !isWithinAnother(place) {
      nodes.append(try HistoryRecorder.part(place, isPriority: false, transaction))
    }
    try notePriorities(parts, places, &above)
  }

  /// Notes the priorities of the places on the way that are not noted with a node.
  private mutating func notePriorities(
    _ parts: [Assignment], _ places: Set<Path>, _ above: inout AncestorSummaries
  ) throws {
    var paths: [Path: Bool] = [:]
    for part in parts {
      paths[part.path] = true
      for depth in part.path.keys.indices {
        let ancestor = Path(unchecked: Array(part.path.keys[..<depth]))
        paths[ancestor] = paths[ancestor] ?? false
      }
    }
    for (path, isWritten) in paths where !places.contains(where: { $0.contains(path) }) {
      let old = try above.summary(path).priority?.json ?? .null
      if !isWritten, old == .null { continue }
      var part = HistoryEntry.Part(path: path, isPriority: true)
      part.values = HistoryEntry.Part.Values(old: old, new: .null)
      priorities.append(part)
    }
    priorities.sort { $0.path < $1.path }
  }

  /// What was written, once it has been.
  func parts(after transaction: StoreTransaction) throws -> [HistoryEntry.Part] {
    try (nodes + priorities).compactMap { part in
      var part = part
      let new = try value(of: part, after: transaction)
      if part.isPriority, part.values?.old == new { return nil }
      guard let new, let old = part.values?.old else {
        part.values = nil
        return part
      }
      part.values = HistoryEntry.Part.Values(old: old, new: new)
      return part
    }
  }

  private func value(
    of part: HistoryEntry.Part, after transaction: StoreTransaction
  ) throws -> JSONValue? {
    guard !part.isPriority, let node = written[part.path] else {
      return try transaction.historyValue(of: part)
    }
    let json = node.exportJSON
    // JSON has a nil of its own, so that a choice between both must be spelled out.
    if json.jsonBytes().count > History.valueBytesMax { return Optional.none }
    return json
  }

  private static func part(
    _ path: Path, isPriority: Bool, _ transaction: StoreTransaction
  ) throws -> HistoryEntry.Part {
    var part = HistoryEntry.Part(path: path, isPriority: isPriority)
    if let old = try transaction.historyValue(of: part) {
      part.values = HistoryEntry.Part.Values(old: old, new: .null)
    }
    return part
  }
}

/// The kinds and priorities of places above a write, each read once.
private struct AncestorSummaries {
  private let transaction: StoreTransaction
  private var known: [Path: NodeSummary] = [:]

  init(_ transaction: StoreTransaction) { self.transaction = transaction }

  mutating func summary(_ path: Path) throws -> NodeSummary {
    if let summary = known[path] { return summary }
    let summary = try transaction.storedSummary(at: path)
    known[path] = summary
    return summary
  }

  /// The place of a leaf above a path, which gives way to children; nil if there is none.
  mutating func leaf(above path: Path) throws -> Path? {
    for depth in path.keys.indices {
      let place = Path(unchecked: Array(path.keys[..<depth]))
      switch try summary(place).kind {
      case .leaf: return place
      case .empty: return nil
      case .children: continue
      }
    }
    return nil
  }
}

extension StoreTransaction {
  /// What stands where a part of an entry is; nil if it is too large to keep.
  func historyValue(of part: HistoryEntry.Part) throws -> JSONValue? {
    if part.isPriority { return try storedSummary(at: part.path).priority?.json ?? .null }
    return try exportIfSmall(part.path, maxBytes: History.valueBytesMax)
  }
}
