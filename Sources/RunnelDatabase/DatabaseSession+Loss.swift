// The behavior of a session when the files of its open database are deleted, moved, replaced or
// truncated.
//
// The session then writes nothing any more, even if the file comes back, since others may have
// written to it meanwhile. It can still read the files that it has open.

extension DatabaseSession {
  /// The reason why nothing is written any more, once the loss of the file was noticed; nil
  /// otherwise.
  package var fileLoss: DatabaseError? { store.loss?.error(file: file) }

  /// Checks that the file is still the one that was opened.
  ///
  /// Writes check it themselves.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) if it is not.
  package func checkFile() throws { try store.checkFiles() }

  /// The message that the file is gone, if it was not taken before.
  package func takeLossNews() -> DatabaseMessage? {
    guard !isLossTold, let error = fileLoss else { return nil }
    isLossTold = true
    return .fileGone(error)
  }

  /// Writes the whole database, as this session reads it, to a new file, even if its own file is
  /// gone.
  ///
  /// The new file gets its name when it is complete and on disk. O(n) in the database.
  ///
  /// - Parameters:
  ///   - file: the path of the new file, which must not exist.
  ///   - isWanted: called now and then; false stops the work, and leaves no file.
  /// - Returns: the size of the new file in bytes.
  /// - Throws: `DatabaseError` (`refused` if the file exists, `diskFull`, `cancelled`, or the
  ///   reason why the database cannot be read).
  @discardableResult
  package func saveCopy(
    to file: String, isWanted: @escaping () -> Bool = { true }
  ) throws -> Int {
    try store.saveCopy(to: file, isWanted: isWanted)
  }
}
