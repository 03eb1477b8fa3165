import RunnelBase

/// The query in the address of a REST call.
///
/// Source: services protocol, section 3.2.
package enum QueryString {
  /// The most elements of an array that all servers read as an array.
  package static let elementsMax = 20
  /// The deepest nesting that servers read.
  static let depthMax = 5
  /// The most values that servers read; they drop the rest.
  static let pairsMax = 1000

  /// Returns the query string without `?`; empty if there is nothing to send.
  ///
  /// - Throws: `BadRequest` if servers would read another query than this one, but for numbers and flags, which
  ///   they read as texts: for a null, an empty or a long array, an empty object, names that they take for a place
  ///   in an array, too deep or too many values.
  package static func encoded(_ query: ServiceQuery) throws(FeathersError) -> String {
    var pairs: [String] = []
    for member in query.members {
      try checkName(member.name, member.name)
      try append(
        member.value, name: PercentEncoding.encoded(member.name), shown: member.name, depth: 0,
        &pairs)
    }
    if pairs.count > pairsMax {
      throw FeathersError(
        .badRequest,
        "The query has \(pairs.count) values, and over REST servers read only \(pairsMax): "
          + "use the socket."
      )
    }
    let text = pairs.joined(separator: "&")
    for bounds in [Bounds.usual, Bounds()] {
      let read = try decoded(text, bounds: bounds)
      if let name = difference(query.json, read.json, "") {
        throw lost(name, "a part that servers read otherwise")
      }
    }
    return text
  }

  private static func append(
    _ value: JSONValue, name: String, shown: String, depth: Int, _ pairs: inout [String]
  ) throws(FeathersError) {
    switch value {
    case .null:
      throw FeathersError(
        .badRequest,
        "null cannot be sent over REST, where it would be an empty text (\(shown)): use the socket."
      )
    case .bool(let flag): pairs.append("\(name)=\(flag)")
    case .number: pairs.append("\(name)=\(PercentEncoding.encoded(value.jsonText()))")
    case .string(let text): pairs.append("\(name)=\(PercentEncoding.encoded(text))")
    case .array(let elements):
      if elements.isEmpty { throw lost(shown, "an empty array") }
      if elements.count > elementsMax {
        throw FeathersError(
          .badRequest,
          "An array in a query over REST has at most \(elementsMax) elements, not \(elements.count): "
            + "use the socket.")
      }
      try checkDepth(depth + 1)
      for (index, element) in elements.enumerated() {
        try append(
          element, name: "\(name)%5B\(index)%5D", shown: "\(shown)[\(index)]", depth: depth + 1,
          &pairs)
      }
    case .object(let members):
      if members.isEmpty { throw lost(shown, "an empty object") }
      try checkDepth(depth + 1)
      for member in members {
        let inner = "\(name)%5B\(PercentEncoding.encoded(member.name))%5D"
        let shown = "\(shown).\(member.name)"
        try checkName(member.name, shown)
        try append(member.value, name: inner, shown: shown, depth: depth + 1, &pairs)
      }
    }
  }

  // MARK: What would be lost

  /// Names that readers of query strings leave out, since each object of JavaScript has them.
  private static let hiddenNames: Set<String> = [
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf",
  ]

  private static func lost(_ name: String, _ what: String) -> FeathersError {
    FeathersError(
      .badRequest,
      "The query has \(what) in \(name): over REST it would be lost, and the call would concern "
        + "other records. Use the socket.")
  }

  private static func checkName(_ name: String, _ shown: String) throws(FeathersError) {
    if name.isEmpty { throw lost(shown.isEmpty ? "\"\"" : shown, "a member without a name") }
    if hiddenNames.contains(name) || name.contains(where: { $0 == "[" || $0 == "]" }) {
      throw lost(shown, "a name that servers do not read")
    }
  }

  /// Returns the place at which a query is read otherwise than it was meant, but for numbers and flags that are
  /// texts now; nil if there is none.
  private static func difference(
    _ meant: JSONValue, _ read: JSONValue, _ name: String
  ) -> String? {
    switch (meant, read) {
    case (.object(let meant), .object(let read)):
      for (index, member) in meant.enumerated() {
        let inner = name.isEmpty ? member.name : "\(name).\(member.name)"
        guard index < read.count, read[index].name.hasSameBytes(as: member.name) else {
          return inner
        }
        if let place = difference(member.value, read[index].value, inner) { return place }
      }
      return read.count == meant.count ? nil : name
    case (.array(let meant), .array(let read)):
      for (index, pair) in zip(meant, read).enumerated() {
        if let place = difference(pair.0, pair.1, "\(name)[\(index)]") { return place }
      }
      return read.count == meant.count ? nil : name
    case (.string(let meant), .string(let read)): return meant.hasSameBytes(as: read) ? nil : name
    case (.number, .string(let read)), (.bool, .string(let read)):
      return meant.jsonText() == read ? nil : name
    default: return name
    }
  }

  private static func checkDepth(_ depth: Int) throws(FeathersError) {
    if depth <= depthMax { return }
    throw FeathersError(
      .badRequest,
      "The query is nested deeper than the \(depthMax) levels that servers read over REST: use the socket."
    )
  }

  /// Returns an id as a part of a path, escaped as little as an address allows.
  ///
  /// Feathers 5 does not decode it, so each escape may hide the record.
  package static func pathSegment(_ id: String) -> String { pathSegment(of: id.utf8) }

  private static func pathSegment(of bytes: some Sequence<UInt8>) -> String {
    var result = ""
    for byte in bytes {
      let isPlain: Bool
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        isPlain = true
      default: isPlain = plainInSegment.contains(byte)
      }
      if isPlain {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += byte < 16 ? "%0" + digits : "%" + digits
      }
    }
    return result
  }

  /// Returns a part of the path of a service, in which the values of placeholders are escaped already: a `%` that
  /// begins no escape is one of the name.
  package static func escapedSegment(_ part: Substring) -> String {
    var result = ""
    var rest = part.utf8[...]
    while let first = rest.first {
      let length = first == UInt8(ascii: "%") && isEscape(rest.prefix(3)) ? 3 : 1
      let piece = rest.prefix(length)
      // The bytes of a character are escaped one by one.
      result += length == 3 ? String(decoding: piece, as: UTF8.self) : pathSegment(of: [first])
      rest = rest.dropFirst(length)
    }
    return result
  }

  private static func isEscape(_ bytes: Substring.UTF8View.SubSequence) -> Bool {
    bytes.count == 3 && bytes.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }

  private static let plainInSegment = Set("-._~!$&'()*+,;=:@".utf8)
}

