/// The part of a place that is shown but not yet confirmed by the origin.
public struct PendingState: Hashable, Sendable {
  /// True if a pending write replaces the whole place, or its priority.
  public var isWhole: Bool
  /// The children that a pending write changes, as a whole or in part.
  public var children: Set<Key>

  /// Makes a state; without arguments nothing is pending.
  public init(isWhole: Bool = false, children: Set<Key> = []) {
    self.isWhole = isWhole
    self.children = children
  }

  /// True if nothing is pending.
  public var isSettled: Bool { !isWhole && children.isEmpty }
}

extension ReplicaBook {
  /// Returns the pending changes at a place.
  ///
  /// O(n) in the pending writes.
  package func pendingState(at path: Path) -> PendingState {
    var state = PendingState()
    for write in pending where write.isVisible {
      for part in write.parts {
        if part.path == path || part.path.contains(path) {
          // The priority of a place above does not belong to this place.
          if case .priority = part.target, part.path != path { continue }
          state.isWhole = true
        } else if path.contains(part.path) {
          state.children.insert(part.path.keys[path.keys.count])
        }
      }
    }
    return state
  }
}
