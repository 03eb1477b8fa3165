// The behavior of a session when the files of its open database are deleted, moved, replaced or
// truncated.
//
// The session then writes nothing any more. It can still read the files that it has open. Only a file
// that was moved away and back, and is certainly the same with the same content, is written again:
// otherwise others may have written to it meanwhile.

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

  /// Checks that the file is at its place, for one system call; a loss that was noticed before counts.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) if it is not.
  func checkPlace() throws { try store.checkPlace() }

  /// The message that the file is gone, if it was not taken before.
  package func takeLossNews() -> DatabaseMessage? {
    guard !isLossTold, let error = fileLoss else { return nil }
    isLossTold = true
    return .fileGone(error)
  }

  /// The message that a file that was moved away is at its place again; nil if it is not, or if that was
  /// told before.
  ///
  /// If the file is certainly as it was, the session writes again. Otherwise the message says that the
  /// file has to be opened again.
  package func takeReturnNews() -> DatabaseMessage? {
    guard isLossTold, !isReturnTold, store.loss != nil else { return nil }
    // After an error, the next look tries it again.
    switch (try? store.endLossIfBack()) ?? .absent {
    case .absent: return nil
    case .partial(let names):
      if names == missingTold { return nil }
      missingTold = names
      return .fileGone(.isBack(file, without: names))
    case .whole:
      (isLossTold, missingTold) = (false, [])
      return .fileBack
    case .uncertain:
      isReturnTold = true
      return .fileGone(
        DatabaseError(
          .fileGone,
          "\(file) is at its place again, but may have been written meanwhile: open it again."))
    }
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

  /// Copies the next pages of a file that is gone; the first ones if none were copied to this file yet.
  ///
  /// The pages are those of the time of the first call: nothing is written while the file is gone, and a
  /// file that comes back is not noticed until the copy has ended.
  ///
  /// - Parameter file: the path of the new file, which must not exist; it is made by
  ///   `DatabaseCopy.finish(pagesTo:isWanted:)`.
  /// - Returns: how far the copy is; or that the file is at its place, where `DatabaseCopy` reads it.
  /// - Throws: `DatabaseError` (`refused` if the file exists or the old one was written meanwhile, `diskFull`,
  ///   or the reason why it cannot be read); then no file is left.
  package func copyPages(to file: String) throws -> CopyStage {
    try store.copyPages(to: file)
  }

  /// Ends the copying of pages to a file, and removes them.
  package func endCopy(to file: String) { store.endCopy(to: file) }
}

extension DatabaseError {
  /// The error that a file is at its place again, without files that belong beside it.
  static func isBack(_ file: String, without names: [String]) -> DatabaseError {
    DatabaseError(
      .fileGone,
      "\(file) is at its place again, but not \(names.joined(separator: " and ")): put that back, too, and "
        + "do not open the file before.")
  }
}
