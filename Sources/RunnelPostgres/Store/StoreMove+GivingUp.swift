// A move that was broken off, and is not to go on.
extension StoreMove {
  /// What became of the wish to give a move up.
  package enum GivenUp: Hashable, Sendable {
    /// Nothing was to do: the namespace was open.
    case wasOpen
    /// The namespace is open again; `rest` says why the other store could not be asked to remove what it has
    /// of it, nil if it has nothing.
    case opened(rest: String?)
    /// The namespace was moved, and is open again as it was then; `reason` says why it is lost there.
    case reopened(reason: String)
  }

  /// What the other store says of a move.
  private enum Answer {
    case nothingThere
    case live(String)
    case none(String)
  }

  /// True if two connections lead to the same tables, however their places are called.
  ///
  /// - Throws: `PostgresError` if one of them cannot be asked.
  package static func areSame(_ first: PostgresStore, _ second: PostgresStore) throws -> Bool {
    let tables = try [first, second].map { store in
      try store.connection.perform([
        PostgresStatement("SELECT to_regclass('namespace')::oid::bigint")
      ])[0].integer(0, 0)
    }
    if tables[0] != tables[1] { return false }
    // Copies of a cluster have the same tables too; a lock is only known to one of them.
    let number = Int64.random(in: .min...(-1))
    guard try lock(number, of: first, "pg_try_advisory_lock") else { return false }
    defer { _ = try? lock(number, of: first, "pg_advisory_unlock") }
    guard try lock(number, of: second, "pg_try_advisory_lock") else { return true }
    _ = try lock(number, of: second, "pg_advisory_unlock")
    return false
  }

  /// Gives up a move that was broken off: the namespace is written again where it is.
  ///
  /// It was not opened in the other store as long as it is frozen here, and nobody opens it there afterwards.
  /// But a primary that lost its last commits may not know of the end of the move: so the other store is asked
  /// if all rows were there.
  ///
  /// What was moved is opened again if it was not opened in the other store. If it is lost there, that has
  /// to be forced.
  ///
  /// - Parameters:
  ///   - namespace: of `source`.
  ///   - source: where it is.
  ///   - name: the name of the other store, if none was noted.
  ///   - isForced: true if the other store is not to be waited for.
  ///   - opened: opens a store.
  /// - Returns: what became of it.
  /// - Throws: `PostgresError` if it was moved, or that cannot be found out; then nothing was changed, unless
  ///   the connection broke.
  package static func giveUp(
    _ namespace: PostgresStore.Namespace, of source: PostgresStore, to name: String? = nil,
    isForced: Bool = false, opened: (String) throws -> PostgresStore
  ) throws -> GivenUp {
    try alone(with: namespace, of: source) {
      guard let present = try source.namespace(named: namespace.name) else {
        throw PostgresError(.unsuitable, "\(namespace.name) is not there any more.")
      }
      switch present.state {
      case .open: return .wasOpen
      case .moved:
        return try reopen(present, of: source, name, isForced: isForced, opened)
      case .frozen: break
      }
      if try source.metaValue(arrivalName, of: present) != nil {
        throw PostgresError(
          .unsuitable,
          "\(present.name) is being moved to this store: do that again, or give it up in the store that it "
            + "comes from.")
      }
      let isReady = try source.metaValue(readyName, of: present) != nil
      let noted = try source.moveTarget(of: present)
      let number = try source.metaValue(moveName, of: present) ?? ""
      var answer = Answer.none("the other store is not known: name it with --to")
      // Whoever names another store than that of the move must not get a wrong answer.
      if let other = noted ?? name {
        answer = try ask(other, present, number, source, opened)
      }
      var rest: String?
      switch answer {
      case .nothingThere: break
      case .live(let place):
        throw PostgresError(
          .unsuitable,
          "\(present.name) is live in \(place) already, and must not be in two stores: do the move again, and "
            + "it is completed.")
      case .none(let reason):
        if !isForced, isReady || noted == nil {
          throw PostgresError(
            .unsuitable,
            "The move of \(present.name) was almost done, so \(present.name) may be live in the other store, and "
              + "must not be in two. That one cannot be asked: \(reason) If it is lost for good, --force gives "
              + "the move up without asking.")
        }
        rest = reason
      }
      try thaw(present, of: source)
      return .opened(rest: rest)
    }
  }

