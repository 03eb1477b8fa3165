import RunnelBase

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

extension RecordMoves {
  /// Returns a write as it is to be made at the places where its records are now.
  ///
  /// What makes a record anew under a former key is another record, and stays.
  package func followed(_ write: PendingWrite) -> PendingWrite {
    if places.isEmpty { return write }
    var result = write
    var moved: Set<Path> = []
    for (index, part) in write.parts.enumerated() {
      let new = place(part.path)
      let base = index < write.bases.count ? write.bases[index] : nil
      let makesAnew =
        hasMoved(part.path) && part.target != .node(.empty) && base?.isEmpty != false
      if new == part.path || makesAnew { continue }
      moved.insert(part.path)
      result.parts[index].path = new
    }
    if moved.isEmpty { return write }
    switch write.write {
    case .set(let path, let json):
      if moved.contains(path) { result.write = .set(place(path), json) }
    case .update(let path, let members):
      let newPath = place(path)
      let newMembers = members.map { member in
        guard let old = try? path.appending(Path(member.name)), moved.contains(old),
          let name = place(old).relative(to: newPath)
        else { return member }
        return JSONMember(name.keys.map(\.text).joined(separator: "/"), member.value)
      }
      result.write = .update(newPath, newMembers)
    case .copy, .move: return write
    }
    return result
  }
}
