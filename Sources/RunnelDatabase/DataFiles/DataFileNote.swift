/// What a database knows of the data file that it was made of.
package struct DataFileNote: Hashable, Sendable {
  /// What the file held when it was read or written by this program last; nil if that is not known.
  package var known: FileMark?
  /// What others wrote to it since, if the user did not want that read; nil for nothing.
  package var declined: FileMark?
  /// Which rows those of the file were when `known` was read or written, as a text that others make; nil if
  /// that is not known.
  package var rows: String?

  /// Makes a note.
  package init(known: FileMark?, declined: FileMark? = nil, rows: String? = nil) {
    (self.known, self.declined, self.rows) = (known, declined, rows)
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
  private static let rowsName = "datafile.rows"

  fileprivate func dataFileNote() throws -> DataFileNote? {
    let known = try fileMark(StoreTransaction.knownName)
    let declined = try fileMark(StoreTransaction.declinedName)
    if known == nil, declined == nil { return nil }
    return DataFileNote(
      known: known, declined: declined, rows: try metaText(StoreTransaction.rowsName))
  }

  fileprivate func keep(_ note: DataFileNote) throws {
    try keep(note.known?.text, StoreTransaction.knownName)
    try keep(note.declined?.text, StoreTransaction.declinedName)
    try keep(note.rows, StoreTransaction.rowsName)
  }

  private func fileMark(_ name: String) throws -> FileMark? {
    try metaText(name).flatMap { FileMark(text: $0) }
  }

  private func metaText(_ name: String) throws -> String? {
    try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(name)) { try $0.text(0, "value") }
  }

  private func keep(_ text: String?, _ name: String) throws {
    if let text {
      try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
        .run(.text(name), .text(text))
    } else {
      try statement("DELETE FROM meta WHERE name = ?").run(.text(name))
    }
  }
}
