package import RunnelBase
import RunnelTree

/// Reads files of cases, and collects their mistakes.
struct RulesCaseReader {
  /// The contents of a file.
  struct File {
    var cases: [RulesCases.Case] = []
    var rulesFile: String?
    var rules: JSONValue?
  }

  /// A mistake in one case.
  private struct Mistake: Error {
    let message: String
  }

  /// The default time of a case: 2025-06-15 15:06:40 UTC.
  private static let standardTime: Int64 = 1_750_000_000_000
  private static let mistakesMax = 50
  private static let names = ["rules", "now", "data", "identities", "cases"]
  private static let actions = ["read", "set", "update", "remove"]
  private static let caseNames =
    ["name", "as", "expect", "query", "value", "values", "data", "now"] + actions

  private(set) var mistakes: [String] = []
  private var identities: [JSONMember] = []
  private var data = MemoryTree()
  private var now = RulesCaseReader.standardTime

  mutating func file(_ json: JSONValue) -> File {
    var file = File()
    guard case .object(let members) = json else {
      mistakes.append("A file of cases has names with values: rules, identities, data and cases.")
      return file
    }
    checkNames(members, RulesCaseReader.names, "the file")
    switch json["rules"] {
    case .string(let name)?: file.rulesFile = name
    case .object?: file.rules = json["rules"]
    case nil: break
    default:
      mistakes.append("rules: the name of a rules file is expected, or the rules themselves.")
    }
    readDefaults(json)
    guard case .array(let elements)? = json["cases"], !elements.isEmpty else {
      mistakes.append("cases: a list of at least one case is expected.")
      return file
    }
    for (index, element) in elements.enumerated() {
      if mistakes.count >= RulesCaseReader.mistakesMax { break }
      read(element, number: index + 1, into: &file)
    }
    return file
  }

  private mutating func readDefaults(_ json: JSONValue) {
    do throws(Mistake) {
      now = try time(json["now"]) ?? now
      if let data = json["data"] { self.data = try tree(data) }
    } catch {
      mistakes.append(error.message)
    }
    switch json["identities"] {
    case .object(let members)?: identities = members
    case nil: break
    default: mistakes.append("identities: names, each with its value of auth, are expected.")
    }
  }

  private mutating func checkNames(_ members: [JSONMember], _ known: [String], _ what: String) {
    for member in members where !known.contains(member.name) {
      let meant = Spelling.nearest(to: member.name, among: known)
      mistakes.append(
        "\(what): \"\(member.name)\" is not known here\(RuleSpelling.question(meant)) Known: "
          + "\(known.joined(separator: ", ")).")
    }
  }

  // MARK: Cases

  private mutating func read(_ json: JSONValue, number: Int, into file: inout File) {
    guard case .object(let members) = json else {
      mistakes.append("case \(number): names with values are expected.")
      return
    }
    var name = ""
    if case .string(let text)? = json["name"] { name = text }
    let title = name.isEmpty ? "case \(number)" : "case \(number), \(name)"
    checkNames(members, RulesCaseReader.caseNames, title)
    do throws(Mistake) {
      file.cases.append(
        RulesCases.Case(
          number: number, name: name, auth: try auth(json["as"]), action: try action(json),
          data: try json["data"].map { json throws(Mistake) in try tree(json) } ?? data,
          now: try time(json["now"]) ?? now, isAllowed: try expectation(json["expect"])))
    } catch {
      mistakes.append("\(title): \(error.message)")
    }
  }

  private func expectation(_ json: JSONValue?) throws(Mistake) -> Bool {
    switch json {
    case .string("allow")?, .bool(true)?: return true
    case .string("deny")?, .bool(false)?: return false
    default: throw Mistake(message: "expect: allow or deny is expected.")
    }
  }

  private func auth(_ json: JSONValue?) throws(Mistake) -> JSONValue {
    switch json {
    case nil, .null?: return .null
    case .object?: return json ?? .null
    case .string(let text)?:
      if let known = identities.first(where: { $0.name == text }) { return known.value }
      if let auth = RulesIdentity.auth(named: text) { return auth }
      throw Mistake(
        message: "as: \"\(text)\" is none of identities; give it there, or write uid:\(text).")
    default:
      throw Mistake(
        message: "as: a name of identities, uid:NAME, or the value of auth is expected.")
    }
  }

  private func time(_ json: JSONValue?) throws(Mistake) -> Int64? {
    guard let json else { return nil }
    guard case .number(let number) = json, let time = number.integer else {
      throw Mistake(message: "now: milliseconds since 1970 are expected.")
    }
    return time
  }

  private func tree(_ json: JSONValue) throws(Mistake) -> MemoryTree {
    try reporting("data") { () throws(TreeError) in MemoryTree(try Node(json: json)) }
  }

