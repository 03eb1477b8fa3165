public import RunnelBase

// Queries as clients send them. Source: tree semantics, section 5.2; wire protocol, section 3.

/// The spelling of a query on the wire.
private enum WireName {
  static let startValue = "sp"
  static let startKey = "sn"
  static let isStartInclusive = "sin"
  static let endValue = "ep"
  static let endKey = "en"
  static let isEndInclusive = "ein"
  static let limit = "l"
  static let side = "vf"
  static let index = "i"
  static let all = [
    startValue, startKey, isStartInclusive, endValue, endKey, isEndInclusive, limit, side, index,
  ]

  static let left = "l"
  static let right = "r"
  static let keyIndex = ".key"
  static let valueIndex = ".value"
  static let minimumKey = "[MIN_NAME]"
  static let maximumKey = "[MAX_NAME]"
  /// A text after all that people write, in the order of UTF-16; of all values only objects come later.
  static let maximumText = String(repeating: "\u{FFFF}", count: 8)
  static let defaultIdentifier = "default"
}

// MARK: Writing

extension Query {
  /// The query object that a client sends: its members in the order of their names, empty for all
  /// children by priority.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) for a query that the wire format cannot express.
  public func wireJSON() throws(TreeError) -> JSONValue {
    if filter != nil { throw unspeakable("a filter") }
    var members: [JSONMember] = []
    if let start {
      members += try wireMembers(
        of: start, unbounded: .minimum, WireName.startValue, WireName.startKey,
        WireName.isStartInclusive)
    }
    if let end {
      members += try wireMembers(
        of: end, unbounded: .maximum, WireName.endValue, WireName.endKey,
        WireName.isEndInclusive)
    }
    if let limit {
      members.append(JSONMember(WireName.limit, .number(JSONNumber(Int64(limit.count)))))
      let side = limit.side == .first ? WireName.left : WireName.right
      members.append(JSONMember(WireName.side, .string(side)))
    }
    if let name = try wireIndex() { members.append(JSONMember(WireName.index, .string(name))) }
    return .object(members.sorted { $0.name < $1.name })
  }

  /// The name that tells this query from others at its place: `default` for all children by
  /// priority, else the compact text of `wireJSON()`.
  ///
  /// Two queries at one place are equal if and only if their identifiers are, byte by byte.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) for a query that the wire format cannot express.
  public func identifier() throws(TreeError) -> String {
    let json = try wireJSON()
    return json == .object([]) ? WireName.defaultIdentifier : json.jsonText()
  }

  /// The name of the index; nil for the index by priority, which is left out.
  private func wireIndex() throws(TreeError) -> String? {
    if index == .priority { return nil }
    if index == .key { return WireName.keyIndex }
    if index == .value { return WireName.valueIndex }
    if case .child(let path) = index { return path.keys.map(\.text).joined(separator: "/") }
    throw unspeakable("this order")
  }

  /// The members of a bound; `unbounded` is the key that stands for none.
  private func wireMembers(
    of bound: Bound, unbounded: IndexPosition.KeyBound, _ valueName: String, _ keyName: String,
    _ inclusionName: String
  ) throws(TreeError) -> [JSONMember] {
    let position = bound.position
    if index == .key {
      let (text, isInclusive) =
        switch position.key {
        case .key(let key): (key.text, bound.isInclusive)
        // Beyond all keys, a bound excludes none of them, or all.
        case .minimum: (WireName.minimumKey, unbounded == .minimum)
        case .maximum: (WireName.maximumKey, unbounded == .maximum)
        }
      return [
        JSONMember(inclusionName, .bool(isInclusive)), JSONMember(valueName, .string(text)),
      ]
    }
    if position.value == .children, position.key == .maximum {
      // Beyond all rows, an end excludes none. A start excludes all: the wire has no word for that, and an
      // origin may send rows with an object there, which the query does not show.
      if unbounded == .maximum { return [] }
      return [
        JSONMember(inclusionName, false), JSONMember(keyName, .string(WireName.maximumKey)),
        JSONMember(valueName, .string(WireName.maximumText)),
      ]
    }
    var members = [JSONMember(inclusionName, .bool(bound.isInclusive))]
    switch position.value {
    case .null: members.append(JSONMember(valueName, .null))
    case .leaf(let leaf): members.append(JSONMember(valueName, leaf.json))
    case .children, .tuple: throw unspeakable("a bound that is no value")
    }
    if position.key == unbounded { return members }
    switch position.key {
    case .minimum: members.append(JSONMember(keyName, .string(WireName.minimumKey)))
    case .maximum: members.append(JSONMember(keyName, .string(WireName.maximumKey)))
    case .key(let key): members.append(JSONMember(keyName, .string(key.text)))
    }
    return members
  }

