public import RunnelBase
public import RunnelTree

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

  /// - Throws: `DatabaseError` (`changed`) that names the first place that does not stand as expected.
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
  /// Carries out a write, if places stand as expected.
  ///
  /// No process writes between the look at the places and the write.
  ///
  /// - Returns: what listeners of this session are to be told, in order.
  /// - Throws: `DatabaseError` (`changed` if a place does not stand as expected); then nothing was
  ///   written.
  public func write(
    _ write: Write, if conditions: [WriteCondition]
  ) throws -> [Delivery] {
    try self.write { reader, _ in
      try WriteCondition.check(conditions, reader)
      return write
    }
  }
}
