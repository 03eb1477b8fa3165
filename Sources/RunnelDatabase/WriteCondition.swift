public import RunnelBase
public import RunnelTree

/// A condition of a write on a place: somebody who read the place and edited it must not replace
/// what others wrote meanwhile.
public struct WriteCondition: Hashable, Sendable {
  /// The place.
  public var path: Path
  /// The expected value as JSON, without priorities; null for none.
  public var value: JSONValue

  /// Makes a condition.
  public init(_ path: Path, _ value: JSONValue) {
    self.path = path
    self.value = value
  }

  /// - Throws: `DatabaseError` (`changed`) with the first place that has another value.
  static func check(_ conditions: [WriteCondition], _ reader: any TreeReader) throws {
    for condition in conditions {
      let present = try reader.node(at: condition.path)
      if try present.json == Node(json: condition.value).json { continue }
      throw DatabaseError(
        .changed, "\(condition.path) was changed meanwhile. Nothing was written.")
    }
  }
}

extension DatabaseSession {
  /// Carries out a write, if conditions hold.
  ///
  /// No process can write between the check and the write.
  ///
  /// - Returns: what listeners of this session are to be told, in order.
  /// - Throws: `DatabaseError` (`changed` if a condition does not hold); then nothing was written.
  public func write(
    _ write: Write, if conditions: [WriteCondition]
  ) throws -> [Delivery] {
    try self.write { reader, _ in
      try WriteCondition.check(conditions, reader)
      return write
    }
  }
}