  private func unspeakable(_ what: String) -> TreeError {
    TreeError(
      .invalidQuery, "The wire protocol has no words for \(what): read all and sort it here.",
      path: path.description)
  }
}

// MARK: Reading

extension Query {
  /// Reads a query at a place that a client sent.
  ///
  /// Some clients do not send that a bound is exclusive, but move the bound to a neighbor of the
  /// key. Such a bound may be longer than any key, or `[MIN_NAME]` or `[MAX_NAME]`; the query then
  /// has another bound that shows the same rows. So a query that is sent on may differ from what
  /// was read.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) that names the wrong member.
  public init(wire json: JSONValue, at path: Path) throws(TreeError) {
    self = try WireQuery(json, path).query()
  }
}

/// A query object that is being read.
private struct WireQuery {
  private let json: JSONValue
  private let path: Path

  /// The end that a bound limits.
  enum End {
    case start
    case end

    var valueName: String { self == .start ? WireName.startValue : WireName.endValue }
    var keyName: String { self == .start ? WireName.startKey : WireName.endKey }
    var inclusionName: String {
      self == .start ? WireName.isStartInclusive : WireName.isEndInclusive
    }
  }

  /// A bound in the form in which a query is built; nil stands for a bound that excludes nothing.
  private struct Bound {
    var value: IndexValue
    var key: Key?
    var isInclusive: Bool
  }

  init(_ json: JSONValue, _ path: Path) throws(TreeError) {
    self.json = json
    self.path = path
    guard case .object(let members) = json else {
      throw TreeError(.invalidQuery, "A query is an object.", path: path.description)
    }
    for member in members where !WireName.all.contains(member.name) {
      throw refusal(member.name, "there is no such member; remove it.")
    }
  }

  /// The query that the members describe.
  func query() throws(TreeError) -> Query {
    var query = Query(path)
    if let index = try index() {
      query = try naming(WireName.index) { () throws(TreeError) in try query.ordered(by: index) }
    }
    for end in [End.start, .end] {
      guard let bound = try bound(end, in: query.index) else { continue }
      query = try naming(end.valueName) { () throws(TreeError) in
        switch end {
        case .start:
          try query.starting(at: bound.value, key: bound.key, isInclusive: bound.isInclusive)
        case .end:
          try query.ending(at: bound.value, key: bound.key, isInclusive: bound.isInclusive)
        }
      }
    }
    guard let limit = try limit() else { return query }
    return try query.limited(to: limit.count, from: limit.side)
  }

  // MARK: Members

  private func index() throws(TreeError) -> QueryIndex? {
    switch try string(WireName.index) {
    case nil: return nil
    case ReservedName.priority?: return .priority
    case WireName.keyIndex?: return .key
    case WireName.valueIndex?: return .value
    case let name?:
      return .child(try naming(WireName.index) { () throws(TreeError) in try Path(name) })
    }
  }

  private func limit() throws(TreeError) -> (count: Int, side: Query.Side)? {
    let side = try string(WireName.side)
    guard let json = json[WireName.limit] else {
      if side == nil { return nil }
      throw refusal(WireName.side, "it stands beside \"\(WireName.limit)\" only; remove it.")
    }
    guard case .number(let number) = json, let count = number.integer, count > 0 else {
      throw refusal(WireName.limit, "it must be a positive whole number.")
    }
    switch side {
    case WireName.left?: return (Int(count), .first)
    case WireName.right?: return (Int(count), .last)
    case nil:
      let hasStart = self.json[WireName.startValue] != nil
      return (Int(count), hasStart ? .first : .last)
    case _?:
      throw refusal(WireName.side, "it must be \"\(WireName.left)\" or \"\(WireName.right)\".")
    }
  }

