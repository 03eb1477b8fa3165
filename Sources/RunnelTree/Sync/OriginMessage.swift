public import RunnelBase

/// What a replica asks its origin, in the order in which it is to be sent.
public enum OriginCommand: Hashable, Sendable {
  /// Tell the answer of a query, and every change of it; answers to a tagged query carry the tag. What is
  /// known already is told by its hash.
  case listen(Query, tag: Int?, known: KnownHash)
  /// Tell no more of a query.
  case unlisten(Query, tag: Int?)
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
  /// What is at a place, or a part of the answer of the query with this tag.
  case push(Replica.Push, Path, tag: Int?)
  /// Parts of the answer of a query whose ranges of leaves differ from what was known; the rest is
  /// right. Their positions are below the place of the query.
  case ranges([RangeMerge], Path, tag: Int?)
  /// The answer of a query is complete.
  case listenComplete(Path, tag: Int?)
  /// A query is not answered, or not any more.
  case listenRefused(Path, tag: Int?, TreeError)
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
  /// A listener was removed, because its query is not answered.
  case cancelled(ListenerID, TreeError)
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
