package import RunnelTree

/// The places of a replica where the program writes by itself, such as who is here: nothing of the user's waits, or
/// is lost, there.
package struct OwnPlaces: Hashable, Sendable {
  let places: [Path]

  /// Makes the places.
  package init(_ places: [Path] = []) { self.places = places }

  /// Returns these places and others; those that are known already are there once.
  package func union(_ others: [Path]) -> OwnPlaces {
    OwnPlaces(others.reduce(into: places) { if !$0.contains($1) { $0.append($1) } })
  }

  /// Whether a write changes nothing elsewhere.
  package func cover(_ write: PendingWrite) -> Bool {
    places.contains { place in write.parts.allSatisfy { place.contains($0.path) } }
  }
}
