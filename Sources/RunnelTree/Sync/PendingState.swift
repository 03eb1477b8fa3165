/// Which of what is shown at a place waits for the origin's answer.
public struct PendingState: Hashable, Sendable {
  /// True if a pending write gives all of the place, or its priority.
  public var isWhole: Bool
  /// The children that a pending write changes, as a whole or in part.
  public var children: Set<Key>

  /// Makes a state; by itself nothing is pending.
  public init(isWhole: Bool = false, children: Set<Key> = []) {
    self.isWhole = isWhole
    self.children = children
  }

  /// True if nothing is pending.
  public var isSettled: Bool { !isWhole && children.isEmpty }
}

extension ReplicaBook {
  /// What is pending at a place.
  ///
  /// O(n) in the pending writes.
  public func pendingState(at path: Path) -> PendingState {
    var state = PendingState()
    for write in pending where write.isVisible {
      for part in write.parts {
        if part.path == path || part.path.contains(path) {
          // The priority of a place above is no part of this one.
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
