import RunnelBase
package import RunnelTree

extension DatabaseSession {
  /// Writes an edited node, which others may have changed since it was read.
  ///
  /// If others changed it, `policy` decides what is written; none of their changes is lost unless
  /// the policy says so. The node is read and written in one transaction.
  ///
  /// - Parameters:
  ///   - mine: the edited node.
  ///   - path: the place.
  ///   - base: the node as it was read before the editing.
  ///   - policy: the rule for conflicts; nil takes the policy of the session's environment.
  /// - Returns: the node that was written, and the deliveries for listeners of this session, in
  ///   order.
  /// - Throws: `DatabaseError`; then nothing was written.
  package func merge(
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
