public import RunnelBase

/// A condition of a write: the expected value of a place.
///
/// The condition prevents a writer who has read the place from replacing what others wrote
/// meanwhile.
public struct WriteCondition: Hashable, Sendable {
  /// The place.
  public var path: Path
  /// The expected value as JSON without priorities; null for nothing.
  public var value: JSONValue

  /// Makes a condition.
  public init(_ path: Path, _ value: JSONValue) {
    self.path = path
    self.value = value
  }
}
