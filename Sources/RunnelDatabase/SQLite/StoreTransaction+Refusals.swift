import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

/// Why the origin refused a write, or a query, by the id of its record: what a session writes down for the one
/// that wants to know.
struct RefusedWrite {
  /// The most refusals that are kept, the newest: running sessions learn of a refusal when they
  /// next look at the file.
  static let countMax = 100

  var write: Int64
  var error: TreeError
}

extension StoreTransaction {
  /// Keeps a refusal among the newest ones.
  func note(_ refusal: RefusedWrite) throws {
    try save(refusals() + [refusal], as: StoreTransaction.refusedWrites)
  }

  /// Keeps the refusal of a query, by the id of its record, among the newest ones; nil forgets it.
  func note(refusalOfQuery id: Int64, _ error: TreeError?) throws {
    let before = try queryRefusals()
    var kept = before.filter { $0.write != id }
    if let error { kept.append(RefusedWrite(write: id, error: error)) }
    if kept.count == before.count, error == nil { return }
    try save(kept, as: StoreTransaction.refusedQueriesName)
  }

  /// The newest refusals of writes, the oldest first.
  func refusals() throws -> [RefusedWrite] { try refusals(StoreTransaction.refusedWrites) }

  /// The newest refusals of queries, the oldest first.
  func queryRefusals() throws -> [RefusedWrite] {
    try refusals(StoreTransaction.refusedQueriesName)
  }

  private static let refusedWrites = "origin.refusals"
  private static let refusedQueriesName = "origin.refused_queries"

  private func save(_ refusals: [RefusedWrite], as name: String) throws {
    let kept = refusals.suffix(RefusedWrite.countMax)
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [name, JSONValue.array(kept.map(\.json)).jsonText()])
  }

  private func refusals(_ name: String) throws -> [RefusedWrite] {
    let statement = try db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?")
    guard let text = try Row.fetchOne(statement, arguments: [name])?.text("value") else {
      return []
    }
    guard case .array(let elements)? = try? JSONValue(parsing: text) else {
      throw Damage("the refusals of the origin cannot be read")
    }
    return elements.compactMap(RefusedWrite.init)
  }
}

extension RefusedWrite {
  private enum Name {
    static let write = "write"
    static let code = "code"
    static let message = "message"
    static let path = "path"
  }

  fileprivate var json: JSONValue {
    var members = [
      JSONMember(Name.write, .number(JSONNumber(write))),
      JSONMember(Name.code, .string(error.code.rawValue)),
      JSONMember(Name.message, .string(error.message)),
    ]
    if let path = error.path { members.append(JSONMember(Name.path, .string(path))) }
    return .object(members)
  }

  /// Reads the value that `json` wrote; nil for any other value, so that its write counts as done.
  fileprivate init?(_ json: JSONValue) {
    guard let write = json[Name.write]?.int, let code = json[Name.code]?.string,
      let message = json[Name.message]?.string
    else { return nil }
    self.init(
      write: Int64(write),
      error: TreeError(
        TreeError.Code(rawValue: code), message, path: json[Name.path]?.string))
  }
}
