import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The disconnect writes of sessions on a tree of its own: JSON objects in `meta`, named
// `disconnect.NUMBER`. One is removed in the transaction that does its writes, so that they are
// done once, by the session that first notices the end.

/// The writes that are done when a session ends.
struct DisconnectWrites: Equatable {
  /// The most bytes of the writes as text.
  static let bytesMax = 1_048_576

  private enum Field {
    static let author = "author"
    static let writes = "writes"
    static let path = "path"
    static let value = "value"
    static let members = "members"
  }

  /// The author of the session's writes, for the history.
  var author: String
  /// The writes, in order; they do not overlap.
  var writes: [Write]

  init(author: String, writes: [Write]) { (self.author, self.writes) = (author, writes) }

  var text: String {
    let writes: [JSONValue] = writes.compactMap { write in
      switch write {
      case .set(let path, let json):
        [Field.path: .string(path.description), Field.value: json]
      case .update(let path, let members):
        [Field.path: .string(path.description), Field.members: .object(members)]
      // These are never disconnect writes.
      case .copy, .move: nil
      }
    }
    let json: JSONValue = [Field.author: .string(author), Field.writes: .array(writes)]
    return json.jsonText()
  }

  init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    guard let elements = json[Field.writes]?.array else {
      throw Damage("the disconnect writes of a session cannot be read")
    }
    author = json[Field.author]?.string ?? ""
    writes = try elements.map { element in
      guard let place = element[Field.path]?.string else {
        throw Damage("a disconnect write of a session has no path")
      }
      let path = try Path(place)
      if case .object(let members)? = element[Field.members] { return .update(path, members) }
      return .set(path, element[Field.value] ?? .null)
    }
  }
}

extension StoreTransaction {
  private static let disconnectPrefix = "disconnect."

  /// Returns the numbers of the sessions that have disconnect writes.
  func sessionsWithDisconnects() throws -> [Int64] {
    let statement = try db.cachedStatement(
      sql: "SELECT name FROM meta WHERE name >= 'disconnect.' AND name < 'disconnect/'")
    return try Row.fetchAll(statement).compactMap { row in
      Int64(try row.text("name").dropFirst(StoreTransaction.disconnectPrefix.count))
    }
  }

  /// Returns the disconnect writes of a session; nil if there are none, or they were done.
  func disconnect(of session: Int64) throws -> DisconnectWrites? {
    let statement = try db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?")
    let name = StoreTransaction.disconnectPrefix + String(session)
    return try Row.fetchOne(statement, arguments: [name]).map {
      try DisconnectWrites(parsing: $0.text("value"))
    }
  }

  /// Stores the disconnect writes of a session, or removes them.
  func setDisconnect(_ kept: DisconnectWrites?, of session: Int64) throws {
    let name = StoreTransaction.disconnectPrefix + String(session)
    guard let kept else {
      return try db.cachedStatement(sql: "DELETE FROM meta WHERE name = ?")
        .execute(arguments: [name])
    }
    let text = kept.text
    if text.utf8.count > DisconnectWrites.bytesMax {
      throw DatabaseError(
        .refused,
        "The disconnect writes have more than \(DisconnectWrites.bytesMax) bytes: register fewer."
      )
    }
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [name, text])
  }
}
