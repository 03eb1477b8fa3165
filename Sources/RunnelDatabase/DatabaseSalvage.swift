/// What was copied from a damaged database into a new one, and what is known to be missing.
package struct DatabaseSalvage: Sendable {
  /// The number of copied rows.
  package internal(set) var rowCount: Int
  /// The faults of the copied rows, and the places to which a repair moved them.
  package internal(set) var repair: DatabaseRepair
  /// Whether all pages with rows could be read; if not, nobody knows what is missing.
  package internal(set) var hasAllPages: Bool
  /// Whether the definitions of indexes could be read; if not, the new database has none of them, or
  /// only some.
  package internal(set) var hasIndexes: Bool
  /// Whether the log beside the file is that of another one; it was not used.
  package internal(set) var hasForeignLog: Bool
  /// The damage of the log beside the file in words; nil if there is none.
  package internal(set) var logDamage: String?
}
