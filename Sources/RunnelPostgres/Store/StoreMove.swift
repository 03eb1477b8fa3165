import Glibc

/// The move of a namespace to another store, whose primary is another one.
///
/// ```
///   open --freeze--> frozen --copied, and frozen there--> moved, and opened there
///                      |
///                      +--a failure--> open
/// ```
///
/// The servers of the new store have a moment to find it there before clients are sent to them. It is opened
/// there after it was closed here, so that nobody reads an old state.
///
/// Nobody writes the namespace while it is frozen, and whoever reads it in its new store finds the same
/// places in its feed. Done again after it was broken off, it goes on. A namespace that was moved away from
/// the new store is replaced there, under its number: so it can be moved back.
///
/// Source: several servers, section 5.
package struct StoreMove {
  /// The name in `meta` of the number of a move that is under way, in both stores.
  private static let moveName = "moving"
  /// The name in `meta` of the number of a move to this store, until the namespace is opened here.
  private static let arrivalName = "moving.here"
  /// The time in which the servers of the new store find the namespace: three of their looks.
  private static let discoveryMicroseconds: UInt32 = 750_000
  /// The name in `meta` of the address to which clients are sent afterwards.
  static let addressName = "moved.to"
  /// The name in `meta` of the name of the other store, for people.
  static let storeName = "moved.store"
  /// The number of the lock of the moves of namespace 0: "runnelmv".
  private static let lockBase: Int64 = 0x7275_6E6E_656C_6D76
  /// The rows that are in memory at a time.
  private static let pageCount = 200

  /// The tables of a namespace with their columns, besides `ns`.
  static let tables: [(name: String, columns: [(name: String, type: String)])] = [
    ("node", [("parent", "bigint"), ("key", "bytea"), ("json", "bytea"), ("split", "bigint")]),
    ("split", [("id", "bigint"), ("children", "bigint"), ("priority", "bytea")]),
    ("index_definition", [("id", "int"), ("pattern", "text"), ("child", "text")]),
    (
      "index_entry",
      [("parent", "bigint"), ("definition", "int"), ("value", "bytea"), ("key", "bytea")]
    ),
    (
      "feed",
      [
        ("seq", "bigint"), ("at", "bigint"), ("server", "uuid"), ("batch", "bigint"),
        ("paths", "text"), ("parts", "bytea"),
      ]
    ),
    (
      "write_client",
      [("client", "text"), ("applied", "bigint"), ("forgotten", "bigint"), ("seen", "bigint")]
    ),
    ("applied_write", [("client", "text"), ("number", "bigint"), ("seq", "bigint")]),
    (
      "disconnect_write",
      [
        ("server", "uuid"), ("session", "bigint"), ("number", "int"), ("path", "text"),
        ("write", "text"),
      ]
    ),
    ("meta", [("name", "text"), ("value", "text")]),
  ]

  /// What became of a move.
  package enum Outcome: Hashable, Sendable {
    /// The namespace was moved.
    case moved
    /// There was nothing to do: it was moved there before.
    case movedBefore
    /// It was moved there before; clients are sent to the new address from now on.
    case readdressed
  }

  private let namespace: PostgresStore.Namespace
  private let source: PostgresStore
  private let target: PostgresStore
  private let report: (Int) -> Void

  /// Moves a namespace.
  ///
  /// - Parameters:
  ///   - namespace: of `source`.
  ///   - source: where it is.
  ///   - target: where it is to be; its tables are there.
  ///   - address: HOST:PORT of servers of `target`, to which clients are sent; empty for none. Of a namespace
  ///     that was moved there before, it replaces the former one, unless it is empty.
  ///   - name: the name of `target` for people; empty for none.
  ///   - report: called now and then with the number of rows that were copied.
  /// - Returns: what became of it.
  /// - Throws: `PostgresError`; then the namespace is as it was, or, if a connection broke, frozen until
  ///   the move is done again.
  @discardableResult
  package static func run(
    _ namespace: PostgresStore.Namespace, from source: PostgresStore, to target: PostgresStore,
    address: String, name: String = "", report: @escaping (Int) -> Void = { _ in }
  ) throws -> Outcome {
    // Two moves at once, to different stores, would make two namespaces of one.
    guard try lock(namespace, of: source, "pg_try_advisory_lock") else {
      throw PostgresError(
        .unsuitable, "\(namespace.name) is being moved by another command: wait for its end.")
    }
    // If the connection is lost, so is the lock.
    defer { _ = try? lock(namespace, of: source, "pg_advisory_unlock") }
    // It may have been moved since it was looked for.
    let present = try source.namespace(named: namespace.name) ?? namespace
    return try run(
      StoreMove(namespace: present, source: source, target: target, report: report), address, name)
  }

  /// Takes or gives back the lock of a namespace's moves, which goes with the connection; false if another
  /// connection has it.
  private static func lock(
    _ namespace: PostgresStore.Namespace, of store: PostgresStore, _ function: StaticString
  ) throws -> Bool {
    let result = try store.connection.perform([
      PostgresStatement(
        "SELECT \(function)($1::bigint)::int", .integer(lockBase + namespace.number))
    ])[0]
    return try result.integer(0, 0) == 1
  }

  private static func run(
    _ move: StoreMove, _ address: String, _ name: String
  ) throws -> Outcome {
    let (namespace, source, target) = (move.namespace, move.source, move.target)
    let before = try move.targetMove()
    if try source.metaValue(arrivalName, of: namespace) != nil {
      throw PostgresError(
        .unsuitable,
        "A move of \(namespace.name) to this store is not complete: do that one again first.")
    }
    switch namespace.state {
    case .moved:
      let place = try source.newPlace(of: namespace)
      // It was broken off at its end.
      if before.isArriving, name.isEmpty || place.store == name {
        let isNew = try move.readdress(address, insteadOf: place.address)
        try move.open()
        return isNew ? .readdressed : .moved
      }
      if place.store == name, !name.isEmpty, before.isThere {
        let isNew = try move.readdress(address, insteadOf: place.address)
        return isNew ? .readdressed : .movedBefore
      }
      throw PostgresError(
        .unsuitable, "\(namespace.name) was moved to \(place.words) already.")
    case .open:
      if before.isThere {
        throw PostgresError(
          .unsuitable, "\(target.connection.name) has a namespace \(namespace.name) already.")
      }
    case .frozen: break
    }
    let number = try move.freeze()
    do {
      if before.isThere {
        if before.number != number {
          throw PostgresError(
            .unsuitable, "\(target.connection.name) has another namespace \(namespace.name).")
        }
      } else {
        try move.copy(number)
      }
    } catch {
      // After a broken commit it may be open there: then it stays frozen here, and is moved again.
      if target.connection.isOpen { try? move.thaw() }
      throw error
    }
    if try !StoreLease.live(target.connection).isEmpty { usleep(discoveryMicroseconds) }
    try move.finish(address, name)
    try move.open()
    return .moved
  }

  // MARK: Steps

  /// What is in the other store: the number of the move that brought it there, and whether that is under way.
  private func targetMove() throws -> (isThere: Bool, number: String?, isArriving: Bool) {
    guard let there = try target.namespace(named: namespace.name), there.state != .moved else {
      return (false, nil, false)
    }
    return (
      true, try target.metaValue(StoreMove.moveName, of: there),
      try target.metaValue(StoreMove.arrivalName, of: there) != nil
    )
  }

  /// Opens the namespace in the other store, if it is not open there.
  private func open() throws {
    guard let there = try target.namespace(named: namespace.name) else { return }
    let number = PostgresValue.integer(there.number)
    try target.atomically([
      PostgresStatement("BEGIN"),
      PostgresStatement(
        """
        UPDATE namespace SET state = 0 WHERE ns = $1 AND EXISTS (
          SELECT 1 FROM meta m WHERE m.ns = namespace.ns AND m.name = '\(StoreMove.arrivalName)')
        """, number),
      PostgresStatement(
        "DELETE FROM meta WHERE ns = $1 AND name = '\(StoreMove.arrivalName)'", number),
      PostgresStatement("COMMIT"),
    ])
  }

  /// Waits for the writers, and lets no more of them in; returns the number of the move.
  private func freeze() throws -> String {
    var random = SystemRandomNumberGenerator()
    let fresh = PostgresIdentifier(using: &random).text
    let ns = PostgresValue.integer(namespace.number)
    try source.atomically([
      PostgresStatement("BEGIN"),
      PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", ns),
      PostgresStatement(
        "INSERT INTO meta (ns, name, value) VALUES ($1, $2, $3) ON CONFLICT (ns, name) DO NOTHING",
        ns, .text(StoreMove.moveName), .text(fresh)),
      PostgresStatement("UPDATE namespace SET state = 1 WHERE ns = $1 AND state = 0", ns),
      PostgresStatement("COMMIT"),
    ])
    let result = try source.connection.perform([
      PostgresStatement(
        "SELECT value FROM meta WHERE ns = $1 AND name = $2", ns, .text(StoreMove.moveName))
    ])[0]
    return result.count == 0 ? fresh : result.text(0, 0) ?? fresh
  }

  private func thaw() throws {
    let ns = PostgresValue.integer(namespace.number)
    try source.atomically([
      PostgresStatement("BEGIN"),
      PostgresStatement("UPDATE namespace SET state = 0 WHERE ns = $1 AND state = 1", ns),
      PostgresStatement(
        "DELETE FROM meta WHERE ns = $1 AND name = $2", ns, .text(StoreMove.moveName)),
      PostgresStatement("COMMIT"),
    ])
  }

  private func finish(_ address: String, _ name: String) throws {
    let ns = PostgresValue.integer(namespace.number)
    try source.atomically([
      PostgresStatement("BEGIN"),
      PostgresStatement("UPDATE namespace SET state = 2 WHERE ns = $1", ns),
      PostgresStatement(
        "DELETE FROM meta WHERE ns = $1 AND name = $2", ns, .text(StoreMove.moveName)),
      StoreMove.keeping(address, StoreMove.addressName, ns),
      StoreMove.keeping(name, StoreMove.storeName, ns),
      PostgresStatement("COMMIT"),
    ])
  }

  /// Sends the clients of a namespace that was moved to another address, unless that is empty or the same.
  ///
  /// Servers learn of it when they look, a quarter of a second later.
  private func readdress(_ address: String, insteadOf former: String) throws -> Bool {
    if address.isEmpty || address == former { return false }
    try source.connection.perform([
      StoreMove.keeping(address, StoreMove.addressName, .integer(namespace.number))
    ])
    return true
  }

  private static func keeping(
    _ value: String, _ name: String, _ namespace: PostgresValue
  ) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO meta (ns, name, value) VALUES ($1, $2, $3)
      ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
      """, namespace, .text(name), .text(value))
  }

  // MARK: Rows

  private func copy(_ number: String) throws {
    let from = source.connection
    let to = target.connection
    // Byte strings go through their texts.
    for connection in [from, to] {
      try connection.perform([PostgresStatement("SET bytea_output = 'hex'")])
    }
    try from.perform([PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")])
    defer {
      // A transaction that only read may end in any way.
      if from.isOpen { _ = try? from.perform([PostgresStatement("ROLLBACK")]) }
    }
    try to.perform([PostgresStatement("BEGIN")])
    do {
      let there = try makeNamespace()
      var count = 0
      for table in StoreMove.tables {
        try copy(table.name, table.columns, to: there) { rows in
          count += rows
          report(count)
        }
      }
      try to.perform([
        StoreMove.keeping(number, StoreMove.moveName, .integer(there)),
        StoreMove.keeping(number, StoreMove.arrivalName, .integer(there)),
        PostgresStatement("COMMIT"),
      ])
    } catch {
      // What failed before is what is told.
      if to.isOpen { _ = try? to.perform([PostgresStatement("ROLLBACK")]) }
      throw error
    }
  }

  private func makeNamespace() throws -> Int64 {
    let state = try source.connection.perform([
      PostgresStatement(
        "SELECT head, floor, last_at, next_split FROM namespace WHERE ns = $1",
        .integer(namespace.number))
    ])[0]
    let value = { (column: Int) in PostgresValue.integer(try state.integer(0, column) ?? 0) }
    let values = [
      .text(namespace.name), try value(0), try value(1), try value(2), try value(3),
    ]
    if let former = try target.namespace(named: namespace.name) {
      // Servers there know it by its number, and go on where they left off.
      try target.connection.perform(
        StoreMove.tables.map { table in
          PostgresStatement("DELETE FROM \(table.name) WHERE ns = $1", .integer(former.number))
        })
      try target.connection.perform([
        PostgresStatement(
          """
          UPDATE namespace SET head = $2, floor = $3, last_at = $4, next_split = $5, state = 1
          WHERE name = $1
          """, values: values)
      ])
      return former.number
    }
    let made = try target.connection.perform([
      PostgresStatement(
        """
        INSERT INTO namespace (ns, name, head, floor, last_at, next_split, state)
        SELECT \(PostgresStore.nextNumber), $1, $2, $3, $4, $5, 1 RETURNING ns
        """, values: values)
    ])[0]
    return try made.integer(0, 0) ?? 0
  }

  private func copy(
    _ table: String, _ columns: [(name: String, type: String)], to there: Int64,
    _ didCopy: (Int) -> Void
  ) throws {
    let names = columns.map(\.name).joined(separator: ", ")
    let texts = columns.map { "\($0.name)::text" }.joined(separator: ", ")
    let places = (1...columns.count).map { "c\($0)" }
    let values = zip(places, columns).map { "d.\($0)::\($1.type)" }.joined(separator: ", ")
    let arrays = (1...columns.count).map { "$\($0 + 1)" }.joined(separator: ", ")
    try source.connection.perform([
      PostgresStatement(
        "DECLARE runnel_move NO SCROLL CURSOR FOR SELECT \(texts) FROM \(table) WHERE ns = "
          + "\(namespace.number)")
    ])
    while true {
      let page = try source.connection.perform([
        PostgresStatement("FETCH \(StoreMove.pageCount) FROM runnel_move")
      ])[0]
      if page.count == 0 { break }
      let lists = columns.indices.map { column in
        PostgresValue.texts((0..<page.count).map { page.text($0, column) })
      }
      try target.connection.perform([
        PostgresStatement(
          """
          INSERT INTO \(table) (ns, \(names)) SELECT $1, \(values)
          FROM unnest(\(arrays)) d(\(places.joined(separator: ", ")))
          """, values: [.integer(there)] + lists)
      ])
      didCopy(page.count)
    }
    try source.connection.perform([PostgresStatement("CLOSE runnel_move")])
  }
}
