package import RunnelBase
package import RunnelStreams
package import RunnelTree

/// A request from the workspace to the database.
package enum Request: Hashable, Sendable {
  /// Carry out a write.
  case write(WriteRequest)
  /// Drop a write that the origin of a replica has not answered, by its id.
  case dropPending(Int64)
  /// Drop a write that the origin of a replica refused, by its id.
  case dropRefused(Int64)
  /// Read the value at a place.
  case value(Path)
  /// Read the beginning of the value at a place, and count its size.
  case excerpt(Path)
  /// Read the first records of a collection, by key.
  case records(of: Path, countMax: Int)
  /// Read entries of the history of a place, the newest first, all before an entry.
  case history(Path, before: Int64?, count: Int)
  /// Read which orders of the children of a place have an index.
  case orders(Path)
}

/// What the database, or its server, answered to a request.
package enum Answer: Sendable {
  /// A write is on disk, with the key of the record that it added and its entry of the history, or
  /// nil.
  case written(key: RunnelTree.Key?, entry: Int64?)
  /// A write was undone or redone, but for the changes where others have written since.
  case undonePartly(entry: Int64?, PartialUndo)
  /// An operation on a resource was carried out, or had nothing to do.
  case performed(Performed)
  /// The value at a place.
  case value(RunnelTree.Node)
  /// The beginning of the value at a place.
  case excerpt(NodeExcerpt)
  /// The records of a collection.
  case records([TreeRow])
  /// Entries of the history.
  case history(HistoryPage)
  /// The orders that have an index.
  case orders([String])
  /// The number of records that were counted, and whether there are more.
  case count(Int, hasMore: Bool)
  /// Who is connected to the server of the database.
  case clients(ClientPage)
  /// A connection to the server was ended; false if there was none of this number.
  case disconnected(Bool)
  /// Something was done with an account; the id is that of the user who is signed in by it, or whose
  /// account comes next. `isLater` says that the server has not confirmed a sign-out, and will be told later.
  case account(user: String?, isLater: Bool = false)
  /// Something was done with the user's devices.
  case devices(DeviceOutcome)
  /// The result of a method of a service.
  case result(JSONValue)
  /// The request was refused, or failed; nothing changed.
  case refused(Refusal)
}

/// The result of an operation on a resource.
package struct Performed: Hashable, Sendable {
  /// The record.
  package var path: Path
  /// The resource.
  package var resource: String
  /// The kind of change, or nil if nothing was changed.
  package var kind: ResourceChangeKind?
  /// The changes of the record and of the records destroyed with it, to undo them.
  package var changes: [RunnelStreams.ActionLogEntry] = []

  package init(
    path: Path, resource: String, kind: ResourceChangeKind? = nil,
    changes: [RunnelStreams.ActionLogEntry] = []
  ) {
    self.path = path
    self.resource = resource
    self.kind = kind
    self.changes = changes
  }
}
