import CPostgres

// Notifications: what other connections tell to all that listen on a channel.
extension PostgresConnection {
  /// The socket on which notifications arrive; nil once closed.
  ///
  /// It may be waited for while no statement runs.
  package var socket: Int32? { connection.map { pq.pointee.PQsocket($0) } }

  /// Takes the notifications that have arrived, in order; does not wait.
  ///
  /// Some may arrive with the answers to statements, so they are to be taken after these too.
  ///
  /// - Returns: their texts.
  /// - Throws: `PostgresError` (`disconnected`) if the connection broke; it is closed then.
  package func takeNotifications() throws(PostgresError) -> [String] {
    guard let connection else { return [] }
    if pq.pointee.PQconsumeInput(connection) != 1 { throw fail() }
    var texts: [String] = []
    while let notification = pq.pointee.PQnotifies(connection) {
      if let text = notification.pointee.payload { texts.append(String(cString: text)) }
      pq.pointee.PQfreemem(notification)
    }
    return texts
  }
}
