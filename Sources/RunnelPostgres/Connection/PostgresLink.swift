/// What carries out the statements of a connection: a server of PostgreSQL, or a model of one in tests.
///
/// See `PostgresConnection` for what each member means.
///
/// Isolation: used by the thread of the connection.
package protocol PostgresLink: AnyObject {
  var isOpen: Bool { get }
  var serverVersion: Int { get }
  var name: String { get }
  var warningState: String? { get }
  var socket: Int32? { get }

  func perform(
    _ statements: [PostgresStatement], within patience: Duration?
  ) throws(PostgresError) -> [PostgresResult]
  func post(_ statements: [PostgresStatement]) throws(PostgresError)
  func takeNotifications() throws(PostgresError) -> [String]
  func close()
}
