package import RunnelBase
import RunnelStore

/// A connection to the server of the database, as the server tells of it.
package struct ServerClient: Hashable, Sendable {
  /// Its number, which no other connection of the server has or had.
  package var id: Int64
  /// What it is: `socket`, `stream` or `request`.
  package var kind: String
  /// The address without the port; empty if it has none.
  package var address: String
  /// The user's id, `administrator`, or nothing.
  package var user: String
  /// How many places and queries it listens to.
  package var listenCount: Int
  /// The bytes that were sent to it.
  package var sentBytes: Int
  /// When it was opened, in milliseconds since 1970.
  package var since: Int64

  package init(
    id: Int64, kind: String, address: String, user: String, listenCount: Int, sentBytes: Int,
    since: Int64
  ) {
    (self.id, self.kind, self.address, self.user) = (id, kind, address, user)
    (self.listenCount, self.sentBytes, self.since) = (listenCount, sentBytes, since)
  }

  /// Who it is, for a person: `ana at 127.0.0.1`.
  var name: String {
    let place = address.isEmpty ? "a Unix socket" : address
    return user.isEmpty ? place : "\(user) at \(place)"
  }
}

/// The first connections to the server of the database, the oldest first.
package struct ClientPage: Hashable, Sendable {
  /// How many are told at most.
  package static let countMax = 2000

  package var clients: [ServerClient]
  /// True if there are more of them.
  package var hasMore: Bool

  package init(_ clients: [ServerClient], hasMore: Bool) {
    (self.clients, self.hasMore) = (clients, hasMore)
  }
}

/// What the workspace asks of the server of the database.
package enum ServerRequest: Hashable, Sendable {
  /// Who is connected; at most so many are told.
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
