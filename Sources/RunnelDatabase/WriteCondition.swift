import RunnelBase
package import RunnelTree

extension WriteCondition {
  /// Checks conditions; those at `/.info` are compared with `info`, the state of the connection.
  ///
  /// - Throws: `DatabaseError` (`changed`) that names the first place without the expected value.
  static func check(
    _ conditions: [WriteCondition], _ reader: any TreeReader, _ info: ConnectionInfo
  ) throws {
    for condition in conditions {
      let path = condition.path
      let present = try path.isInfo ? info.node(at: path) : reader.node(at: path)
      if condition.isAnyObject {
        if present.leaf == nil, !present.isEmpty { continue }
      } else if try present.json == Node(json: condition.value).json {
        continue
      }
      throw DatabaseError(
        .changed, "\(path) was changed meanwhile. Nothing was written.")
    }
  }
}

extension DatabaseSession {
  /// Carries out a write, if conditions hold.
  ///
  /// No process can write between the check and the write.
  ///
  /// - Returns: the deliveries for listeners of this session, in order.
  /// - Throws: `DatabaseError` (`changed` if a condition does not hold); then nothing was written.
  package func write(
    _ write: Write, if conditions: [WriteCondition]
  ) throws -> [Delivery] {
    let info = connectionInfo
    return try self.write { reader, _ in
      try WriteCondition.check(conditions, reader, info)
      return write
    }
  }
}
