/// What a database knows of the data file that it was made of.
package struct DataFileNote: Hashable, Sendable {
  /// What the file held when it was read or written by this program last; nil if that is not known.
  package var known: FileMark?
  /// What others wrote to it since, if the user did not want that read; nil for nothing.
  package var declined: FileMark?

  /// Makes a note.
  package init(known: FileMark?, declined: FileMark? = nil) {
    (self.known, self.declined) = (known, declined)
  }

  /// Whether others wrote to the file what neither was read from it nor is to be asked about again.
  package func isNews(_ mark: FileMark) -> Bool { mark != known && mark != declined }

  /// Whether others wrote to the file what was not read from it.
  package func isOfOthers(_ mark: FileMark) -> Bool {
    if let known { mark != known } else { declined != nil }
  }
}

extension DatabaseSession {
  /// The note on the data file that the database was made of; nil if there is none.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  package func dataFileNote() throws -> DataFileNote? { try store.read { try $0.dataFileNote() } }

  /// Keeps a note on the data file in the database, in the place of the last one.
  ///
  /// It is no change of the tree: nobody is told of it, and it is not in the history.
  ///
  /// - Throws: `DatabaseError` if it cannot be written.
  package func keep(_ note: DataFileNote) throws { try store.write { try $0.keep(note) } }
}

extension StoreTransaction {
  private static let knownName = "datafile.known"
  private static let declinedName = "datafile.declined"

  fileprivate func dataFileNote() throws -> DataFileNote? {
    let known = try fileMark(StoreTransaction.knownName)
    let declined = try fileMark(StoreTransaction.declinedName)
    return known == nil && declined == nil ? nil : DataFileNote(known: known, declined: declined)
  }

  fileprivate func keep(_ note: DataFileNote) throws {
    try keep(note.known, StoreTransaction.knownName)
    try keep(note.declined, StoreTransaction.declinedName)
  }

  private func fileMark(_ name: String) throws -> FileMark? {
    try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(name)) { try $0.text(0, "value") }
      .flatMap { FileMark(text: $0) }
  }

  private func keep(_ mark: FileMark?, _ name: String) throws {
    if let mark {
      try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
        .run(.text(name), .text(mark.text))
    } else {
      try statement("DELETE FROM meta WHERE name = ?").run(.text(name))
    }
  }
}
