import RunnelBase

/// Names of database files: each one means the file of that name, whatever SQLite reads into it.
enum DatabaseFileName {
  /// Checks that a text can name a file.
  ///
  /// SQLite takes an empty name for a temporary database, and reads a name up to its first U+0000.
  ///
  /// O(n) in the text.
  ///
  /// - Throws: `DatabaseError` (`cannotOpen`) if it cannot.
  static func check(_ file: String) throws {
    if file.isEmpty {
      throw DatabaseError(.cannotOpen, "The name of the database's file is empty: name a file.")
    }
    if file.utf8.contains(0) {
      throw DatabaseError(
        .cannotOpen,
        "\(ControlCharacters.escapedLine(file)) holds U+0000, which names of files cannot: "
          + "remove it.")
    }
  }

  /// The name as SQLite must be given it, which would take `:memory:` for a database in memory and
  /// `file:a.db` for an address.
  static func forSQLite(_ file: String) -> String {
    // Bytes are compared, as SQLite does: a colon and a mark after it are one character.
    [":", "file:"].contains { file.utf8.starts(with: $0.utf8) } ? "./" + file : file
  }
}