  /// Asks the other store what it has of a move, and removes what is not live there.
  private static func ask(
    _ other: String, _ namespace: PostgresStore.Namespace, _ number: String,
    _ source: PostgresStore,
    _ opened: (String) throws -> PostgresStore
  ) throws -> Answer {
    do {
      let store = try opened(other)
      defer { store.close() }
      try store.checkVersion()
      if try areSame(source, store) {
        return .none("\(other) is the name of this store.")
      }
      guard let there = try store.namespace(named: namespace.name) else { return .nothingThere }
      let isOfMove = try store.metaValue(moveName, of: there) == number
      let hasCome = try store.metaValue(camePrefix + number, of: there) != nil
      if try store.metaValue(arrivalName, of: there) == nil {
        return isOfMove || hasCome ? .live("the store \(other)") : .nothingThere
      }
      if isOfMove { try undoArrival(of: there, by: number, in: store) }
      return .nothingThere
    } catch let error as PostgresError {
      return .none("\(error)")
    }
  }

  /// Opens a frozen namespace again; what is left of its move elsewhere is not opened any more.
  static func thaw(_ namespace: PostgresStore.Namespace, of source: PostgresStore) throws {
    let ns = PostgresValue.integer(namespace.number)
    try source.atomically([
      PostgresStatement("BEGIN"),
      PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", ns),
      undoing(ns),
      forgetting([moveName, targetName, readyName], ns),
      PostgresStatement("UPDATE namespace SET state = 0 WHERE ns = $1 AND state = 1", ns),
      PostgresStatement("COMMIT"),
    ])
  }
}

extension PostgresStore {
  /// The name of the store to which a frozen namespace is being moved; nil if it was not told.
  package func moveTarget(of namespace: Namespace) throws -> String? {
    let name = try metaValue(StoreMove.targetName, of: namespace)
    return name?.isEmpty == false ? name : nil
  }

  /// True if a command is moving a namespace right now.
  package func isBeingMoved(_ namespace: Namespace) throws -> Bool {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted
          AND ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint
        """, .integer(StoreMove.lockBase + namespace.number))
    ])[0]
    return result.count > 0
  }

  /// True if a namespace comes from another store, and is not open yet.
  package func isArriving(_ namespace: Namespace) throws -> Bool {
    try metaValue(StoreMove.arrivalName, of: namespace) != nil
  }

  /// The name of the store from which an arriving namespace comes; nil if it was not told.
  package func moveOrigin(of namespace: Namespace) throws -> String? {
    let name = try metaValue(StoreMove.originName, of: namespace)
    return name?.isEmpty == false ? name : nil
  }

  /// True if a namespace was moved, and is not known to be open in the other store.
  package func isUnopened(_ namespace: Namespace) throws -> Bool {
    try metaValue(StoreMove.unopenedName, of: namespace) != nil
  }

  /// True if a namespace was moved, and a command has begun to give that up, before it was open in the other
  /// store.
  package func isBeingGivenUp(_ namespace: Namespace) throws -> Bool {
    guard let number = try metaValue(StoreMove.givingUpName, of: namespace) else { return false }
    return try number == metaValue(StoreMove.numberName, of: namespace)
  }

  /// True if a namespace of `other` is the one that was moved there from here, whole and open.
  package func hasArrived(
    _ namespace: Namespace, as there: Namespace, in other: PostgresStore
  ) throws
    -> Bool
  {
    if there.state == .moved { return false }
    if try other.isArriving(there) { return false }
    guard let number = try metaValue(StoreMove.numberName, of: namespace) else {
      // An earlier version moved it.
      return try other.metaValue(StoreMove.moveName, of: there) != nil
    }
    return try other.metaValue(StoreMove.camePrefix + number, of: there) != nil
      || other.metaValue(StoreMove.moveName, of: there) == number
  }
}
