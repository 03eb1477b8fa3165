public import RunnelBase

/// A command to the origin.
///
/// Commands are sent in order. The origin takes them in that order and answers each: see
/// `OriginMessage`.
public enum OriginCommand: Hashable, Sendable {
  /// Send the answer of a query, and every change of it; pushes for a tagged query carry the tag.
  /// The hash describes the data that is known here.
  ///
  /// The origin answers with `listenComplete` or `listenRefused`.
  case listen(AskID, Query, tag: Int?, known: KnownHash)
  /// Stop sending for the query that was asked under this id.
  ///
  /// The origin answers with `unlistened`.
  case unlisten(AskID, Query, tag: Int?)
  /// Do a write. The origin does it once for each id, however often it is sent.
  case write(id: Int64, Write)
  /// Do a write if the nodes at some of its places have these hashes; it is sent again under its id until it is
  /// answered. If one has another hash, the origin sends the nodes that stand there, and answers with `stale`.
  ///
  /// An origin that cannot compare does the write.
  case writeIf(id: Int64, Write, hashes: [PlaceHash])
  /// Set a place if the node there has this hash: for a transaction, or a write under a condition.
  /// The latter is sent again under its id until it is answered, so an origin that has done it answers
  /// the same again; or with `stale`, after the node that it left.
  case compareAndSet(id: Int64, Path, JSONValue, hash: String)
  /// Send the answer of a query once.
  case get(id: Int64, Query)
  /// Register or cancel a write for the time when this client disconnects.
  case onDisconnect(id: Int64, DisconnectRequest)
}

/// The hash of the node that is expected at a place.
public struct PlaceHash: Hashable, Sendable {
  /// The place.
  public var path: Path
  /// The hash of the node, as in `compareAndSet`.
  public var hash: String

  /// Makes the expectation of a node.
  public init(_ path: Path, _ hash: String) {
    self.path = path
    self.hash = hash
  }
}

/// A message of the origin to a replica.
public enum OriginMessage: Hashable, Sendable {
  /// Data of a place, for all listeners there, or for the query with this tag.
  case push(Replica.Push, Path, tag: Int?)
  /// The ranges of leaves in which the answer of a query differs from the hashed data; the rest is
  /// right. Their positions are below the place of the query.
  case ranges([RangeMerge], Path, tag: Int?)
  /// The answer to an ask is complete. If no data came before, the hashed data is right.
  ///
  /// For an ask that was ended meanwhile it is ignored.
  case listenComplete(AskID)
  /// An ask was refused.
  case listenRefused(AskID, TreeError)
  /// A query that was answered is revoked: its changes are no longer sent.
  case listenRevoked(Query, TreeError)
  /// An ask was ended: nothing more is sent for it.
  case unlistened(AskID)
  /// A write was done, and everything that it changed was sent before; or a request for the time of
  /// the disconnection was registered.
  case acknowledged(id: Int64)
  /// Some places of a write were done for good, and the rest is not: the write goes on with the rest.
  case partlyDone(id: Int64, [Path])
  /// The answer of a query that was asked once.
  case answer(id: Int64, Node)
  /// A write, or another command, was refused; nothing of it was done.
  case rejected(id: Int64, TreeError)
  /// A place was not set, or a write not done, since a node there has another hash. That node was sent before.
  case stale(id: Int64)
}

/// The result of an earlier request.
package enum ReplicaCompletion: Hashable, Sendable {
  /// The origin did a write, or registered a request for the time of the disconnection.
  case acknowledged(id: Int64)
  /// The origin refused a write, which is no longer shown; or refused to register a request.
  case rejected(id: Int64, TreeError)
  /// A transaction ended, with the node that it wrote, or the node that it read if its body gave
  /// up.
  case transaction(Int64, isCommitted: Bool, Node)
  /// A transaction failed; nothing of it shows.
  case transactionFailed(Int64, TreeError)
  /// The answer to a query that was asked once.
  case got(id: Int64, Node)
  /// No answer could be got to a query that was asked once.
  case getFailed(id: Int64, TreeError)
  /// A listener was removed, because the origin does not answer this query.
  case cancelled(ListenerID, Query, TreeError)
}

/// The outcome of one input to a replica.
///
/// The caller acts in this order: storage is written already, then events are delivered, then
/// completions, then commands are sent to the origin.
package struct ReplicaOutcome: Hashable, Sendable {
  /// The events for listeners.
  package var deliveries: [Delivery] = []
  /// The results of earlier requests.
  package var completions: [ReplicaCompletion] = []
  /// The commands for the origin.
  package var commands: [OriginCommand] = []
  /// The places whose shown data or knowledge changed: other processes on the same storage must be
  /// told of them.
  package var touched: [Path] = []

  /// Makes an outcome in which nothing happened.
  package init() {}
}
