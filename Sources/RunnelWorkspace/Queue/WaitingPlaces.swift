package import RunnelTree

/// The places of the writes that wait for the origin of a replica, for the signs of rows.
package struct WaitingPlaces: Hashable, Sendable {
  /// The places that are written.
  private var written: Set<Path> = []
  /// The places above these.
  private var above: Set<Path> = []

  /// Makes the places of writes.
  ///
  /// O(n) in their parts and the depth of these.
  init(_ writes: [PendingWrite]) {
    for write in writes where write.isVisible {
      for part in write.parts where written.insert(part.path).inserted {
        var place = part.path.parent
        // Where one place above is known, those above it are too.
        while let next = place, above.insert(next).inserted { place = next.parent }
      }
    }
  }

  /// Whether nothing is written.
  var isEmpty: Bool { written.isEmpty }

  /// Returns whether a write is at a place, above it or below it.
  ///
  /// O(depth).
  package func touch(_ path: Path) -> Bool {
    if written.isEmpty { return false }
    if above.contains(path) { return true }
    var place: Path? = path
    while let next = place {
      if written.contains(next) { return true }
      place = next.parent
    }
    return false
  }
}