  private func reporting<Result>(
    _ name: String, _ body: () throws(TreeError) -> Result
  ) throws(Mistake) -> Result {
    do throws(TreeError) {
      return try body()
    } catch {
      throw Mistake(message: "\(name): \(error)")
    }
  }

  // MARK: Actions

  private func action(_ json: JSONValue) throws(Mistake) -> RulesCases.Action {
    let given = RulesCaseReader.actions.filter { json[$0] != nil }
    guard given.count == 1, let word = given.first else {
      throw Mistake(
        message: "one of read, set, update and remove is expected, with the path of a place.")
    }
    guard case .string(let text)? = json[word] else {
      throw Mistake(message: "\(word): the path of a place is expected, such as /users/ana.")
    }
    let path = try reporting(word) { () throws(TreeError) in try Path(text) }
    let companions = ["read": "query", "set": "value", "update": "values"]
    for name in ["query", "value", "values"] where json[name] != nil && companions[word] != name {
      throw Mistake(message: "\(name): it does not go with \(word): remove it.")
    }
    switch word {
    case "read": return .read(try RulesCaseQuery.query(json["query"], at: path))
    case "remove": return .write(.remove(path))
    case "set":
      guard let value = json["value"] else { throw Mistake(message: "value: it is missing.") }
      return .write(.set(path, value))
    default:
      guard case .object(let members)? = json["values"] else {
        throw Mistake(message: "values: relative paths with their values are expected.")
      }
      return .write(.update(path, members))
    }
  }

  /// The query of a read.
  private enum RulesCaseQuery {
    private static let names = [
      "orderBy", "startAt", "startAfter", "endAt", "endBefore", "equalTo", "limitToFirst",
      "limitToLast",
    ]

    static func query(_ json: JSONValue?, at path: Path) throws(Mistake) -> Query {
      guard let json else { return Query(path) }
      guard case .object(let members) = json else {
        throw Mistake(
          message: "query: names with values are expected: \(names.joined(separator: ", ")).")
      }
      for member in members where !names.contains(member.name) {
        throw Mistake(
          message:
            "query: \"\(member.name)\" is not known. Known: \(names.joined(separator: ", ")).")
      }
      do throws(TreeError) {
        return try query(json, path)
      } catch {
        throw Mistake(message: "query: \(error)")
      }
    }

    private static func query(_ json: JSONValue, _ path: Path) throws(TreeError) -> Query {
      var query = Query(path)
      switch json["orderBy"] {
      case nil: break
      case .string("$key")?: query = try query.ordered(by: .key)
      case .string("$value")?: query = try query.ordered(by: .value)
      case .string("$priority")?: query = try query.ordered(by: .priority)
      case .string(let child)?: query = try query.ordered(byChild: child)
      default: throw TreeError(.invalidQuery, "orderBy is a child, $key, $value or $priority.")
      }
      for name in ["startAt", "startAfter"] {
        guard let value = try bound(json[name], name) else { continue }
        query = try query.starting(at: value, isInclusive: name == "startAt")
      }
      for name in ["endAt", "endBefore"] {
        guard let value = try bound(json[name], name) else { continue }
        query = try query.ending(at: value, isInclusive: name == "endAt")
      }
      if let value = try bound(json["equalTo"], "equalTo") { query = try query.equal(to: value) }
      for (name, side) in [("limitToFirst", Query.Side.first), ("limitToLast", .last)] {
        guard let json = json[name] else { continue }
        guard case .number(let number) = json, let count = number.integer.flatMap(Int.init) else {
          throw TreeError(.invalidQuery, "\(name) is a whole number.")
        }
        query = try query.limited(to: count, from: side)
      }
      return query
    }

    private static func bound(_ json: JSONValue?, _ name: String) throws(TreeError) -> IndexValue? {
      guard let json else { return nil }
      if json == .null { return .null }
      guard let leaf = Leaf(json) else {
        throw TreeError(.invalidQuery, "\(name) is null, true, false, a number or a text.")
      }
      return .leaf(leaf)
    }
  }
}

/// The caller's identity in the form that people write.
package enum RulesIdentity {
  /// Returns the value of `auth` for `uid:NAME` or for the text of a JSON object; nil for any other
  /// text.
  ///
  /// A name is signed in as with a custom token.
  package static func auth(named text: String) -> JSONValue? {
    if text == "null" || text == "nobody" { return JSONValue.null }
    if text.hasPrefix("uid:"), text.utf8.count > 4 {
      let name = JSONValue.string(String(text.dropFirst(4)))
      return [
        "uid": name, "provider": "custom",
        "token": [
          "sub": name, "user_id": name,
          "firebase": ["sign_in_provider": "custom", "identities": [:]],
        ],
      ]
    }
    guard let json = try? JSONValue(parsing: text), case .object = json else { return nil }
    return json
  }
}
