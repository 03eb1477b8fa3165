public import RunnelTree

// Reading and observing, by a place or by a query of its children.

/// The source of the answer to a question that is asked once.
///
/// On a tree of its own all three are the same.
public enum GetSource: Hashable, Sendable {
  /// The origin or, without a connection, the cache.
  case any
  /// The cache, at once, whether it is complete or not; the origin is not asked.
  case cache
  /// The origin only: without a connection the question fails (`offline`).
  case origin
}

extension Queryable {
  /// The current content.
  ///
  /// On a replica, the answer is known at once if the query is observed. Otherwise the origin is
  /// asked; without a connection this waits for three seconds and then returns a previously kept
  /// answer, also at a place that was just written here. `from: .cache` does not wait.
  ///
  /// A query that selects some children returns these; it has no leaf and no priority of its own.
  /// An empty place returns a snapshot that does not exist.
  ///
  /// Source: tree semantics, section 14.
  ///
  /// - Parameter source: the source of the answer.
  /// - Returns: the content, or the kept part of it.
  /// - Throws: `DatabaseError` if it cannot be read, the file is gone (`fileGone`), or the database is closed; on a replica also
  ///   if the origin refuses, or there is no connection and nothing is kept (`offline`), and at
  ///   once `CancellationError` if the task is cancelled; the origin's answer is then ignored.
  public func get(from source: GetSource = .any) async throws -> DataSnapshot {
    let query = databaseQuery
    let (node, pending) = try await query.database.get(query.query, from: source)
    return query.snapshot(of: node, pending)
  }

  /// Calls a handler for the current content and for each change of it, until the token is
  /// cancelled.
  ///
  /// The first calls are `childAdded` for each child in the order of the query, then `value`.
  ///
  /// Handlers of one database are called one by one, in order, on a thread that is not the tree's.
  /// A handler may write, in a task of its own; the resulting events follow after the handler has
  /// returned, and after the events that were waiting. A handler must not wait for the database,
  /// since writes return only after handlers were told of them.
  ///
  /// - Parameters:
  ///   - kinds: the events for which the handler is called.
  ///   - handler: called for each event.
  ///   - onFailure: called at most once, as the last call: if the rows cannot be read, the file is gone
  ///     (`fileGone`), or the database is closed. Without it, the failure is written to the log; of a database that
  ///     was closed it is told at the level `debug`.
  /// - Returns: the token that ends this observation; releasing it does not.
  @discardableResult
  public func observe(
    _ kinds: EventKinds = .all, _ handler: @escaping @Sendable (DataEvent) -> Void,
    onFailure: (@Sendable (DatabaseError) -> Void)? = nil
  ) -> ObservationToken {
    let query = databaseQuery
    return ObservationToken(
      query.database.observe(
        query.query, kinds, .handler(handler),
        onFailure: onFailure ?? { Observation.log($0, of: query.query) }))
  }

  /// Calls a handler whenever the pending state of this place changes.
  ///
  /// The first call is for the first pending change; while nothing is pending, it is not called.
  ///
  /// - Parameters:
  ///   - handler: called, like handlers of events, with everything that is pending now.
  ///   - onFailure: called at most once, as the last call. Without it, the failure is written to the log.
  /// - Returns: the token that ends this observation; releasing it does not.
  @discardableResult
  public func observePending(
    _ handler: @escaping @Sendable (PendingState) -> Void,
    onFailure: (@Sendable (DatabaseError) -> Void)? = nil
  ) -> ObservationToken {
    let query = databaseQuery
    return ObservationToken(
      query.database.observe(
        query.query, .pending, .pending(handler),
        onFailure: onFailure ?? { Observation.log($0, of: query.query) }))
  }

  /// The pending states of this place as a sequence; see `PendingStates`.
  public var pendingStates: PendingStates { PendingStates(query: databaseQuery) }

  /// The first event of some kinds: `value` for the current content, `childAdded` for the first
  /// child, and any other kind for the next change.
  ///
  /// - Throws: `DatabaseError` like the failures of `observe`, and `refused` if `kinds` has no kind of
  ///   `DataEvent`; `CancellationError` if the task was cancelled before.
  public func observeSingleEvent(of kinds: EventKinds) async throws -> DataEvent {
    if kinds.isDisjoint(with: .all) {
      throw DatabaseError(
        .refused, "No event of these kinds would ever come: name a kind, such as .value.")
    }
    for try await event in events(kinds) { return event }
    throw CancellationError()
  }

  /// The events as a sequence; see `DataEvents`.
  ///
  /// - Parameters:
  ///   - kinds: the kinds of events.
  ///   - batchesMax: how many batches may wait to be taken; less than 1 counts as 1.
  /// - Returns: a sequence; each of its iterators observes on its own.
  public func events(_ kinds: EventKinds = .all, batchesMax: Int = 1000) -> DataEvents {
    DataEvents(query: databaseQuery, kinds: kinds, batchesMax: max(batchesMax, 1))
  }

  /// The states as a sequence; see `DataValues`.
  public var values: DataValues { DataValues(query: databaseQuery) }

  /// Keeps the content in memory, so that observing it later needs no reading; or no longer.
  ///
  /// It works like a listener without a handler. Setting it twice has no further effect.
  public func keepSynced(_ isKept: Bool) {
    let query = databaseQuery
    query.database.keepSynced(query.query, isKept)
  }
}
