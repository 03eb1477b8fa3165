// Namespaces that are elsewhere, or are no longer needed.
extension PostgresStore {
  /// Where a namespace is that was moved to another store.
  package struct NewPlace: Hashable {
    /// The name of the store; empty if it was not told.
    package var store: String
    /// HOST:PORT of its servers; empty if it was not told.
    package var address: String

    /// The place as the end of a sentence: `the store second, at b.example.net:9000`.
    package var words: String {
      (store.isEmpty ? "another store" : "the store \(store)")
        + (address.isEmpty ? "" : ", at \(address)")
    }
  }

  /// What the names in `meta`, in namespace 0, begin with that tell where a namespace is whose rows were
  /// dropped here after its move.
  private static let formerPrefix = "namespace.left."
  /// The name in `meta`, in namespace 0, of the greatest number that a namespace had, or was to have.
  private static let droppedName = "namespace.dropped"

  /// A statement that takes the number of a new namespace, unless `condition` is false: no number stands for
  /// two of them, not even one after the other, since servers know them by it.
  ///
  /// Who takes one waits for another only until that one's transaction ends.
  static func takingNumber(if condition: String = "true") -> String {
    """
    INSERT INTO meta (ns, name, value)
    SELECT 0, '\(droppedName)', (coalesce(max(ns), 0) + 1)::text FROM namespace HAVING \(condition)
    ON CONFLICT (ns, name) DO UPDATE SET value = (greatest(
      meta.value::int, (SELECT coalesce(max(n.ns), 0) FROM namespace n)) + 1)::text
    RETURNING value::int AS number
    """
  }

  /// Takes the number of a namespace that is made later.
  ///
  /// - Throws: `PostgresError`, also if this store confirms no writes.
  func takeNumber() throws -> Int64 {
    let taken = try connection.perform([PostgresStatement(PostgresStore.takingNumber())])[0]
    return try taken.integer(0, 0) ?? 0
  }

  /// Where a namespace was moved to.
  ///
  /// - Throws: `PostgresError` if it cannot be read.
  package func newPlace(of namespace: Namespace) throws -> NewPlace {
    try PostgresStore.newPlace(of: namespace.number, connection)
  }

  static func newPlace(
    of namespace: Int64, _ connection: PostgresConnection
  ) throws(PostgresError) -> NewPlace {
    let names = [StoreMove.storeName, StoreMove.addressName]
    let results = try connection.perform(
      names.map { name in
        PostgresStatement(
          "SELECT value FROM meta WHERE ns = $1 AND name = $2", .integer(namespace), .text(name))
      })
    let texts = results.map { $0.count == 0 ? "" : $0.text(0, 0) ?? "" }
    return NewPlace(store: texts[0], address: texts[1])
  }

  /// Where a namespace was moved to whose rows are not here any more; nil if that is not known.
  ///
  /// - Throws: `PostgresError` if it cannot be read.
  package func formerPlace(of name: String) throws -> NewPlace? {
    let result = try connection.perform([
      PostgresStatement(
        "SELECT value FROM meta WHERE ns = 0 AND name = $1",
        .text(PostgresStore.formerPrefix + name))
    ])[0]
    guard result.count > 0, let value = result.text(0, 0) else { return nil }
    let parts = value.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return NewPlace(store: parts[0], address: parts.count > 1 ? parts[1] : "")
  }

  /// Keeps in mind where a namespace is that is dropped.
  private func noteFormer(_ namespace: Namespace) throws -> [PostgresStatement] {
    let name = PostgresStore.formerPrefix + namespace.name
    let place: NewPlace
    if namespace.state == .moved {
      place = try newPlace(of: namespace)
    } else if try isArriving(namespace) {
      // It has not come: what is known from before is true.
      guard let kept = try keptPlace(of: namespace) else { return [] }
      place = kept
    } else {
      return [StoreMove.forgetting([name], .integer(0))]
    }
    return [StoreMove.keeping("\(place.store) \(place.address)", name, .integer(0))]
  }

  /// Keeps in mind the number of a namespace that is dropped.
  static func noteDropped(_ number: PostgresValue) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO meta (ns, name, value) VALUES (0, '\(PostgresStore.droppedName)', $1::int::text)
      ON CONFLICT (ns, name) DO UPDATE
      SET value = greatest(meta.value::int, excluded.value::int)::text
      """, number)
  }

  /// What removes a namespace with all that is in it.
  func removal(of namespace: Namespace) throws -> [PostgresStatement] {
    let number = PostgresValue.integer(namespace.number)
    let rows = (StoreMove.tables.map(\.name) + ["namespace"]).map { table in
      PostgresStatement("DELETE FROM \(table) WHERE ns = $1", number)
    }
    return rows + [PostgresStore.noteDropped(number)] + (try noteFormer(namespace))
  }

  /// Removes a namespace with all that is in it; servers stop serving it.
  ///
  /// O(n) in its rows, in one transaction.
  ///
  /// - Throws: `PostgresError`, also if its state is another one than what the caller knows; then it is
  ///   still there, unless the connection broke.
  package func dropNamespace(_ namespace: Namespace) throws {
    let number = PostgresValue.integer(namespace.number)
    let statements = try removal(of: namespace) + [PostgresStatement("COMMIT")]
    try undoing {
      let found = try connection.perform([
        PostgresStatement("BEGIN"),
        PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", number),
      ])[1]
      // What was moved away may have been moved back.
      if found.count > 0, try found.integer(0, 0) != namespace.state.rawValue {
        throw PostgresError(
          .unsuitable,
          "\(namespace.name) was changed by another command meanwhile: look at it again.")
      }
      try connection.perform(statements)
    }
  }
}
