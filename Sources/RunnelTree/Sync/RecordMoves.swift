/// Where records stand that have got another key at the server: a service gives a new record its id.
///
/// Whatever names a record by its place follows it.
package struct RecordMoves: Hashable, Sendable {
  /// The greatest number of records; the oldest are forgotten first.
  private static let countMax = 10_000

  private var places: [Path: Path] = [:]
  private var order: [Path] = []

  /// Makes the moves to the places of some records.
  package init(_ places: [Path: Path] = [:]) { note(places) }

  /// Whether no record has moved.
  package var isEmpty: Bool { places.isEmpty }

  /// The former places and the new ones.
  package var all: [(old: Path, new: Path)] {
    order.compactMap { old in places[old].map { (old, $0) } }
  }

  /// Whether a record stood at a place that has moved.
  package func hasMoved(_ path: Path) -> Bool { places[path] != nil }

  /// Adds records that have moved.
  package mutating func note(_ new: [Path: Path]) {
    for (old, place) in new.sorted(by: { $0.key < $1.key }) {
      if places.updateValue(place, forKey: old) == nil { order.append(old) }
    }
    let extra = order.count - RecordMoves.countMax
    if extra <= 0 { return }
    for old in order.prefix(extra) { places[old] = nil }
    order.removeFirst(extra)
  }

  /// Returns where a record, or what stands below one, is now.
  ///
  /// O(depth).
  package func place(_ path: Path) -> Path {
    if places.isEmpty { return path }
    for depth in path.keys.indices {
      if let new = places[Path(unchecked: Array(path.keys[...depth]))] {
        return Path(unchecked: new.keys + path.keys.dropFirst(depth + 1))
      }
    }
    return path
  }
}
