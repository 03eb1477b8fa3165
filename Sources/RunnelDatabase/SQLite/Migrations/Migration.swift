import GRDB

/// A step that brings the tables of a file from one version to the next.
///
/// Each step has a file of its own, named after the version it leads to, and one line in
/// `Schema.migrations`. It runs in a transaction with the change of the version, so a file has taken
/// all of it or nothing. Once released it never changes.
struct Migration: Sendable {
  /// The version that the step leads to, from the one before.
  let version: Int
  /// True if a file without this step can be read.
  let isReadableWithout: Bool
  /// The function that changes the tables, and fills the additions.
  let perform: @Sendable (GRDB.Database) throws -> Void
}
