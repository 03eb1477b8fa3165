import Testing

/// The names of types: each stands for one type in all targets.
@Suite struct TypeNameTests {
  /// Names that two targets may have all the same, and why.
  private static let exceptions: [String: String] = [:]

  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "actor", "typealias",
  ]
  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "open", "final", "indirect", "nonisolated",
  ]

  /// The type that a line declares at the top of a file for the whole target; nil if it does not.
  private func declared(_ line: String) -> String? {
    var words = line.split(separator: " ")[...]
    if line.hasPrefix(" ") { return nil }
    while let first = words.first, first.hasPrefix("@") || Self.modifiers.contains(first) {
      words.removeFirst()
    }
    guard words.count > 1, let kind = words.popFirst(), Self.kinds.contains(kind) else {
      return nil
    }
    return words.first.map { String($0.prefix { $0.isLetter || $0.isNumber || $0 == "_" }) }
  }

  @Test func eachTypeNameStandsForOneType() throws {
    var targets: [String: Set<String>] = [:]
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"]) {
      if file.path.contains(".docc/") { continue }
      for name in file.lines.compactMap(declared) { targets[name, default: []].insert(file.target) }
    }
    #expect(targets.count > 500, "the types are not found any more")
    for (name, owners) in targets.sorted(by: { $0.key < $1.key }) where owners.count > 1 {
      #expect(Self.exceptions[name] != nil, "\(name) is declared in \(owners.sorted())")
    }
  }
}
