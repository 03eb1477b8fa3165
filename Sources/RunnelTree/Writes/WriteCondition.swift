public import RunnelBase

/// What is to stand at a place for a write to be carried out: whoever read it and thought about it must
/// not replace what others wrote meanwhile.
public struct WriteCondition: Hashable, Sendable {
  /// The place.
  public var path: Path
  /// What is to stand there, as JSON, priorities left out; null for nothing.
  public var value: JSONValue

  /// Makes a condition.
  public init(_ path: Path, _ value: JSONValue) {
    self.path = path
    self.value = value
  }
}