  private func bound(_ end: End, in index: QueryIndex) throws(TreeError) -> Bound? {
    guard let json = json[end.valueName] else {
      for name in [end.keyName, end.inclusionName] where self.json[name] != nil {
        throw refusal(name, "it stands beside \"\(end.valueName)\" only; remove it.")
      }
      return nil
    }
    let isInclusive = try bool(end.inclusionName) ?? true
    let key = try string(end.keyName)
    if index == .key {
      if key != nil { throw refusal(end.keyName, "in key order the bound is one key; remove it.") }
      guard case .string(let text) = json else {
        throw refusal(end.valueName, "in key order it must be a string.")
      }
      return try keyBound(text, end, isInclusive)
    }
    let value = try value(json, end.valueName)
    switch key {
    case nil: return Bound(value: value, key: nil, isInclusive: isInclusive)
    // Before all keys: a range that starts here includes the rows with the value, one that ends
    // excludes them.
    case WireName.minimumKey?: return Bound(value: value, key: nil, isInclusive: end == .start)
    case WireName.maximumKey?: return Bound(value: value, key: nil, isInclusive: end == .end)
    case let text?:
      let key = try naming(end.keyName) { () throws(TreeError) in try KeyLimit(text) }
      return Bound(
        value: value, key: key.key, isInclusive: key.isExact ? isInclusive : end == .end)
    }
  }

  /// The bound of a range in key order.
  private func keyBound(
    _ text: String, _ end: End, _ isInclusive: Bool
  ) throws(TreeError) -> Bound? {
    func bound(_ key: Key, isInclusive: Bool) -> Bound {
      Bound(value: .leaf(.string(key.text)), key: nil, isInclusive: isInclusive)
    }
    switch (text, end) {
    case (WireName.minimumKey, .start), (WireName.maximumKey, .end): return nil
    case (WireName.minimumKey, .end): return bound(KeyLimit.least, isInclusive: false)
    case (WireName.maximumKey, .start): return bound(KeyLimit.greatest, isInclusive: false)
    default:
      let key = try naming(end.valueName) { () throws(TreeError) in try KeyLimit(text) }
      return bound(key.key, isInclusive: key.isExact ? isInclusive : end == .end)
    }
  }

  // MARK: Types

  private func value(_ json: JSONValue, _ name: String) throws(TreeError) -> IndexValue {
    switch json {
    case .null: return .null
    case .bool(let value): return .leaf(.bool(value))
    case .number(let value): return .leaf(.number(value))
    case .string(let value): return .leaf(.string(value))
    case .array, .object:
      throw refusal(name, "it must be null, a boolean, a number or a string.")
    }
  }

  private func string(_ name: String) throws(TreeError) -> String? {
    switch json[name] {
    case nil: return nil
    case .string(let text)?: return text
    default: throw refusal(name, "it must be a string.")
    }
  }

  private func bool(_ name: String) throws(TreeError) -> Bool? {
    switch json[name] {
    case nil: return nil
    case .bool(let value)?: return value
    default: throw refusal(name, "it must be true or false.")
    }
  }

  // MARK: Errors

  private func refusal(_ name: String, _ message: String) -> TreeError {
    TreeError(
      .invalidQuery, "\"\(name.prefix(40))\" of a query: \(message)", path: path.description)
  }

  /// The result of `body`; its errors name the member.
  private func naming<Result>(
    _ name: String, _ body: () throws(TreeError) -> Result
  ) throws(TreeError) -> Result {
    do throws(TreeError) {
      return try body()
    } catch {
      throw refusal(name, error.message)
    }
  }
}

/// A key as a bound, as a client sent it, turned into a key that a tree accepts.
///
/// Clients fill the neighbor of a key with more characters than a key may have. No key is equal to
/// such a text, and the greatest key before it is an equivalent bound.
private struct KeyLimit {
  /// The first key in the order of keys.
  static let least = Key(unchecked: String(Int32.min))
  /// The last key in the order of keys.
  static let greatest = Key(
    unchecked: String(repeating: "\u{FFFF}", count: TreeLimits.keyBytesMax / 3))

  /// The text itself, or the greatest key before it.
  let key: Key
  /// True if the key is the text itself.
  let isExact: Bool

  init(_ text: String) throws(TreeError) {
    isExact = text.utf8.count <= TreeLimits.keyBytesMax
    if isExact {
      key = try Key(text)
      return
    }
    var head = ""
    var rest = text.unicodeScalars[...]
    while let next = rest.first, head.utf8.count + UTF8.width(next) <= TreeLimits.keyBytesMax {
      head.unicodeScalars.append(next)
      rest.removeFirst()
    }
    // The first scalar that does not fit is wider than the room left, so these come before it.
    let fill = ["", "~", "\u{7FF}", "\u{D7FF}"][TreeLimits.keyBytesMax - head.utf8.count]
    key = try Key(head + fill)
    // Keys that look like integers have an order of their own, which a prefix of them does not
    // share.
    if key.integer != nil {
      throw TreeError(
        .invalidKey, "A key that begins with so many digits is longer than any: shorten it.")
    }
  }
}
