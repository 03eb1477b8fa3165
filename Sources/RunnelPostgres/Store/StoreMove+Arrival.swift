// A namespace that is on its way to a store, and what an earlier move has left there.
//
// ```
//   nothing ------> on its way --opened--> open
//      ^                |
//      +----given up----+
//
//   moved, to A --> on its way, to A kept --opened--> open
//      ^                |
//      +----given up----+
// ```
//
// So a move back that is given up leaves the store as it was before: its servers send clients to A. The rows
// are those of the move that was given up, which are newer.
extension StoreMove {
  /// What of an earlier move is kept in `meta` while a namespace is on its way: the names, and those they have
  /// before and after.
  private static let formerNames = [
    (kept: "moving.former.to", name: addressName),
    (kept: "moving.former.store", name: storeName),
    (kept: "moving.former.number", name: numberName),
  ]
  /// The names in `meta` of what is kept of an earlier move.
  static let keptNames = formerNames.map(\.kept)

  /// What became of a namespace that was on its way.
  package enum ArrivalEnd: Hashable, Sendable {
    /// The move was given up: the namespace is written where it comes from.
    case givenUp
    /// The move had been given up before.
    case givenUpBefore
    /// The namespace is open here, since the store that it comes from is lost; and why it is.
    case opened(reason: String)
  }

  /// What a store is to keep of the move by which a namespace left it, while it comes back; for a
  /// transaction that has locked it.
  static func kept(of namespace: Int64, _ store: PostgresStore) throws -> [(String, String)] {
    let result = try store.connection.perform([
      PostgresStatement(
        "SELECT name, value FROM meta WHERE ns = $1 AND name = ANY($2)", .integer(namespace),
        .texts(keptNames + formerNames.map(\.name)))
    ])[0]
    var values: [String: String] = [:]
    for row in 0..<result.count { values[result.text(row, 0) ?? ""] = result.text(row, 1) ?? "" }
    return formerNames.compactMap { kept, name in
      (values[kept] ?? values[name]).map { (kept, $0) }
    }
  }

  /// Makes a store as it was before a move to it, which is given up; nothing if the namespace is not on its
  /// way by that move.
  ///
  /// - Throws: `PostgresError`, also if the namespace was opened there meanwhile; then nothing was changed, unless
  ///   the connection broke.
  static func undoArrival(
    of namespace: PostgresStore.Namespace, by move: String, in store: PostgresStore
  ) throws {
    let ns = PostgresValue.integer(namespace.number)
    try store.undoing {
      let found = try store.connection.perform([
        PostgresStatement("BEGIN"),
        PostgresStatement("SELECT 1 FROM namespace WHERE ns = $1 FOR UPDATE", ns),
        PostgresStatement(
          """
          SELECT 1 FROM meta WHERE ns = $1
            AND (name = '\(arrivalName)' OR name = '\(moveName)' AND value = $2)
          """, ns, .text(move)),
        PostgresStatement(
          "SELECT 1 FROM meta WHERE ns = $1 AND name = '\(keptNames[0])'", ns),
        PostgresStatement(
          """
          SELECT 1 FROM namespace n JOIN meta m ON m.ns = n.ns WHERE n.ns = $1 AND n.state = 0
            AND (m.name = '\(moveName)' AND m.value = $2 OR m.name = $3)
          """, ns, .text(move), .text(camePrefix + move)),
      ])
      if found[4].count > 0 {
        throw PostgresError(
          .unsuitable,
          "\(namespace.name) was opened in the other store meanwhile, and must not be in two: do the move again, "
            + "and it is completed.")
      }
      // Another command may have been faster.
      if found[2].count < 2 {
        try store.connection.perform([PostgresStatement("ROLLBACK")])
      } else if found[3].count == 0 {
        try store.connection.perform(
          try store.removal(of: namespace) + [PostgresStatement("COMMIT")])
      } else {
        try store.connection.perform(
          [forgetting(formerNames.map(\.name), ns)]
            + formerNames.map { kept, name in
              PostgresStatement(
                "UPDATE meta SET name = $3 WHERE ns = $1 AND name = $2", ns, .text(kept),
                .text(name))
            } + [
              forgetting([moveName, arrivalName, originName, camePrefix + move], ns),
              PostgresStatement("UPDATE namespace SET state = 2 WHERE ns = $1", ns),
              PostgresStatement("COMMIT"),
            ])
      }
    }
    // Without notifications the servers notice it when they look, a quarter of a second later.
    try? StoreWake.send([.servers], store.connection)
  }

