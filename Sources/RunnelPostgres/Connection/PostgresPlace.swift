import CPostgres

/// Where a database of PostgreSQL is, and how to sign in to it.
///
/// It comes from a file of the configuration or from the environment, never from a command line,
/// which other users of the machine can read.
package struct PostgresPlace: Hashable, Sendable {
  /// A connection string of libpq: `host=db1,db2 dbname=runnel user=runnel`, or an address
  /// `postgresql://…`.
  package var text: String
  /// When the program waits for it no more; nil for a program that waits as long as it likes.
  package var deadline: PostgresDeadline?

  /// Makes a place from a connection string.
  package init(_ text: String) { self.text = text }

  /// Places are the same if their texts are.
  package static func == (one: PostgresPlace, other: PostgresPlace) -> Bool {
    one.text == other.text
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// What is wrong with the text: it is no connection string, or has an option that libpq does not know; nil
  /// if nothing is, or libpq is not installed.
  package var fault: String? {
    guard let pq = runnel_pq_load() else { return nil }
    var message: UnsafeMutablePointer<CChar>?
    if let options = pq.pointee.PQconninfoParse(text, &message) {
      pq.pointee.PQconninfoFree(options)
      return nil
    }
    defer { pq.pointee.PQfreemem(message) }
    let words = message.map { String(cString: $0) } ?? "it is no connection string"
    return MessageLines.joined(words.split { "\n\t".contains($0) })
  }

  /// Makes the place that a service of libpq names, in `pg_service.conf`.
  ///
  /// The name is of the characters that `isName` allows.
  package init(service: String) { text = "service=\(service)" }

  /// True if a text can name a store: letters, digits, `-`, `_` and `.`, 64 at most.
  ///
  /// So it cannot hold a connection string, and no password either.
  package static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64
      && text.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
          || ["-", "_", "."].contains(scalar)
      }
  }
}
