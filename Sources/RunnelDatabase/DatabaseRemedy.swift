/// What can be done about an error besides what its message says: for programs with commands, which say
/// it in their own words.
package enum DatabaseRemedy: Hashable, Sendable {
  /// The damaged file can be examined and repaired.
  case repair(file: String)
  /// What can be read of the damaged file can be put into a new one.
  case salvage(file: String)
  /// The file can be opened only to read.
  case readOnly(file: String)
  /// The file holds text, which can be read into a database.
  case text(file: String)
  /// The database is empty, and can be filled.
  case fill
  /// The file has to be brought to the present version.
  case convert
  /// The replica takes writes, and no documents.
  case write
}

extension DatabaseError {
  /// The same error with what can be done.
  func with(_ remedy: DatabaseRemedy) -> DatabaseError {
    var error = self
    error.remedy = remedy
    return error
  }
}
