package import RunnelBase

// Queries as a replica keeps them: as on the wire if the wire has words for them, else in a form of their own.

/// The spelling of a query that the wire has no words for.
private enum StoredName {
  static let order = "by"
  static let filter = "where"
  static let start = "from"
  static let end = "to"
  static let limit = "l"
  static let side = "vf"
  static let first = "l"
  static let last = "r"

  static let value = "v"
  static let key = "k"
  static let isInclusive = "in"
  static let before = "before"
  static let after = "after"
  static let children = "children"
  static let tuple = "tuple"
  static let isDescending = "desc"
  static let all = [order, filter, start, end, limit, side]
}

extension Query {
  /// The query as a file keeps it.
  package func storedJSON() -> JSONValue {
    if let json = try? wireJSON() { return json }
    var members = [JSONMember(StoredName.order, .string("\(index)"))]
    if let filter { members.append(JSONMember(StoredName.filter, .string("\(filter)"))) }
    if let start { members.append(JSONMember(StoredName.start, start.storedJSON)) }
    if let end { members.append(JSONMember(StoredName.end, end.storedJSON)) }
    if let limit {
      members.append(JSONMember(StoredName.limit, .number(JSONNumber(Int64(limit.count)))))
      let side = limit.side == .first ? StoredName.first : StoredName.last
      members.append(JSONMember(StoredName.side, .string(side)))
    }
    return .object(members)
  }

  /// Reads a query at a place that a file keeps.
  ///
  /// - Throws: `TreeError` (`invalidQuery`).
  package init(stored json: JSONValue, at path: Path) throws(TreeError) {
    guard let order = json[StoredName.order] else {
      try self.init(wire: json, at: path)
      return
    }
    func refusal() -> TreeError {
      TreeError(.invalidQuery, "A stored query cannot be read.", path: path.description)
    }
    guard let text = order.string, let members = json.object,
      members.allSatisfy({ StoredName.all.contains($0.name) })
    else { throw refusal() }
    var query = try Query(path).ordered(by: try SortKey.storedList(text))
    if let json = json[StoredName.filter] {
      guard let text = json.string, let filter = try? ChildPredicate(parsing: text) else {
        throw refusal()
      }
      query = try query.filtered(by: filter)
    }
    var (start, end): (Bound?, Bound?)
    if let json = json[StoredName.start] {
      start = Bound(stored: json)
      if start == nil { throw refusal() }
    }
    if let json = json[StoredName.end] {
      end = Bound(stored: json)
      if end == nil { throw refusal() }
    }
    self = query.part(from: start, to: end)
    guard let limit = json[StoredName.limit] else { return }
    guard let count = limit.int, let side = json[StoredName.side]?.string else { throw refusal() }
    self = try limited(to: count, from: side == StoredName.first ? .first : .last)
  }
}

extension Query.Bound {
  fileprivate var storedJSON: JSONValue {
    .object([
      JSONMember(StoredName.value, position.value.storedJSON),
      JSONMember(StoredName.key, position.key.storedJSON),
      JSONMember(StoredName.isInclusive, .bool(isInclusive)),
    ])
  }

  fileprivate init?(stored json: JSONValue) {
    guard let value = json[StoredName.value].flatMap({ IndexValue(stored: $0) }),
      let key = json[StoredName.key].flatMap({ IndexPosition.KeyBound(stored: $0) }),
      let isInclusive = json[StoredName.isInclusive]?.bool
    else { return nil }
    self.init(IndexPosition(value: value, key: key), isInclusive: isInclusive)
  }
}

extension IndexPosition.KeyBound {
  fileprivate var storedJSON: JSONValue {
    switch self {
    case .minimum: .bool(false)
    case .maximum: .bool(true)
    case .key(let key): .string(key.text)
    }
  }

  fileprivate init?(stored json: JSONValue) {
    switch json {
    case .bool(let isMaximum): self = isMaximum ? .maximum : .minimum
    case .string(let text):
      guard let key = try? Key(text) else { return nil }
      self = .key(key)
    default: return nil
    }
  }
}

extension IndexValue {
  /// A leaf as it is, and all else as an object.
  fileprivate var storedJSON: JSONValue {
    switch self {
    case .null: .null
    case .leaf(let leaf): leaf.json
    case .children: .object([JSONMember(StoredName.children, true)])
    case .tuple(let tuple):
      .object([JSONMember(StoredName.tuple, .array(tuple.elements.map(\.storedJSON)))])
    }
  }

  fileprivate init?(stored json: JSONValue) {
    switch json {
    case .null: self = .null
    case .object where json[StoredName.children] != nil: self = .children
    case .object:
      guard let parts = json[StoredName.tuple]?.array else { return nil }
      let elements = parts.compactMap { IndexTuple.Element(stored: $0) }
      guard elements.count == parts.count else { return nil }
      self = .tuple(IndexTuple(elements))
    default:
      guard let leaf = Leaf(json) else { return nil }
      self = .leaf(leaf)
    }
  }
}

extension IndexTuple.Element {
  fileprivate var storedJSON: JSONValue {
    var members: [JSONMember] = []
    switch content {
    case .lowest: members.append(JSONMember(StoredName.before, true))
    case .highest: members.append(JSONMember(StoredName.after, true))
    case .value(let value): members.append(JSONMember(StoredName.value, value.storedJSON))
    case .key(let key): members.append(JSONMember(StoredName.key, .string(key.text)))
    }
    if isDescending { members.append(JSONMember(StoredName.isDescending, true)) }
    return .object(members)
  }

  fileprivate init?(stored json: JSONValue) {
    let content: IndexTuple.Content
    if json[StoredName.before] != nil {
      content = .lowest
    } else if json[StoredName.after] != nil {
      content = .highest
    } else if let key = json[StoredName.key]?.string {
      guard let key = try? Key(key) else { return nil }
      content = .key(key)
    } else {
      guard let value = json[StoredName.value].flatMap({ IndexValue(stored: $0) }) else {
        return nil
      }
      content = .value(value)
    }
    self.init(content, isDescending: json[StoredName.isDescending] != nil)
  }
}
