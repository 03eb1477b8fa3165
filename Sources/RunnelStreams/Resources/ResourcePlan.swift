package import RunnelTree

/// The result of planning an operation: one write, and the changes for hooks.
package struct ResourcePlan: Hashable, Sendable {
  /// The record that the operation is about.
  package var identity: ResourceIdentity
  /// The place of the record.
  package var path: Path
  /// The whole plan as one write; nil if there is nothing to write, because a record to be
  /// destroyed does not exist.
  package var write: Write?
  /// The changes of records: the operation's own, then those of records destroyed with it, in the order
  /// in which they are logged.
  package var changes: [ResourceHookContext]
}
