import RunnelBase
import RunnelStore
import RunnelTree

/// An object of the tests: `{"name": "...", "rank": 1}`, of which the name must be there.
struct Group: TreeObject, Hashable {
  var id: Key?
  var name: String
  var rank: Int64?

  init(id: Key? = nil, name: String, rank: Int64? = nil) {
    self.id = id
    self.name = name
    self.rank = rank
  }

  init(id: Key, node: Node) throws {
    guard case .string(let name)? = node[try Key("name")].leaf else { throw Misfit("no name") }
    guard case .number(let rank)? = node[try Key("rank")].leaf else {
      self.init(id: id, name: name)
      return
    }
    self.init(id: id, name: name, rank: rank.integer)
  }

  func json() throws -> JSONValue {
    if name.isEmpty { throw Misfit("an empty name") }
    var members = [JSONMember("name", .string(name))]
    if let rank { members.append(JSONMember("rank", .number(JSONNumber(rank)))) }
    return .object(members)
  }
}

/// Why something is no object of the tests.
struct Misfit: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
