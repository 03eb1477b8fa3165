// Deep values are read without recursion: a thread with a small stack reads whatever is accepted, and refuses
// the rest. Up to `recursionMax` levels recursion is used, which is faster.

extension JSONScanner {
  /// The depth from which values are read without recursion: some 350 bytes of stack a level, three times as
  /// many in debug builds.
  package static let recursionMax = 32

  /// A container that is being read.
  private struct Container {
    var elements: [JSONValue] = []
    var members = ReadMembers()
    /// The name of the member that is being read; nil in an array.
    var name: String?
  }

  /// Reads the next value, which is an object or an array, without recursion.
  @inline(never)
  mutating func readDeepValue() throws(JSONError) -> JSONValue {
    var open: [Container] = []
    while true {
      var value: JSONValue
      switch try peekKind() {
      case .array:
        try enterArray()
        if try nextElement() {
          open.append(Container())
          continue
        }
        value = .array([])
      case .object:
        try enterObject()
        if let name = try scanNextName() {
          try checkBudget()
          open.append(Container(name: text(of: name)))
          continue
        }
        value = .object([])
      case .null, .bool, .number, .string: value = try readValue()
      }
      // All containers that end behind the value.
      repeat {
        if open.isEmpty { return value }
      } while try close(&value, in: &open)
    }
  }

  /// Adds a value to the innermost container; if the container ends behind it, takes it out as the next value,
  /// and returns true.
  private mutating func close(
    _ value: inout JSONValue, in open: inout [Container]
  ) throws(JSONError) -> Bool {
    let last = open.count - 1
    guard let name = open[last].name else {
      open[last].elements.append(value)
      try checkBudget()
      if try nextElement() { return false }
      value = .array(open.removeLast().elements)
      return true
    }
    open[last].members.set(name, to: value)
    try checkBudget()
    if let next = try scanNextName() {
      try checkBudget()
      open[last].name = text(of: next)
      return false
    }
    value = .object(open.removeLast().members.members)
    return true
  }

  /// Reads past the next value, which is an object or an array, without recursion.
  @inline(never)
  mutating func skipDeepValue() throws(JSONError) {
    var areObjects: [Bool] = []
    repeat {
      switch try peekKind() {
      case .array:
        try enterArray()
        areObjects.append(false)
      case .object:
        try enterObject()
        areObjects.append(true)
      case .null, .bool, .number, .string: try skipValue()
      }
      while let isObject = areObjects.last {
        if isObject ? try scanNextName() != nil : try nextElement() { break }
        areObjects.removeLast()
      }
    } while !areObjects.isEmpty
  }
}