  /// Gives up, in the store to which it leads, a move that was broken off.
  ///
  /// The store that the namespace comes from decides. If it is lost, what is here may be the only copy: then it
  /// is opened, which has to be forced.
  ///
  /// - Parameters:
  ///   - namespace: of `target`, on its way.
  ///   - target: where it is to be.
  ///   - name: the name of `target`.
  ///   - isForced: true if the other store is not to be waited for.
  ///   - opened: opens the store that it comes from.
  /// - Returns: what became of it.
  /// - Throws: `PostgresError` if it cannot be given up, or that cannot be found out; then nothing was changed,
  ///   unless the connection broke.
  package static func giveUpArrival(
    of namespace: PostgresStore.Namespace, in target: PostgresStore, named name: String,
    isForced: Bool = false, opened: () throws -> PostgresStore
  ) throws -> ArrivalEnd {
    let number = try target.metaValue(moveName, of: namespace) ?? ""
    var reason = "that store has not got it any more."
    do {
      let source = try opened()
      defer { source.close() }
      try source.checkVersion()
      if let end = try giveUpArrival(of: namespace, by: number, in: target, named: name, source) {
        return end
      }
      if let next = try source.formerPlace(of: namespace.name) {
        reason = "it was moved on from that store to \(next.words)."
      }
    } catch let error as PostgresError where error.kind != .unsuitable {
      let end = "\(error)".hasSuffix(".") ? "" : "."
      reason = "the store that it comes from cannot be asked: \(error)\(end)"
    }
    guard isForced else {
      throw PostgresError(
        .unsuitable,
        "\(namespace.name) is on its way to this store, but \(reason) If it is lost there for good, --force opens "
          + "it here, as it was when it was moved: what was written there since is lost.")
    }
    try open(namespace, movedBy: number, in: target, isForced: true)
    try? StoreWake.send([.servers], target.connection)
    return .opened(reason: reason)
  }

  /// Gives a move up in the store that it comes from; nil if the namespace is not there.
  private static func giveUpArrival(
    of namespace: PostgresStore.Namespace, by move: String, in target: PostgresStore,
    named name: String, _ source: PostgresStore
  ) throws -> ArrivalEnd? {
    guard let there = try source.namespace(named: namespace.name) else { return nil }
    if try source.metaValue(moveName, of: there) == move
      || source.metaValue(numberName, of: there) == move
    {
      _ = try giveUp(there, of: source, to: name) { _ in try PostgresStore(target.connect) }
      return .givenUp
    }
    return try alone(with: there, of: source) {
      guard try source.metaValue(undonePrefix + move, of: there) != nil else {
        throw PostgresError(
          .unsuitable,
          "The store that \(namespace.name) comes from does not know of this move: compare both. `runnel store drop` "
            + "with --force removes what is here.")
      }
      try undoArrival(of: namespace, by: move, in: target)
      return .givenUpBefore
    }
  }

  /// Opens a namespace that was on its way to a store, if the move that brought it is `move`.
  ///
  /// `isForced` notes that the store that it comes from was lost: a copy that comes back there is void.
  static func open(
    _ namespace: PostgresStore.Namespace, movedBy move: String, in store: PostgresStore,
    isForced: Bool = false
  ) throws {
    let number = PostgresValue.integer(namespace.number)
    let noting = PostgresStatement(
      """
      INSERT INTO meta (ns, name, value) SELECT ns, '\(openedName)', $2 FROM namespace n
      WHERE n.ns = $1 AND n.state = 0 AND EXISTS (SELECT 1 FROM meta m WHERE m.ns = n.ns
        AND m.name = '\(arrivalName)')
      ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
      """, number, .text(move))
    let statements = [
      PostgresStatement("BEGIN"),
      // What is noted is read once nobody else changes it.
      PostgresStatement("SELECT 1 FROM namespace WHERE ns = $1 FOR UPDATE", number),
      PostgresStatement(
        """
        UPDATE namespace SET state = 0 WHERE ns = $1 AND EXISTS (
          SELECT 1 FROM meta m WHERE m.ns = namespace.ns AND m.name = '\(arrivalName)')
          AND EXISTS (SELECT 1 FROM meta m WHERE m.ns = namespace.ns
            AND m.name = '\(moveName)' AND m.value = $2)
        """, number, .text(move)),
    ]
    let forgetting = PostgresStatement(
      """
      DELETE FROM meta WHERE ns = $1 AND name = ANY($2) AND EXISTS (
        SELECT 1 FROM namespace n WHERE n.ns = $1 AND n.state = 0)
      """, number, .texts([arrivalName] + keptNames))
    try store.atomically(
      statements + (isForced ? [noting] : []) + [forgetting, PostgresStatement("COMMIT")])
  }
}

extension PostgresStore {
  /// Where a namespace that is on its way was before, and is if its move is given up; nil if it was
  /// nowhere.
  package func keptPlace(of namespace: Namespace) throws -> NewPlace? {
    guard let address = try metaValue(StoreMove.keptNames[0], of: namespace) else { return nil }
    return NewPlace(
      store: try metaValue(StoreMove.keptNames[1], of: namespace) ?? "", address: address)
  }
}
