import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// What the sessions on a tree of its own left to be done at their end: in `meta`, a JSON object by
// `disconnect.NUMBER`. It is there until it is done, so that it is done once, by whoever notices first.

/// The writes that a session left to be done at its end.
struct DisconnectWrites: Equatable {
  /// The most bytes of their text.
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
      // Nobody asks for these at an end.
      case .copy, .move: nil
      }
    }
    let json: JSONValue = [Field.author: .string(author), Field.writes: .array(writes)]
    return json.jsonText()
  }

  init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    guard let elements = json[Field.writes]?.array else {
      throw Damage("what a session left to be done cannot be read")
    }
    author = json[Field.author]?.string ?? ""
    writes = try elements.map { element in
      guard let place = element[Field.path]?.string else {
        throw Damage("what a session left to be done has no place")
      }
      let path = try Path(place)
      if case .object(let members)? = element[Field.members] { return .update(path, members) }
      return .set(path, element[Field.value] ?? .null)
    }
  }
}

extension StoreTransaction {
  private static let disconnectPrefix = "disconnect."

  /// The sessions that left something to be done at their end.
  func sessionsWithDisconnects() throws -> [Int64] {
    let statement = try db.cachedStatement(
      sql: "SELECT name FROM meta WHERE name >= 'disconnect.' AND name < 'disconnect/'")
    return try Row.fetchAll(statement).compactMap { row in
      Int64(try row.text("name").dropFirst(StoreTransaction.disconnectPrefix.count))
    }
  }

  /// What a session left to be done; nil if it is done, or there was nothing.
  func disconnect(of session: Int64) throws -> DisconnectWrites? {
    let statement = try db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?")
    let name = StoreTransaction.disconnectPrefix + String(session)
    return try Row.fetchOne(statement, arguments: [name]).map {
      try DisconnectWrites(parsing: $0.text("value"))
    }
  }

  /// Keeps what is to be done at the end of a session, or nothing any more.
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
        "What is to be done at the end has more than \(DisconnectWrites.bytesMax) bytes: ask for less."
      )
    }
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [name, text])
  }
}
