// The rows of a namespace that is moved.
extension StoreMove {
  func copy(_ number: String) throws {
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
    let obsolete = try obsoleteNames()
    try to.perform([PostgresStatement("BEGIN")])
    do {
      let (there, kept) = try makeNamespace()
      var count = 0
      for table in StoreMove.tables {
        try copy(table.name, table.columns, to: there) { rows in
          count += rows
          try report(count)
        }
      }
      try to.perform([StoreMove.forgetting(obsolete, .integer(there))])
      try to.perform([
        // What is said of the namespace where it was.
        StoreMove.forgetting(
          [
            StoreMove.targetName, StoreMove.readyName, StoreMove.addressName, StoreMove.storeName,
            StoreMove.numberName, StoreMove.unopenedName, StoreMove.originName,
            StoreMove.openedName,
          ] + StoreMove.keptNames, .integer(there)),
        StoreMove.keeping(origin, StoreMove.originName, .integer(there)),
        StoreMove.keeping("", StoreMove.camePrefix + number, .integer(there)),
        StoreMove.keeping(number, StoreMove.moveName, .integer(there)),
        StoreMove.keeping(number, StoreMove.arrivalName, .integer(there)),
      ])
      // What is said of it here, if the move is given up.
      try to.perform(
        kept.map { StoreMove.keeping($0.1, $0.0, .integer(there)) } + [PostgresStatement("COMMIT")])
    } catch {
      // What failed before is what is told.
      if to.isOpen { _ = try? to.perform([PostgresStatement("ROLLBACK")]) }
      throw error
    }
  }

  /// The names in `meta` that meant what is replaced in the target: only what a move left there has its
  /// number, and only what a move brought there that was given up.
  private func obsoleteNames() throws -> [String] {
    guard let former = try target.namespace(named: namespace.name) else { return [] }
    let left = try target.metaValue(StoreMove.numberName, of: former)
    let brought = try target.metaValue(StoreMove.moveName, of: former)
    return [
      left.map { StoreMove.camePrefix + $0 },
      try target.isArriving(former) ? brought.map { StoreMove.undonePrefix + $0 } : nil,
    ].compactMap(\.self)
  }

  /// Makes the namespace in the other store, empty; also returns what is to be kept of an earlier move.
  private func makeNamespace() throws -> (number: Int64, kept: [(String, String)]) {
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
      try target.connection.perform([
        PostgresStatement(
          "SELECT 1 FROM namespace WHERE ns = $1 FOR UPDATE", .integer(former.number))
      ])
      // It may have changed since it was looked at.
      if try arrival().isThere {
        throw PostgresError(
          .unsuitable, "\(target.connection.name) has a namespace \(namespace.name) already.")
      }
      let isOther = try isOfOther(former, isLate: true)
      if isOther, !isForced { throw try refusal(of: former) }
      let kept = try StoreMove.kept(of: former.number, target)
      try target.connection.perform(
        StoreMove.tables.map { table in
          PostgresStatement("DELETE FROM \(table.name) WHERE ns = $1", .integer(former.number))
        })
      if !isOther {
        // Servers there know it by its number, and go on where they left off.
        try target.connection.perform([
          PostgresStatement(
            """
            UPDATE namespace SET head = $2, floor = $3, last_at = $4, next_split = $5, state = 1
            WHERE name = $1
            """, values: values)
        ])
        return (former.number, kept)
      }
      try target.connection.perform([
        PostgresStatement("DELETE FROM namespace WHERE ns = $1", .integer(former.number))
      ])
    }
    let made = try target.connection.perform([
      PostgresStatement(
        """
        INSERT INTO namespace (ns, name, head, floor, last_at, next_split, state)
        VALUES ($6, $1, $2, $3, $4, $5, 1) RETURNING ns
        """, values: values + [.integer(newNumber)])
    ])[0]
    return (try made.integer(0, 0) ?? 0, [])
  }

  private func copy(
    _ table: String, _ columns: [(name: String, type: String)], to there: Int64,
    _ didCopy: (Int) throws -> Void
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
      try didCopy(page.count)
    }
    try source.connection.perform([PostgresStatement("CLOSE runnel_move")])
  }
}