// MARK: - Reading

extension QueryString {
  /// The bounds of a reader.
  package struct Bounds: Hashable, Sendable {
    /// The deepest nesting; what is deeper becomes one name.
    package var depthMax: Int
    /// The largest index that makes an array; with a larger one it is an object.
    package var indexMax: Int
    /// The most values; more are an error.
    package var pairsMax: Int

    /// Makes bounds; without arguments they are those of the services that Runnel offers.
    package init(depthMax: Int = 10, indexMax: Int = 999, pairsMax: Int = 1000) {
      (self.depthMax, self.indexMax, self.pairsMax) = (depthMax, indexMax, pairsMax)
    }

    /// Those of most servers.
    static let usual = Bounds(
      depthMax: QueryString.depthMax, indexMax: elementsMax, pairsMax: QueryString.pairsMax)
  }

  /// Reads a query string; all values are texts.
  ///
  /// A condition that cannot be read is not left out: without it, more records would match.
  ///
  /// - Throws: `BadRequest` if it has more values than allowed, or a name that no field has.
  package static func decoded(
    _ text: String, bounds: Bounds = Bounds()
  ) throws(FeathersError) -> ServiceQuery {
    let pairs = text.utf8.split(separator: UInt8(ascii: "&"))
    if pairs.count > bounds.pairsMax {
      throw FeathersError(
        .badRequest, "The query has more than \(bounds.pairsMax) values.")
    }
    var root = Branch()
    for pair in pairs {
      let parts = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let names = path(plain(parts[0]), bounds)
      if names.isEmpty || names.contains("__proto__") {
        let name = names.joined(separator: ".")
        throw FeathersError(
          .badRequest, names.isEmpty ? "A value has no name." : "Invalid query parameter \(name)")
      }
      root.insert(parts.count > 1 ? plain(parts[1]) : "", names[...])
    }
    var query = ServiceQuery()
    for (name, branch) in root.children { query[name] = branch.json(bounds) }
    return query
  }

  /// Decodes a part; one with a damaged escape stays as it is.
  private static func plain(_ bytes: Substring.UTF8View.SubSequence) -> String {
    PercentEncoding.decoded(bytes, isPlusSpace: true)
      ?? String(Substring(bytes)).replacing("+", with: " ")
  }

  /// Takes a name apart: `a[b][]` is a, b and an empty name.
  private static func path(_ name: String, _ bounds: Bounds) -> [String] {
    guard let first = name.firstIndex(of: "["), first != name.startIndex else {
      return name.isEmpty ? [] : [name]
    }
    var names = [String(name[..<first])]
    var rest = name[first...]
    while rest.first == "[", let end = rest.firstIndex(of: "]") {
      if names.count > bounds.depthMax { break }
      names.append(String(rest[rest.index(after: rest.startIndex)..<end]))
      rest = rest[rest.index(after: end)...]
    }
    // What is too deep, or is no pair of brackets, is one name.
    if rest.first == "[" { names.append(String(rest)) }
    return names
  }

  /// A value while it is read: texts that were given for it, and what is below it.
  private struct Branch {
    private var texts: [String] = []
    private(set) var children: [(name: String, branch: Branch)] = []

    mutating func insert(_ text: String, _ path: ArraySlice<String>) {
      guard let name = path.first else { return texts.append(text) }
      // Empty brackets append.
      let index = name.isEmpty ? nil : children.firstIndex { $0.name == name }
      if let index {
        children[index].branch.insert(text, path.dropFirst())
      } else {
        var branch = Branch()
        branch.insert(text, path.dropFirst())
        children.append((name, branch))
      }
    }

    func json(_ bounds: Bounds) -> JSONValue {
      let texts = texts.map { JSONValue.string($0) }
      if children.isEmpty {
        return texts.count == 1 ? texts[0] : .array(texts)
      }
      let indexes = children.map { child in
        child.name.isEmpty ? Int.max : (Int(child.name) ?? -1)
      }
      let isArray = indexes.allSatisfy { $0 == .max || (0...bounds.indexMax).contains($0) }
      if isArray, texts.count + children.count <= bounds.indexMax + 1 {
        let sorted = zip(indexes, children.indices).sorted { $0 < $1 }
        return .array(texts + sorted.map { children[$0.1].branch.json(bounds) })
      }
      var value = JSONValue.object([])
      for (place, child) in children.enumerated() {
        value = value.setting(
          child.name.isEmpty ? String(place) : child.name, to: child.branch.json(bounds))
      }
      return texts.isEmpty ? value : .array(texts + [value])
    }
  }
}
