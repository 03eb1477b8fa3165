package import RunnelBase
package import RunnelTree

/// A person at a workspace on the same database, and where that person is.
package struct Present: Hashable, Sendable {
  /// The greatest number of people that are shown; others are left out.
  package static let countMax = 100
  /// The most characters of a name that are read.
  static let nameMax = 40

  /// The key of the workspace's entry.
  package var id: String
  /// The name of the person.
  package var name: String
  /// The name of the view; nil for the tree.
  package var view: String?
  /// The record under the cursor; nil if there is none.
  package var row: Path?
  /// Whether the person is composing a record in the view.
  package var isTyping: Bool
  /// When the entry was written, in milliseconds since 1970: by the server's clock, or for one's own
  /// entry, which is written again while typing, by the clock here.
  package var time: Int64?
  /// The time here from which on the person is shown as typing no longer, unless the entry changes.
  package var typingEnd: Int64?

  package init(
    id: String, name: String, view: String? = nil, row: Path? = nil, isTyping: Bool = false,
    time: Int64? = nil
  ) {
    (self.id, self.name, self.view, self.row) = (id, name, view, row)
    (self.isTyping, self.time) = (isTyping, time)
  }
}

// MARK: Entries in the database

extension Present {
  /// The entry of a person, with the time at the server.
  package var entry: JSONValue {
    var members = [JSONMember("name", .string(name))]
    if let view { members.append(JSONMember("view", .string(view))) }
    if let row { members.append(JSONMember("row", .string(row.description))) }
    if isTyping { members.append(JSONMember("typing", true)) }
    members.append(JSONMember("at", [".sv": "timestamp"]))
    return .object(members)
  }

  /// Returns the people of a collection of entries but one's own, in the order of their keys; entries
  /// without a name are left out.
  ///
  /// O(n) in the entries.
  package static func list(_ node: RunnelTree.Node, besides own: String) -> [Present] {
    let others = node.children.lazy.compactMap { child -> Present? in
      let json = child.node.json
      guard child.key.text != own, let name = json["name"]?.string, !name.isEmpty else {
        return nil
      }
      return Present(
        id: child.key.text, name: String(name.prefix(nameMax)), view: json["view"]?.string,
        row: json["row"]?.string.flatMap { try? Path($0) }, isTyping: json["typing"] == true,
        time: json["at"]?.int.map { Int64($0) })
    }
    return Array(others.prefix(countMax))
  }
}

// MARK: Recording

extension Present {
  /// The person as JSON, for recorded sessions.
  package var json: JSONValue {
    .object([
      JSONMember("id", .string(id)), JSONMember("name", .string(name)),
      JSONMember("view", view.map { .string($0) } ?? .null),
      JSONMember("row", row.map { .string($0.description) } ?? .null),
      JSONMember("typing", .bool(isTyping)),
      JSONMember("at", time.map { .number(JSONNumber($0)) } ?? .null),
    ])
  }

  /// Reads a person that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    guard let id = json["id"]?.string, let name = json["name"]?.string else { return nil }
    self.init(
      id: id, name: name, view: json["view"]?.string,
      row: json["row"]?.string.flatMap { try? Path($0) }, isTyping: json["typing"] == true,
      time: json["at"]?.int.map { Int64($0) })
  }
}
