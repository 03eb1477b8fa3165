public import RunnelBase

/// What a replica asks its origin, in the order in which it is to be sent.
///
/// The origin takes it in this order, and answers each: see `OriginMessage`.
public enum OriginCommand: Hashable, Sendable {
  /// Tell the answer of a query, and every change of it; pushes for a tagged query carry the tag. What is
  /// known already is told by its hash.
  ///
  /// It is answered by `listenComplete` or `listenRefused`.
  case listen(AskID, Query, tag: Int?, known: KnownHash)
  /// Tell no more of a query that was asked under this name.
  ///
  /// It is answered by `unlistened`.
  case unlisten(AskID, Query, tag: Int?)
  /// Do a write; one id is done once, however often it is asked.
  case write(id: Int64, Write)
  /// Set a place, if the hash of what stands there is this one.
  case compareAndSet(id: Int64, Path, JSONValue, hash: String)
  /// Tell the answer of a query once.
  case get(id: Int64, Query)
  /// Do something when this client goes away, or do it no longer.
  case onDisconnect(id: Int64, DisconnectRequest)
}

/// What an origin tells a replica.
public enum OriginMessage: Hashable, Sendable {
  /// What is at a place, for all who listen there, or a part of the answer of the query with this tag.
  case push(Replica.Push, Path, tag: Int?)
  /// Parts of the answer of a query whose ranges of leaves differ from what was known; the rest is
  /// right. Their positions are below the place of the query.
  case ranges([RangeMerge], Path, tag: Int?)
  /// The answer to an ask is complete. If nothing was told before, what was hashed is right.
  ///
  /// The answer to an ask that was ended meanwhile counts for nothing.
  case listenComplete(AskID)
  /// An ask is not answered.
  case listenRefused(AskID, TreeError)
  /// A query that was answered is answered no more.
  case listenRevoked(Query, TreeError)
  /// An ask was ended: nothing is told for it from here on.
  case unlistened(AskID)
  /// A write was done, of which all that it changed was told before; or what is to be done when this
  /// client goes away was registered.
  case acknowledged(id: Int64)
  /// The answer of a query that was asked once.
  case answer(id: Int64, Node)
  /// A write was refused, of which nothing was done; or something else that was asked.
  case rejected(id: Int64, TreeError)
  /// A place was not set, because something else stands there than was thought. What stands there was
  /// told before.
  case stale(id: Int64)
}

/// What became of something that was asked for.
public enum ReplicaCompletion: Hashable, Sendable {
  /// The origin did a write, or registered what it is to do later.
  case acknowledged(id: Int64)
  /// The origin refused a write, which does not show any more; or to register something.
  case rejected(id: Int64, TreeError)
  /// A transaction ended: with what it wrote, or, if its body gave up, with what it read.
  case transaction(Int64, isCommitted: Bool, Node)
  /// A transaction failed; nothing of it shows.
  case transactionFailed(Int64, TreeError)
  /// What a query shows that was asked once.
  case got(id: Int64, Node)
  /// A query that was asked once has no answer.
  case getFailed(id: Int64, TreeError)
  /// A listener was removed, because the origin does not answer this query.
  case cancelled(ListenerID, Query, TreeError)
}

/// What one input to a replica came to.
///
/// They are done in this order: storage has been written already, then events are delivered, then
/// completions, then the origin is told.
public struct ReplicaOutcome: Hashable, Sendable {
  /// What listeners are told.
  public var deliveries: [Delivery] = []
  /// What became of earlier requests.
  public var completions: [ReplicaCompletion] = []
  /// What the origin is told.
  public var commands: [OriginCommand] = []
  /// The places where something is shown or known that was not before: what other processes on the
  /// same storage must be told.
  public var touched: [Path] = []

  /// Makes an outcome in which nothing happened.
  public init() {}
}
