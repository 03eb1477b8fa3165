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
