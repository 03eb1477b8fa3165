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

  /// Reads what stands where `parts` are about to be done.
  init(_ parts: [Assignment], _ transaction: StoreTransaction) throws {
    let nodeParts = parts.filter { if case .node = $0.target { true } else { false } }
    let places = try Set(nodeParts.map { try HistoryRecorder.place(of: $0.path, transaction) })
    func isWithinAnother(_ place: Path) -> Bool {
      places.contains { $0 != place && $0.contains(place) }
    }
    for place in places.sorted() where !isWithinAnother(place) {
      nodes.append(try HistoryRecorder.part(place, isPriority: false, transaction))
    }
    var above = Set(parts.map(\.path))
    for part in parts {
      for depth in part.path.keys.indices {
        above.insert(Path(unchecked: Array(part.path.keys[..<depth])))
      }
    }
    for path in above.sorted() where !places.contains(where: { $0.contains(path) }) {
      let part = try HistoryRecorder.part(path, isPriority: true, transaction)
      let isWritten = parts.contains { $0.path == path }
      if isWritten || part.values?.old != .null { priorities.append(part) }
    }
  }

  /// What was written, once it has been.
  func parts(after transaction: StoreTransaction) throws -> [HistoryEntry.Part] {
    try (nodes + priorities).compactMap { part in
      var part = part
      let new = try transaction.historyValue(of: part)
      if part.isPriority, part.values?.old == new { return nil }
      guard let new, let old = part.values?.old else {
        part.values = nil
        return part
      }
      part.values = HistoryEntry.Part.Values(old: old, new: new)
      return part
    }
  }

  /// The place that changes as a whole if `path` is written: that of a leaf above it, or itself.
  private static func place(of path: Path, _ transaction: StoreTransaction) throws -> Path {
    for depth in path.keys.indices {
      let above = Path(unchecked: Array(path.keys[..<depth]))
      switch try transaction.storedSummary(at: above).kind {
      case .leaf: return above
      case .empty: return path
      case .children: continue
      }
    }
    return path
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

extension StoreTransaction {
  /// What stands where a part of an entry is; nil if it is too large to keep.
  func historyValue(of part: HistoryEntry.Part) throws -> JSONValue? {
    if part.isPriority { return try storedSummary(at: part.path).priority?.json ?? .null }
    return try exportIfSmall(part.path, maxBytes: History.valueBytesMax)
  }
}
