import RunnelBase
public import RunnelTree

extension DatabaseSession {
  /// Writes what somebody made of a node, who may not know what others made of it meanwhile.
  ///
  /// If others wrote there since, `policy` says what is to stand there; nothing they wrote is lost
  /// unless it says so.
  ///
  /// - Parameters:
  ///   - mine: what the node is to be.
  ///   - path: the place.
  ///   - base: what stood there when the change was begun.
  ///   - policy: what becomes of a conflict; nil takes the policy of the session's environment.
  /// - Returns: what stands there now, and what listeners of this session are to be told, in order.
  /// - Throws: `DatabaseError`; then nothing was written.
  public func merge(
    _ mine: Node, at path: Path, base: Node, policy: ConflictPolicy? = nil
  ) throws -> (node: Node, deliveries: [Delivery]) {
    let policy = policy ?? environment.conflictPolicy
    let resolved = { (theirs: Node) in
      theirs == base
        ? mine
        : policy.resolve(Conflict(path: path, base: base, mine: mine, theirs: theirs))
    }
    var node = mine
    let deliveries = try core.write { reader, _ in
      node = resolved(try reader.node(at: path))
      return .set(path, node.exportJSON)
    }
    return (node, deliveries)
  }
}
