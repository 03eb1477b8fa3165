import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The queries that each session on a replica asks its origin: in `meta`, a JSON array of the ids of
// their records under `session.NUMBER`. With them, no session discards a query that another one
// listens to.

extension StoreTransaction {
  private static let sessionPrefix = "session."

  private static func name(ofSession session: Int64) -> String { sessionPrefix + String(session) }

  /// Notes that this session asks a query, or stops asking it.
  func noteHolding(_ query: Int64, _ isHeld: Bool) throws {
    guard let session = beacon?.session else { return }
    if !isHeld, try !mayHold(query, session) { return }
    var held = try queries(heldBy: session)
    guard isHeld ? held.insert(query).inserted : held.remove(query) != nil else { return }
    let json = JSONValue.array(held.sorted().map { .number(JSONNumber($0)) })
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [StoreTransaction.name(ofSession: session), json.jsonText()])
  }

  /// False if a session surely does not hold a record, as it holds few: each acknowledged write makes one.
  private func mayHold(_ query: Int64, _ session: Int64) throws -> Bool {
    let text = try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(StoreTransaction.name(ofSession: session))) {
        try $0.text(0, "the queries of a session")
      }
    return text?.contains(String(query)) == true
  }

  /// The records of the queries that a session asks.
  func queries(heldBy session: Int64) throws -> Set<Int64> {
    let statement = try db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?")
    let name = StoreTransaction.name(ofSession: session)
    guard let row = try Row.fetchOne(statement, arguments: [name]) else { return [] }
    guard case .array(let elements)? = try? JSONValue(parsing: row.text("value")) else {
      throw Damage("the queries of session \(session) cannot be read")
    }
    return Set(
      elements.compactMap { element in
        if case .number(let number) = element { number.integer } else { nil }
      })
  }

  /// The sessions that asked queries and did not release them.
  func sessionsWithQueries() throws -> [Int64] {
    let statement = try db.cachedStatement(
      sql: "SELECT name FROM meta WHERE name >= 'session.' AND name < 'session/'")
    return try Row.fetchAll(statement).compactMap { row in
      Int64(try row.text("name").dropFirst(StoreTransaction.sessionPrefix.count))
    }
  }

  // MARK: The session with the connection

  /// The name of the value with the number of the session that has the connection.
  private static let speakerName = "origin.speaker"

  /// The session that has the connection to the origin, or had it when it ended; nil for none.
  private func speaker() throws -> Int64? {
    try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(StoreTransaction.speakerName)) { try $0.text(0, "the session that speaks") }
      .flatMap { Int64($0) }
  }

  /// Notes that this session has the connection, or has it no more.
  func noteSpeaker(_ isSpeaking: Bool) throws {
    guard let session = beacon?.session else { return }
    if isSpeaking {
      try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
        .run(.text(StoreTransaction.speakerName), .text(String(session)))
    } else if try speaker() == session {
      try statement("DELETE FROM meta WHERE name = ?").run(.text(StoreTransaction.speakerName))
    }
  }

  /// The records of the queries that another session with the connection asks.
  func queriesOfOtherSpeaker() throws -> Set<Int64> {
    guard let speaker = try otherSpeaker() else { return [] }
    return try queries(heldBy: speaker)
  }

  /// Another running session that has the connection; nil for none.
  func otherSpeaker() throws -> Int64? {
    guard let speaker = try speaker(), speaker != beacon?.session, isRunning(session: speaker)
    else { return nil }
    return speaker
  }

  /// Forgets the queries of a session that has ended.
  func deleteQueries(heldBy session: Int64) throws {
    try db.cachedStatement(sql: "DELETE FROM meta WHERE name = ?")
      .execute(arguments: [StoreTransaction.name(ofSession: session)])
  }
}
