public import RunnelTree

/// What an operation comes to: one write, and what hooks are told of it.
public struct ResourcePlan: Hashable, Sendable {
  /// Which record the operation is about.
  public var identity: ResourceIdentity
  /// Where it stands.
  public var path: Path
  /// All that is to be written, at once; nil if nothing is, because the record that was to be destroyed
  /// is not there.
  public var write: Write?
  /// The changes of records: the operation's own, then those of records destroyed with it, in the order
  /// in which they are logged.
  public var changes: [ResourceHookContext]
}
