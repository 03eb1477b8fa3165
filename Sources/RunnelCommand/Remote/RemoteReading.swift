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

  /// Returns the data at a place, with priorities, as JSON in UTF-8.
  func exportedBytes(_ path: Path) throws -> [UInt8] {
    var line = ProgressLine("Reading \(words(path))")
    defer { line.clear() }
    var bytes: [UInt8] = []
    try copy(get(Query(path), [(name: "format", value: "export")])) { piece in
      bytes += piece
      line.report(bytes: bytes.count)
    }
    return bytes
  }

  /// Returns the data at a place, with priorities, as a node.
  func node(at path: Path) throws -> Node {
    let bytes = try exportedBytes(path)
    let json: JSONValue
    do {
      json = try JSONValue(parsing: bytes)
    } catch {
      throw Failure("\(name) sent a response that is not JSON: \(error).")
    }
    return try Node(json: json)
  }

  /// Returns the data at a place, with priorities, and the tag with which a write to it is compared; nil if the
  /// server tells none.
  func taggedNode(at path: Path) throws -> (node: Node, tag: String?) {
    let exchange = try get(
      Query(path), [(name: "format", value: "export")], wantsTag: true)
    return (try Node(json: json(exchange)), exchange.header("ETag"))
  }

  /// Returns the tag of a place, whose data are not read; nil if the server tells none.
  func tag(of path: Path) throws -> String? {
    let exchange = try get(Query(path), wantsTag: true)
    // The data are given up with the connection.
    defer { exchange.close() }
    return exchange.header("ETag")
  }

  /// Returns the tag of a place that is to be replaced, so that nothing else is.
  ///
  /// - Throws: `Failure` if the server tells none; the option replaces whatever stands there.
  func tagToReplace(_ path: Path, option: String) throws -> String {
    if let tag = try tag(of: path) { return tag }
    throw Failure(
      "The server tells no ETag of \(placeWords(path)), so that what others write there meanwhile would be "
        + "replaced too. Nothing was changed: \(option) replaces all of it.", status: .usage)
  }

  /// Returns whether a place holds nothing.
  func isEmpty(_ path: Path) throws -> Bool {
    try json(get(Query(path), [(name: "shallow", value: "true")])).isNull
  }
}

// MARK: Consent

extension RemoteDatabase {
  /// Returns the description of a place for a message: the whole database has words of its own.
  func words(_ path: Path) -> String {
    isWhole(path) ? ControlCharacters.escapedLine("everything of \(name)") : placeWords(path)
  }

  /// Returns the path of a place in the whole database, and the name of the database.
  func placeWords(_ path: Path) -> String {
    let whole = address.place.keys + path.keys
    let place = "/" + whole.map(\.text).joined(separator: "/")
    return ControlCharacters.escapedLine("\(place) of \(name)")
  }

  /// Returns whether a place is the whole database.
  func isWhole(_ path: Path) -> Bool { path.isRoot && address.place.isRoot }

  /// Returns whether a place is the root of what a name stands for: `/` of the database, or of the place in the
  /// address or the profile.
  ///
  /// An address that is the argument itself names one place, such as `/users/ana` does.
  func isRoot(_ place: DataPlace) -> Bool {
    isWhole(place.path) || place.path.isRoot && !place.isOfAddress
  }

  /// Asks for consent to change values below a place, if the profile wants to be asked.
  ///
  /// - Throws: `Failure` if the user does not consent.
  func requireConsent(isGiven: Bool, toChange count: Int, below path: Path) throws {
    guard choice.confirms else { return }
    let values = count == 1 ? "1 value" : "\(count) values"
    try Consent(isGiven: isGiven).require(
      "Write \(values) below \(placeWords(path))? The values that they replace cannot be brought back.",
      because: "This would write \(values) below \(placeWords(path)).")
  }

  /// Asks for consent to write data into an empty place, if the profile wants to be asked.
  ///
  /// - Throws: `Failure` if the user does not consent.
  func requireConsent(isGiven: Bool, toFill path: Path, with json: JSONValue) throws {
    guard choice.confirms else { return }
    let count = json.object?.count
    let data = count.map { $0 == 1 ? "1 child" : "\($0) children" } ?? "a value"
    let words = "\(data) \(count == nil ? "to" : "below") \(placeWords(path)), where nothing stands"
    try Consent(isGiven: isGiven).require("Write \(words)?", because: "This would write \(words).")
  }

  /// Asks for consent to replace the root, what is too large to be brought back, or a place that is not empty if
  /// the profile wants to be asked.
  ///
  /// - Throws: `Failure` if the user does not consent.
  func requireConsent(isGiven: Bool, toReplace place: DataPlace, by json: JSONValue) throws {
    if isGiven { return }
    let path = place.path
    if !isRoot(place) {
      guard choice.confirms else {
        return try requireConsent(isGiven: isGiven, toLose: path, by: json)
      }
      if try isEmpty(path) { return }
    }
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
