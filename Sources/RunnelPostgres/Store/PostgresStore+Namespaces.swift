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
  /// The name in `meta`, in namespace 0, of the greatest number of a namespace that was dropped.
  private static let droppedName = "namespace.dropped"

  /// An expression for the number of a new namespace: no number stands for two of them, not even one after
  /// the other, since servers know them by it.
  static let nextNumber = """
    greatest((SELECT coalesce(max(ns), 0) FROM namespace), (SELECT coalesce(max(value::int), 0) FROM meta
      WHERE ns = 0 AND name = '\(droppedName)')) + 1
    """

  /// Where a namespace was moved to.
  ///
  /// - Throws: `PostgresError` if it cannot be read.
  package func newPlace(of namespace: Namespace) throws -> NewPlace {
    NewPlace(
      store: try metaValue(StoreMove.storeName, of: namespace) ?? "",
      address: try metaValue(StoreMove.addressName, of: namespace) ?? "")
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
  private func noteFormer(_ namespace: Namespace) throws -> PostgresStatement {
    let name = PostgresValue.text(PostgresStore.formerPrefix + namespace.name)
    guard namespace.state == .moved else {
      return PostgresStatement("DELETE FROM meta WHERE ns = 0 AND name = $1", name)
    }
    let place = try newPlace(of: namespace)
    return PostgresStatement(
      """
      INSERT INTO meta (ns, name, value) VALUES (0, $1, $2)
      ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
      """, name, .text("\(place.store) \(place.address)"))
  }

  /// Removes a namespace with all that is in it; servers stop serving it.
  ///
  /// O(n) in its rows, in one transaction.
  ///
  /// - Throws: `PostgresError`; then it is still there, unless the connection broke.
  package func dropNamespace(_ namespace: Namespace) throws {
    let number = PostgresValue.integer(namespace.number)
    var statements = [
      PostgresStatement("BEGIN"),
      PostgresStatement("SELECT 1 FROM namespace WHERE ns = $1 FOR UPDATE", number),
    ]
    statements += (StoreMove.tables.map(\.name) + ["namespace"]).map { table in
      PostgresStatement("DELETE FROM \(table) WHERE ns = $1", number)
    }
    statements.append(
      PostgresStatement(
        """
        INSERT INTO meta (ns, name, value) VALUES (0, '\(PostgresStore.droppedName)', $1::int::text)
        ON CONFLICT (ns, name) DO UPDATE
        SET value = greatest(meta.value::int, excluded.value::int)::text
        """, number))
    try atomically(statements + [try noteFormer(namespace), PostgresStatement("COMMIT")])
  }
}
