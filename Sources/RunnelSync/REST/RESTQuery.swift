import RunnelBase
import RunnelTree

/// Reads the query of a request from its parameters.
///
/// The error messages are those that clients know. Source: wire protocol, section C4.
struct RESTQuery {
  private enum Name {
    static let orderBy = "orderBy"
    static let startAt = "startAt"
    static let startAfter = "startAfter"
    static let endAt = "endAt"
    static let endBefore = "endBefore"
    static let equalTo = "equalTo"
    static let limitToFirst = "limitToFirst"
    static let limitToLast = "limitToLast"
    static let bounds = [startAt, startAfter, endAt, endBefore, equalTo]
    static let all = bounds + [limitToFirst, limitToLast]
  }

  /// A bound as it was given: a value, maybe with a key.
  private struct Bound {
    var value: JSONValue
    var key: Key?
  }

  let target: RESTTarget
  let path: Path
  /// True for a listing of keys, which may be limited without an order.
  let isShallow: Bool

  func query() throws(RESTError) -> Query {
    var query = try ordered()
    query = try bounded(query)
    return try limited(query)
  }

  private func ordered() throws(RESTError) -> Query {
    let query = Query(path)
    guard let text = target[Name.orderBy] else {
      if Name.all.contains(where: target.contains) {
        // The official command line lists keys this way.
        if isShallow { return try checked { () throws(TreeError) in try query.ordered(by: .key) } }
        throw RESTError(400, "orderBy must be defined when other query parameters are defined")
      }
      return query
    }
    let invalid = RESTError(400, "orderBy must be a valid JSON encoded path")
    // Text that is no JSON gets the same error as JSON that is no string.
    guard case .string(let name)? = try? JSONValue(parsing: text) else { throw invalid }
    let index: QueryIndex
    switch name {
    case "$key": index = .key
    case "$value": index = .value
    case "$priority": index = .priority
    default:
      guard !name.hasPrefix("$"), let path = try? Path(name), !path.isRoot, !path.isInfo else {
        throw invalid
      }
      index = .child(path)
    }
    return try checked { () throws(TreeError) in try query.ordered(by: index) }
  }

  // MARK: Bounds

  private func bounded(_ query: Query) throws(RESTError) -> Query {
    let given = Name.bounds.filter(target.contains)
    if given.contains(Name.equalTo), given.count > 1 {
      throw RESTError(
        400,
        "equalTo cannot be specified in addition to startAfter, startAt, endAt, or endBefore")
    }
    for pair in [[Name.startAt, Name.startAfter], [Name.endAt, Name.endBefore]]
    where pair.allSatisfy(given.contains) {
      throw RESTError(400, "Only one of \(pair[0]) and \(pair[1]) may be specified")
    }
    var query = query
    for name in given { query = try bounded(query, by: name) }
    return query
  }

  private func bounded(_ query: Query, by name: String) throws(RESTError) -> Query {
    let bound = try bound(name, query.index)
    let value = indexValue(bound.value)
    return try checked { () throws(TreeError) in
      switch name {
      case Name.startAt: try query.starting(at: value, key: bound.key, isInclusive: true)
      case Name.startAfter: try query.starting(at: value, key: bound.key, isInclusive: false)
      case Name.endAt: try query.ending(at: value, key: bound.key, isInclusive: true)
      case Name.endBefore: try query.ending(at: value, key: bound.key, isInclusive: false)
      default: try query.equal(to: value, key: bound.key)
      }
    }
  }

  private func bound(_ name: String, _ index: QueryIndex) throws(RESTError) -> Bound {
    let text = target[name] ?? ""
    let primitive = RESTError(400, "Constraint index field must be a JSON primitive")
    // Text that is no JSON gets the same error as JSON that is no primitive.
    guard case .array(let parts)? = try? JSONValue(parsing: "[\(text)]"), let value = parts.first,
      parts.count <= 2
    else {
      // The official command line sends keys without quotes.
      if isShallow, index == .key { return Bound(value: .string(text)) }
      throw primitive
    }
    switch value {
    case .array, .object: throw primitive
    case .null, .bool, .number, .string: break
    }
    if index == .key {
      if isShallow, case .number = value { return Bound(value: .string(text)) }
      guard case .string = value, parts.count == 1 else {
        throw RESTError(400, "Provided key index type is invalid, must be string")
      }
    }
    guard parts.count == 2 else { return Bound(value: value) }
    guard case .string(let name) = parts[1], let key = try? Key(name) else {
      throw RESTError(400, "Constraint key field must be a valid key name")
    }
    return Bound(value: value, key: key)
  }

  private func indexValue(_ json: JSONValue) -> IndexValue { Leaf(json).map { .leaf($0) } ?? .null }

  // MARK: Limits

  private func limited(_ query: Query) throws(RESTError) -> Query {
    let given = [Name.limitToFirst, Name.limitToLast].filter(target.contains)
    if given.count > 1 {
      throw RESTError(400, "Only one of limitToFirst and limitToLast may be specified")
    }
    guard let name = given.first else { return query }
    guard let count = Int(target[name] ?? "") else {
      throw RESTError(400, "\(name) must be an integer")
    }
    guard count > 0 else { throw RESTError(400, "\(name) must be positive") }
    return try checked { () throws(TreeError) in
      try query.limited(to: count, from: name == Name.limitToFirst ? .first : .last)
    }
  }

  private func checked(_ body: () throws(TreeError) -> Query) throws(RESTError) -> Query {
    do throws(TreeError) {
      return try body()
    } catch {
      throw RESTError(400, error.message)
    }
  }
}
