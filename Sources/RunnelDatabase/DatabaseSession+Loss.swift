// What is done when the files of an open database are deleted, moved, replaced or cut off.
//
// The session is then at its end: it writes nothing any more, also if the file comes back, for others may
// have written it meanwhile. What it has open it still reads.

extension DatabaseSession {
  /// Why nothing is written any more: what became of the file, once that was found out; nil while it is there.
  public var fileLoss: DatabaseError? { store.loss?.error(file: file) }

  /// Makes sure that the file is still that which was opened.
  ///
  /// Writes do so themselves.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) if it is not.
  public func checkFile() throws { try store.checkFiles() }

  /// That the file is gone, if nobody was told yet.
  package func takeLossNews() -> DatabaseMessage? {
    guard !isLossTold, let error = fileLoss else { return nil }
    isLossTold = true
    return .fileGone(error)
  }

  /// Writes the whole database, as this session reads it, to a new file: also what was in a file that is gone.
  ///
  /// The new file gets its name when it is whole and on disk. O(n) in the database.
  ///
  /// - Parameters:
  ///   - file: the path of the new file; there must be none.
  ///   - isWanted: is asked now and then; false stops the work, and leaves no file.
  /// - Returns: how many bytes the new file has.
  /// - Throws: `DatabaseError` (`refused` if there is such a file, `diskFull`, `cancelled`, or why the
  ///   database cannot be read).
  @discardableResult
  public func saveCopy(
    to file: String, isWanted: @escaping () -> Bool = { true }
  ) throws -> Int {
    try store.saveCopy(to: file, isWanted: isWanted)
  }
}
