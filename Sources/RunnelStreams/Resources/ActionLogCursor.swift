import RunnelBase
public import RunnelTree

/// The position of a consumer in an action log.
///
/// The position is kept in the tree: a consumer that was ended continues after the last entry that
/// it acknowledged, so that each entry is handled at least once.
///
/// Limit: on a replica, entries that other clients wrote offline may come before entries that were
/// read already. So a log should be consumed where its origin is; there each entry comes after all
/// earlier ones.
public struct ActionLogCursor: Hashable, Sendable {
  /// The most entries that are read at once.
  public static let batchMax = 100

  /// The place of the log.
  public let log: Path
  /// The place of the key of the last entry that was handled.
  public let checkpoint: Path

  /// Makes the cursor of a consumer.
  public init(log: Path, checkpoint: Path) {
    self.log = log
    self.checkpoint = checkpoint
  }

  /// The next entries of the log.
  public struct Batch: Hashable, Sendable {
    /// The entries, oldest first; children that are not entries are left out.
    public var entries: [ActionLogEntry]
    /// The key of the last child that was read, whether it is an entry or not; nil at the end of
    /// the log.
    public var end: Key?
  }

  /// The entries after those that were handled, at most `batchMax`.
  ///
  /// O(log n) and the entries.
  ///
  /// - Throws: `TreeError` (`storage`) if they cannot be read; `invalidValue` if the checkpoint
  ///   does not hold a key.
  public func next(from reader: some TreeReader) throws(TreeError) -> Batch {
    var slice = RowSlice(
      try Query(log).ordered(by: .key).limited(to: ActionLogCursor.batchMax, from: .first))
    if let handled = try handled(reader) {
      slice.start = Query.Bound(
        IndexPosition(value: .null, key: .key(handled)), isInclusive: false)
    }
    let rows = try reader.rows(of: log, in: slice, detail: .full)
    let entries = rows.compactMap { row in row.node.flatMap { ActionLogEntry(id: row.key, $0) } }
    return Batch(entries: entries, end: rows.last?.key)
  }

  private func handled(_ reader: some TreeReader) throws(TreeError) -> Key? {
    let node = try reader.node(at: checkpoint)
    if node.isEmpty { return nil }
    guard case .string(let text)? = node.leaf else {
      throw TreeError(
        .invalidValue, "A checkpoint is the key of an entry: remove what stands there.",
        path: checkpoint.description)
    }
    return try Key(text)
  }

  /// The write that marks everything up to an entry as handled.
  public func acknowledging(_ entry: Key) -> Write { .set(checkpoint, .string(entry.text)) }
}
