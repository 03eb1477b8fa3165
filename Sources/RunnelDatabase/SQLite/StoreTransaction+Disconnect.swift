import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The disconnect writes of sessions on a tree of its own, in `meta`: a row `disconnect.NUMBER` with
// the author, and one for each write, whose name goes on with its place. They are removed in the
// transaction that does the writes, so that these are done once, by the session that first notices
// the end.

/// The writes that are done when a session ends.
struct DisconnectWrites: Equatable {
  /// The most bytes of the writes as text.
  static let bytesMax = 1_048_576

  private enum Field {
    static let author = "author"
    static let writes = "writes"
  }

  /// The author of the session's writes, for the history.
  var author: String
  /// The writes; they do not overlap, and priorities come last.
  var writes: [Write]

  init(author: String, writes: [Write]) { (self.author, self.writes) = (author, writes) }

  /// The text of the row with the author.
  ///
  /// Older programs kept the writes there, too.
  static func text(author: String) -> String {
    let json: JSONValue = [Field.author: .string(author), Field.writes: .array([])]
    return json.jsonText()
  }

  init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    guard let elements = json[Field.writes]?.array else {
      throw Damage("the disconnect writes of a session cannot be read")
    }
    author = json[Field.author]?.string ?? ""
    writes = try elements.map { try DisconnectRow.write($0) }
  }
}

/// A row with one disconnect write.
struct DisconnectRow {
  private enum Field {
    static let path = "path"
    static let value = "value"
    static let members = "members"
  }

  /// The end of its name: the place, and whether the write is for the priority alone.
  var place: String
  var text: String

  /// Its size, of which a session may have `DisconnectWrites.bytesMax`.
  var byteCount: Int { place.utf8.count + text.utf8.count }

  /// Makes the row of a write; nil for one that is never a disconnect write.
  init?(_ write: Write) {
    let json: JSONValue
    switch write {
    case .set(let path, let value):
      place = path.description
      json = [Field.path: .string(path.description), Field.value: value]
    case .update(let path, let members):
      place = (path.isRoot ? "" : path.description) + "/" + ReservedName.priority
      json = [Field.path: .string(path.description), Field.members: .object(members)]
    case .copy, .move: return nil
    }
    text = json.jsonText()
  }

  /// Reads a write.
  static func write(_ json: JSONValue) throws -> Write {
    guard let place = json[Field.path]?.string else {
      throw Damage("a disconnect write of a session has no path")
    }
    let path = try Path(place)
    if case .object(let members)? = json[Field.members] { return .update(path, members) }
    return .set(path, json[Field.value] ?? .null)
  }
}

extension StoreTransaction {
  private static func disconnectName(of session: Int64) -> String { "disconnect.\(session)" }

  /// The bounds of the names of a session's rows with writes: the character after `/` is `0`.
  private static func disconnectRange(of session: Int64) -> (start: String, end: String) {
    let name = disconnectName(of: session)
    return (name + "/", name + "0")
  }

  /// Returns the numbers of the sessions that have disconnect writes.
  ///
  /// O(n) in the writes.
  func sessionsWithDisconnects() throws -> [Int64] {
    let statement = try db.cachedStatement(
      sql: """
        SELECT DISTINCT substr(name, 12, instr(name || '/', '/') - 12) AS number FROM meta
        WHERE name >= 'disconnect.' AND name < 'disconnect/'
        """)
    return try Row.fetchAll(statement).compactMap { Int64(try $0.text("number")) }
  }

  /// Returns the disconnect writes of a session; nil if there are none, or they were done.
  func disconnect(of session: Int64) throws -> DisconnectWrites? {
    let statement = try db.cachedStatement(
      sql: "SELECT name, value FROM meta WHERE name = ? OR (name >= ? AND name < ?) ORDER BY name")
    let name = StoreTransaction.disconnectName(of: session)
    let (start, end) = StoreTransaction.disconnectRange(of: session)
    let rows = try Row.fetchAll(statement, arguments: [name, start, end])
    if rows.isEmpty { return nil }
    var kept = DisconnectWrites(author: "", writes: [])
    var priorities: [Write] = []
    // The row with the author is the first.
    for row in rows {
      let text = try row.text("value")
      if try row.text("name") == name {
        kept = try DisconnectWrites(parsing: text)
        continue
      }
      let write = try DisconnectRow.write(JSONValue(parsing: text))
      if case .set = write { kept.writes.append(write) } else { priorities.append(write) }
    }
    // A priority is lost if what stands below it is written later.
    kept.writes += priorities
    return kept
  }

  /// Stores the author of a session's disconnect writes.
  func setDisconnectAuthor(_ author: String, of session: Int64) throws {
    try setMeta(StoreTransaction.disconnectName(of: session), DisconnectWrites.text(author: author))
  }

  /// Replaces some of the disconnect writes of a session by others.
  ///
  /// O(n) in these.
  func replaceDisconnects(
    _ old: [DisconnectRow], by new: [DisconnectRow], of session: Int64
  ) throws {
    let name = StoreTransaction.disconnectName(of: session)
    for row in old {
      try db.cachedStatement(sql: "DELETE FROM meta WHERE name = ?")
        .execute(arguments: [name + row.place])
    }
    for row in new { try setMeta(name + row.place, row.text) }
  }

  /// Removes all disconnect writes of a session.
  func removeDisconnect(of session: Int64) throws {
    let (start, end) = StoreTransaction.disconnectRange(of: session)
    try db.cachedStatement(sql: "DELETE FROM meta WHERE name = ? OR (name >= ? AND name < ?)")
      .execute(arguments: [StoreTransaction.disconnectName(of: session), start, end])
  }

  private func setMeta(_ name: String, _ text: String) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [name, text])
  }
}
