public import RunnelTree

// Reading and observing, by a place or by a query of its children.

/// Where a question that is asked once looks for its answer.
///
/// On a tree of its own all three are one.
public enum GetSource: Hashable, Sendable {
  /// The origin, and without a connection what is kept of it.
  case any
  /// What is kept here, at once, complete or not; nobody is asked.
  case cache
  /// The origin alone: without a connection the question fails (`offline`).
  case origin
}

extension Queryable {
  /// What is there now.
  ///
  /// On a replica, who observes the query has its answer at once. Else the origin is asked; without a
  /// connection this waits for three seconds, and then gives what is kept of an earlier answer.
  ///
  /// A query that is limited to some children gives these; it has no leaf and no priority of its own.
  /// A place where nothing stands gives a snapshot that does not exist.
  ///
  /// Source: tree semantics, section 14.
  ///
  /// - Parameter source: where to look.
  /// - Returns: what is there, or what is kept of it.
  /// - Throws: `DatabaseError` if it cannot be read, or the database is closed; on a replica if the origin
  ///   refuses, or there is no connection and nothing is kept (`offline`). There also
  ///   `CancellationError`, at once, if the task is cancelled: what the origin answers is passed by then.
  public func get(from source: GetSource = .any) async throws -> DataSnapshot {
    let query = databaseQuery
    let asked = query.query
    if source != .cache, let got = try await query.database.getOnReplica(asked, from: source) {
      return query.snapshot(of: got.node, got.pending)
    }
    let (node, pending) = try await query.database.answer { session in
      if asked.loadsAllData { return (try session.node(at: asked.path), session.pendingPlaces) }
      let children = try session.rows(asked).compactMap { row in
        row.node.map { Child(key: row.key, node: $0) }
      }
      return (Node(children: children), session.pendingPlaces)
    }
    return query.snapshot(of: node, pending)
  }

  /// Calls a handler for what is there, and for what happens to it, until the token is cancelled.
  ///
  /// At first the handler is told `childAdded` for each child in the order of the query, then `value`.
  ///
  /// Handlers of one database are called one by one, in order, on a thread that is not the tree's. A
  /// handler may write, by a task of its own; what comes of it is told after the handler returned, and
  /// after what was to be told before. A handler must not wait for the database, whose writes return
  /// after the handlers were told of them.
  ///
  /// - Parameters:
  ///   - kinds: which events the handler is called for.
  ///   - handler: called for each event.
  ///   - onFailure: called at most once, as the last call: when the rows cannot be read, or the database
  ///     is closed.
  /// - Returns: the token that ends this observation, and no other; letting go of it does not.
  @discardableResult
  public func observe(
    _ kinds: EventKinds = .all, _ handler: @escaping @Sendable (DataEvent) -> Void,
    onFailure: @escaping @Sendable (DatabaseError) -> Void = { _ in }
  ) -> ObservationToken {
    let query = databaseQuery
    return ObservationToken(
      query.database.observe(query.query, kinds, .handler(handler), onFailure: onFailure))
  }

  /// Calls a handler for what waits for the origin of the replica at this place, whenever that changes.
  ///
  /// The first call is for the first that is pending; of a place where nothing is, nothing is told.
  ///
  /// - Parameters:
  ///   - handler: called, as handlers of events are, with all that is pending now.
  ///   - onFailure: called at most once, as the last call.
  /// - Returns: the token that ends this observation, and no other; letting go of it does not.
  @discardableResult
  public func observePending(
    _ handler: @escaping @Sendable (PendingState) -> Void,
    onFailure: @escaping @Sendable (DatabaseError) -> Void = { _ in }
  ) -> ObservationToken {
    let query = databaseQuery
    return ObservationToken(
      query.database.observe(query.query, .pending, .pending(handler), onFailure: onFailure))
  }

  /// What waits for the origin at this place, again and again as it changes; see `PendingStates`.
  public var pendingStates: PendingStates { PendingStates(query: databaseQuery) }

  /// The first event of some kinds: `value` for what is there, `childAdded` for the first child, and
  /// any other for what happens next.
  ///
  /// - Throws: `DatabaseError` as the handlers of `observe` are told, `CancellationError` if the task
  ///   was cancelled before.
  public func observeSingleEvent(of kinds: EventKinds) async throws -> DataEvent {
    for try await event in events(kinds) { return event }
    throw CancellationError()
  }

  /// The events as a sequence; see `DataEvents`.
  ///
  /// - Parameters:
  ///   - kinds: which events.
  ///   - batchesMax: how many batches may wait to be taken: at least 1.
  /// - Returns: a sequence, of which each iterator observes by itself.
  public func events(_ kinds: EventKinds = .all, batchesMax: Int = 1000) -> DataEvents {
    precondition(batchesMax > 0, "A batch must be able to wait.")
    return DataEvents(query: databaseQuery, kinds: kinds, batchesMax: batchesMax)
  }

  /// What is there, again and again as it changes; see `DataValues`.
  public var values: DataValues { DataValues(query: databaseQuery) }

  /// Holds what is there in memory, so that observing it later needs no reading; or no longer.
  ///
  /// It is a listener that tells nobody. To set it twice is to set it once.
  public func keepSynced(_ isKept: Bool) {
    let query = databaseQuery
    query.database.keepSynced(query.query, isKept)
  }
}
