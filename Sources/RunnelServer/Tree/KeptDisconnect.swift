import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// The disconnect requests of a connection, as stored with the database.
///
/// They are stored before the client is told so, and until they are done, so that they are done
/// once, whichever ends first: the connection or the server.
struct KeptDisconnect: Hashable {
  private enum Field {
    static let auth = "auth"
    static let isAdministrator = "administrator"
    static let writes = "writes"
    static let path = "path"
    static let value = "value"
    static let members = "members"
    static let passing = "passing"
  }

  var caller: Caller
  var writes: [Write]
  /// The places that the connection holds only as long as it lasts: their removal makes no entry in the history.
  ///
  /// Limit: one that somebody else wrote after the requests were stored is among them.
  var passing: Set<Path> = []

  // MARK: Coding

  var text: String {
    let writes: [JSONValue] = writes.compactMap { write in
      switch write {
      case .set(let path, let json):
        [Field.path: .string(path.description), Field.value: json]
      case .update(let path, let members):
        [Field.path: .string(path.description), Field.members: .object(members)]
      // Clients do not request these for a disconnection.
      case .copy, .move: nil
      }
    }
    var members = [
      JSONMember(Field.auth, caller.auth),
      JSONMember(Field.isAdministrator, .bool(caller.isAdministrator)),
      JSONMember(Field.writes, .array(writes)),
    ]
    if !passing.isEmpty {
      let places = passing.sorted().map { JSONValue.string($0.description) }
      members.append(JSONMember(Field.passing, .array(places)))
    }
    return JSONValue.object(members).jsonText()
  }

  init(caller: Caller, writes: [Write], passing: Set<Path> = []) {
    (self.caller, self.writes, self.passing) = (caller, writes, passing)
  }

  init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    let isAdministrator = json[Field.isAdministrator] == .bool(true)
    caller = Caller(auth: json[Field.auth] ?? .null, isAdministrator: isAdministrator)
    guard case .array(let elements)? = json[Field.writes] else {
      throw TreeError(.storage, "A client's stored onDisconnect writes cannot be read.")
    }
    // Earlier versions kept no such places.
    let places = json[Field.passing]?.array ?? []
    passing = Set(places.compactMap { $0.string.flatMap { try? Path($0) } })
    writes = try elements.map { element in
      guard case .string(let place)? = element[Field.path] else {
        throw TreeError(.storage, "A client's stored onDisconnect write has no path.")
      }
      let path = try Path(place)
      if case .object(let members)? = element[Field.members] { return .update(path, members) }
      return .set(path, element[Field.value] ?? .null)
    }
  }
}
