package import RunnelStreams
package import RunnelTree

/// A message of a database.
package enum DatabaseMessage: Sendable {
  /// Events for listeners. One message is one batch: the result of one write, of one request, or of
  /// reading the writes of other processes once.
  case deliveries([Delivery])
  /// A write is on disk. Its deliveries came before.
  ///
  /// On a tree of its own that is all; on a replica the origin's answer follows, maybe much later.
  /// The entry is that of the history; nil if the write made none.
  case written(Int, key: Key?, entry: Int64?)
  /// A write of the history was undone, but for the changes where others have written since; the
  /// undoing is on disk.
  case undonePartly(Int, entry: Int64?, PartialUndo)
  /// An operation on a resource is on disk, or there was nothing to write; otherwise as `written`.
  case performed(Int, ResourcePlan)
  /// An operation on a resource was refused; nothing changed.
  case resourceRefused(Int, ResourceError)
  /// The node that was read.
  case found(Int, Node)
  /// The excerpt that was read.
  case excerpt(Int, NodeExcerpt)
  /// The rows that were read, in their order.
  case rows(Int, [TreeRow])
  /// The entries of the history that were read.
  case history(Int, HistoryPage)
  /// The orders of a place that are kept in an index, besides that of the keys.
  case orders(Int, [QueryIndex])
  /// The origin of a replica did a write.
  case acknowledged(Int)
  /// The origin of a replica refused the pending write with this id; the data below it show again,
  /// which was delivered before. The number is nil for a write of another process or an earlier run.
  case rejected(Int?, write: Int64, TreeError)
  /// All writes that the origin of a replica has not answered, oldest first, also those of other
  /// processes and of earlier runs. The message is posted at first if there are any, and whenever
  /// they change.
  case pendingWrites([PendingWrite])
  /// All writes that the origin of a replica refused and nobody has sent again or dropped, oldest first, whichever
  /// process they are of. As `pendingWrites`; posted to those that keep them.
  case refusedWrites([KeptRefusal])
  /// The commands for the origin of a replica, in order.
  case origin([OriginCommand])
  /// The request with the number was refused or failed; nothing changed.
  case refused(Int, DatabaseError)
  /// A listener could not be registered or extended.
  case failed(ListenerID, DatabaseError)
  /// A listener was registered by reading all children of a place; the index makes that faster.
  case advice(IndexAdvice)
  /// The writes of other processes could not be read; the database tries again by itself.
  case stale(DatabaseError)
  /// Where a copy of the whole database is made, or how far it is.
  case copying(Int, CopyStage)
  /// The file, or a part of it, is gone or was replaced: all requests are refused. Told once.
  case fileGone(DatabaseError)
  /// The file that was moved away is at its place again as it was; requests are carried out again.
  case fileBack
}
