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
  }

  var caller: Caller
  var writes: [Write]

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
    let json: JSONValue = [
      Field.auth: caller.auth, Field.isAdministrator: .bool(caller.isAdministrator),
      Field.writes: .array(writes),
    ]
    return json.jsonText()
  }

  init(caller: Caller, writes: [Write]) { (self.caller, self.writes) = (caller, writes) }

  init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    let isAdministrator = json[Field.isAdministrator] == .bool(true)
    caller = Caller(auth: json[Field.auth] ?? .null, isAdministrator: isAdministrator)
    guard case .array(let elements)? = json[Field.writes] else {
      throw TreeError(.storage, "A client's stored onDisconnect writes cannot be read.")
    }
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
