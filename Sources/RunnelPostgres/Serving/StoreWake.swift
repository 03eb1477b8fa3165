/// What servers of a store tell each other, so that nobody waits for the next look: a hint, never the
/// truth.
///
/// Source: several servers, section 4, "Waking".
package enum StoreWake: Hashable, Sendable {
  /// A namespace has a new place in its feed.
  case head(namespace: Int64, head: Int64)
  /// A server has begun, or is about to end.
  case servers

  private static let channel = "runnel"
  private static let serversText = "servers"

  /// Reads a notification; nil if another version of the program sent it.
  package init?(_ text: String) {
    if text == StoreWake.serversText {
      self = .servers
      return
    }
    let parts = text.split(separator: ":").map { Int64($0) }
    guard parts.count == 2, let namespace = parts[0], let head = parts[1] else { return nil }
    self = .head(namespace: namespace, head: head)
  }

  private var text: String {
    switch self {
    case .head(let namespace, let head): "\(namespace):\(head)"
    case .servers: StoreWake.serversText
    }
  }

  /// Makes a connection hear what is told.
  ///
  /// - Returns: false if the database knows no notifications.
  /// - Throws: `PostgresError` if the connection broke.
  package static func listen(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
    do {
      try connection.perform([PostgresStatement("LISTEN \(channel)")])
      return true
    } catch {
      if error.kind == .refused { return false }
      throw error
    }
  }

  /// Tells the others, all in one statement, without waiting for the disk.
  ///
  /// A notification inside a writing transaction would make all writers of the cluster wait for each
  /// other.
  ///
  /// - Throws: `PostgresError`; the connection is closed then.
  package static func send(
    _ wakes: [StoreWake], _ connection: PostgresConnection
  ) throws(PostgresError) {
    do {
      try connection.perform([
        PostgresStatement("BEGIN"), PostgresStatement("SET LOCAL synchronous_commit = off"),
        PostgresStatement(
          "SELECT pg_notify('\(channel)', t) FROM unnest($1) t", .texts(wakes.map(\.text))),
        PostgresStatement("COMMIT"),
      ])
    } catch {
      // The transaction must not stay open.
      connection.close()
      throw error
    }
  }
}
