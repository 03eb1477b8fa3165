import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

/// The reason why the origin refused a write, stored for the session that made the write.
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
    let kept = try (refusals() + [refusal]).suffix(RefusedWrite.countMax)
    try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO meta (name, value) VALUES ('origin.refusals', ?)"
    ).execute(arguments: [JSONValue.array(kept.map(\.json)).jsonText()])
  }

  /// The newest refusals, the oldest first.
  func refusals() throws -> [RefusedWrite] {
    let text = try statement("SELECT value FROM meta WHERE name = 'origin.refusals'")
      .first { try $0.text(0, "value") }
    guard let text else { return [] }
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
