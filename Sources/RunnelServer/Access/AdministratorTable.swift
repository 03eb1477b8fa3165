/// What makes somebody an administrator of a database: its secrets, or its service accounts.
///
/// It is in a file beside a database file, and in a store beside the rules of a namespace.
package protocol AdministratorTable: Sendable {
  /// The name under which a store keeps it.
  static var keptName: String { get }

  /// The file of it for a database file.
  static func file(beside database: String) -> String

  /// Makes an empty one.
  init()

  /// Reads a file, which need not exist.
  ///
  /// - Throws: `ServerError` if it cannot be read.
  init(file: String) throws(ServerError)

  /// Reads the text of a file, or what a store keeps; the place is for errors.
  ///
  /// - Throws: `ServerError` if it is none.
  init(parsing bytes: [UInt8], from place: String) throws(ServerError)

  /// Its text.
  var bytes: [UInt8] { get }

  /// Writes the file, readable by its owner only.
  ///
  /// - Throws: `ServerError` if it cannot be written.
  func write(to file: String) throws(ServerError)
}

/// The secrets and service accounts that a store keeps for a namespace.
struct StoredAccess: Sendable {
  let secrets: ServerSecrets
  let accounts: ServiceAccounts

  /// Reads them.
  ///
  /// - Throws: errors of the storage, and `ServerError` if they cannot be read.
  init(_ transaction: any ServedTransaction, of place: String) throws {
    func read<Table: AdministratorTable>() throws -> Table {
      guard let text = try transaction.keptValue(Table.keptName) else { return Table() }
      return try Table(parsing: Array(text.utf8), from: place)
    }
    (secrets, accounts) = (try read(), try read())
  }
}
