package import RunnelBase
import RunnelStore

/// A connection to the database's server, as the server reports it.
package struct ServerClient: Hashable, Sendable {
  /// The number of the connection, which the server never uses again.
  package var id: Int64
  /// The kind: `socket`, `stream` or `request`.
  package var kind: String
  /// The address without the port; empty for a Unix socket.
  package var address: String
  /// The user's id, or `administrator`; empty if unauthenticated.
  package var user: String
  /// The number of places and queries that it listens to.
  package var listenCount: Int
  /// The number of bytes sent to it.
  package var sentBytes: Int
  /// The time when it was opened, in milliseconds since 1970.
  package var since: Int64

  package init(
    id: Int64, kind: String, address: String, user: String, listenCount: Int, sentBytes: Int,
    since: Int64
  ) {
    (self.id, self.kind, self.address, self.user) = (id, kind, address, user)
    (self.listenCount, self.sentBytes, self.since) = (listenCount, sentBytes, since)
  }

  /// The name for a person: `ana at 127.0.0.1`.
  var name: String {
    let place = address.isEmpty ? "a Unix socket" : address
    return user.isEmpty ? place : "\(user) at \(place)"
  }
}

/// The first connections to the server of the database, the oldest first.
package struct ClientPage: Hashable, Sendable {
  /// The most clients of a page.
  package static let countMax = 2000

  package var clients: [ServerClient]
  /// True if there are more of them.
  package var hasMore: Bool

  package init(_ clients: [ServerClient], hasMore: Bool) {
    (self.clients, self.hasMore) = (clients, hasMore)
  }
}

/// A request of the workspace to the database's server.
package enum ServerRequest: Hashable, Sendable {
  /// List the connected clients, at most `countMax`.
  case clients(countMax: Int)
  /// End a connection, by its number.
  case disconnect(Int64)
}

// MARK: - Recorded sessions

extension ClientPage {
  package var log: JSONValue {
    ["clients": .array(clients.map(\.log)), "more": .bool(hasMore)]
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(
      try fields.array("clients").map { try ServerClient(log: $0) },
      hasMore: try fields.bool("more"))
  }
}

extension ServerClient {
  fileprivate var log: JSONValue {
    [
      "id": .number(JSONNumber(id)), "kind": .string(kind), "address": .string(address),
      "user": .string(user), "listens": .int(listenCount), "bytes": .int(sentBytes),
      "since": .number(JSONNumber(since)),
    ]
  }

  fileprivate init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(
      id: try fields.int64("id"), kind: try fields.string("kind"),
      address: try fields.string("address"), user: try fields.string("user"),
      listenCount: try fields.int("listens"), sentBytes: try fields.int("bytes"),
      since: try fields.int64("since"))
  }
}
