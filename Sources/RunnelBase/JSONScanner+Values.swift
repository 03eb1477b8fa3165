extension JSONScanner {
  /// Reads the next value, whatever it is.
  package mutating func readValue() throws(JSONError) -> JSONValue {
    switch try peekKind() {
    case .null:
      try readNull()
      return .null
    case .bool:
      return .bool(try readBool())
    case .number:
      return .number(try readNumber())
    case .string:
      let string = try scanString()
      // The budget is checked before the string is made, which may be the single large value.
      try checkBudget()
      return .string(text(of: string))
    case .array:
      return depth < Self.recursionMax ? .array(try readElements()) : try readDeepValue()
    case .object:
      return depth < Self.recursionMax ? .object(try readMembers()) : try readDeepValue()
    }
  }

  /// Reads the next value if its text has at most `maxBytes` bytes; else nil, and it stays unread.
  ///
  /// Whitespace before and after the value does not count, whitespace inside does. At most the
  /// budget and one token more is looked at. Throws `JSONError` for a fault that is met before the
  /// budget is spent.
  package mutating func readValue(maxBytes: Int) throws(JSONError) -> JSONValue? {
    skipWhitespace()
    let start = self
    budgetEnd = min(budgetEnd, offset + min(maxBytes, bytes.count))
    do {
      let value = try readValue()
      try checkBudget()
      budgetEnd = start.budgetEnd
      return value
    } catch {
      guard error.code == .overBudget else { throw error }
      self = start
      return nil
    }
  }

  /// Reads past the next value and checks it as `readValue` would, without keeping it.
  package mutating func skipValue() throws(JSONError) {
    switch try peekKind() {
    case .null: try readNull()
    case .bool: _ = try readBool()
    case .number: _ = try readNumber()
    case .string: _ = try scanString()
    case .array where depth >= Self.recursionMax, .object where depth >= Self.recursionMax:
      try skipDeepValue()
    case .array:
      try enterArray()
      while try nextElement() { try skipValue() }
    case .object:
      try enterObject()
      while try scanNextName() != nil { try skipValue() }
    }
  }

  private mutating func readElements() throws(JSONError) -> [JSONValue] {
    try enterArray()
    var elements: [JSONValue] = []
    while try nextElement() {
      elements.append(try readValue())
      try checkBudget()
    }
    return elements
  }

  private mutating func readMembers() throws(JSONError) -> [JSONMember] {
    try enterObject()
    var members = ReadMembers()
    while let name = try scanNextName() {
      try checkBudget()
      members.set(text(of: name), to: try readValue())
      try checkBudget()
    }
    return members.members
  }

  @inline(__always)
  func checkBudget() throws(JSONError) {
    guard offset <= budgetEnd else { throw .overBudget }
  }
}

extension JSONError.Code {
  /// The code of an error that `readValue(maxBytes:)` catches, so that no caller sees it.
  fileprivate static let overBudget = Self(rawValue: "over_budget")
}

extension JSONError {
  /// An error without a place: counting the lines of a large document for each large value would be
  /// quadratic.
  fileprivate static var overBudget: Self {
    Self(code: .overBudget, message: "", offset: 0, line: 0, column: 0)
  }
}

/// The members of an object being read: a repeated name keeps its place and gets the last value.
///
/// Names are looked for one by one while they are few, not at all while they arrive in ascending
/// order (as those of an export do), and in a table from the first one that does not.
struct ReadMembers {
  private(set) var members: [JSONMember] = []
  private var isAscending = true
  private var places: [ExactName: Int] = [:]
  private static let fewMax = 8

  /// A name that is compared by its bytes, not by Unicode's canonical equivalence.
  private struct ExactName: Hashable {
    var name: String

    static func == (left: Self, right: Self) -> Bool { left.name.hasSameBytes(as: right.name) }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  mutating func set(_ name: String, to value: JSONValue) {
    if let place = place(of: name) {
      members[place].value = value
      return
    }
    if !isAscending { places[ExactName(name: name)] = members.count }
    members.append(JSONMember(name, value))
  }

  private mutating func place(of name: String) -> Int? {
    guard let last = members.last else { return nil }
    if isAscending {
      if last.name.utf8.lexicographicallyPrecedes(name.utf8) { return nil }
      if members.count <= Self.fewMax {
        guard let place = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else {
          stopAscending()
          return nil
        }
        return place
      }
      stopAscending()
    }
    return places[ExactName(name: name)]
  }

  private mutating func stopAscending() {
    isAscending = false
    for (place, member) in members.enumerated() { places[ExactName(name: member.name)] = place }
  }
}
