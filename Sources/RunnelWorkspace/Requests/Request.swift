import RunnelBase
package import RunnelStreams
package import RunnelTree

/// What the workspace asks of the database.
package enum Request: Hashable, Sendable {
  /// Carry out a write.
  case write(WriteRequest)
  /// Give up a write that the origin of a replica has not answered, by its id.
  case dropPending(Int64)
  /// Read what stands at a place.
  case value(Path)
  /// Read the beginning of what stands at a place, and count its size.
  case excerpt(Path)
  /// Read the first records of a collection, by key.
  case records(of: Path, countMax: Int)
  /// Read entries of the history of a place, the newest first: those before one.
  case history(Path, before: Int64?, count: Int)
  /// Ask which orders of the children of a place have an index.
  case orders(Path)
  /// Save the whole database to a new file.
  case saveCopy(String)
}

/// What the database, or its server, answered to a request.
package enum Answer: Sendable {
  /// A write is on disk: the key of the record it added, and its entry of the history, if there are any.
  case written(key: RunnelTree.Key?, entry: Int64?)
  /// An operation on a resource was carried out, or had nothing to do.
  case performed(Performed)
  /// What stands at a place.
  case value(RunnelTree.Node)
  /// The beginning of what stands at a place.
  case excerpt(NodeExcerpt)
  /// The records of a collection.
  case records([TreeRow])
  /// Entries of the history.
  case history(HistoryPage)
  /// The orders that have an index.
  case orders([String])
  /// The whole database was saved to a new file.
  case copied(file: String, bytes: Int)
  /// Who is connected to the server of the database.
  case clients(ClientPage)
  /// A connection to the server was ended; false if there was none of this number.
  case disconnected(Bool)
  /// The request was refused, or failed; nothing changed.
  case refused(Refusal)
}

/// What an operation on a resource came to.
package struct Performed: Hashable, Sendable {
  /// The record.
  package var path: Path
  /// The resource.
  package var resource: String
  /// What became of it; nil if nothing did.
  package var kind: ResourceChangeKind?
  /// What became of it and of the records destroyed with it, to be taken back.
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
