import RunnelBase
import RunnelNetwork
import RunnelSync
import RunnelTree

// Single reads from a server's database.

extension RemoteDatabase {
  /// Prints the result of a query, as `runnel get` does.
  ///
  /// - Throws: `Failure` if the server does not respond or refuses, and the errors of printing.
  func print(
    _ query: Query, _ parameters: [(name: String, value: String)], _ output: FormatOptions,
    keepsPriorities: Bool = false
  ) throws {
    let exchange = try get(query, parameters)
    if output.hasRecords {
      return try output.write(
        records(try json(exchange), of: query), of: query.path, keepsPriorities: keepsPriorities)
    }
    if output.layout.pretty {
      try StandardOutput.write(json(exchange).jsonText(pretty: true))
    } else {
      try copy(exchange) { try StandardOutput.write($0) }
    }
    try StandardOutput.write("\n")
  }

  /// Returns the children in a response, in its order.
  private func records(_ json: JSONValue, of query: Query) throws -> [TreeRow] {
    switch json {
    case .null: return []
    case .object(let members):
      return try members.filter { $0.name != ".priority" }.map { member in
        try row(Key(member.name), member.value, of: query)
      }
    case .array(let elements):
      // A server sends children whose keys are 0, 1, 2 … as an array.
      return try elements.enumerated().filter { !$0.element.isNull }.map { index, element in
        try row(Key("\(index)"), element, of: query)
      }
    case .bool, .number, .string:
      throw Failure(
        "\(query.path) is a value without children: --format json prints a value.")
    }
  }

  private func row(_ key: Key, _ json: JSONValue, of query: Query) throws -> TreeRow {
    let child = Child(key: key, node: try Node(json: json))
    return TreeRow(child, index: query.index, detail: .full)
  }

  /// Returns whether a place holds nothing.
  func isEmpty(_ path: Path) throws -> Bool {
    try json(get(Query(path), [(name: "shallow", value: "true")])).isNull
  }
}

// MARK: Consent

extension RemoteDatabase {
  /// Returns the description of a place for a message.
  func words(_ path: Path) -> String {
    let whole = address.place.keys + path.keys
    let place = whole.isEmpty ? "everything" : "/" + whole.map(\.text).joined(separator: "/")
    return ControlCharacters.escapedLine("\(place) of \(name)")
  }

  /// Asks for consent to replace the whole database; other places need no consent.
  ///
  /// - Throws: `Failure` if the user does not consent.
  func requireConsent(isGiven: Bool, toReplace path: Path) throws {
    guard path.isRoot, address.place.isRoot else { return }
    try Consent(isGiven: isGiven).require(
      "Replace \(words(path))? Nothing brings it back.",
      because: "This would replace \(words(path)).")
  }

  /// Asks for consent to remove a place.
  ///
  /// - Throws: `Failure` if the user does not consent.
  func requireConsent(isGiven: Bool, toRemove path: Path) throws {
    try Consent(isGiven: isGiven).require(
      "Remove \(words(path))? Nothing brings it back.",
      because: "This would remove \(words(path)).")
  }
}
