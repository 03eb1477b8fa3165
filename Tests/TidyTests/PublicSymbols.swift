/// The public declarations of a source file, found by a simple scan: each with its enclosing type,
/// and its signature on one line.
///
/// It relies on the project's format: two blanks for each level, one declaration to a line.
struct PublicSymbols {
  private struct Scope {
    var indent: Int
    var name: String
    /// The kinds of declarations that are public without a modifier: the cases of a public
    /// enumeration, and everything in a public protocol.
    var publicMembers: Members
  }

  private enum Members { case none, cases, all }

  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "extension", "actor", "func", "var", "let", "init",
    "subscript", "typealias", "case", "associatedtype",
  ]
  private static let scopes: Set<Substring> = [
    "struct", "class", "enum", "protocol", "extension", "actor",
  ]
  private static let modifiers: Set<Substring> = [
    "public", "package", "private", "fileprivate", "internal", "static", "final", "mutating",
    "nonisolated", "nonisolated(nonsending)", "indirect", "convenience", "override", "consuming",
    "borrowing", "weak", "lazy", "private(set)", "package(set)", "fileprivate(set)",
    "internal(set)",
  ]

  private(set) var lines: [String] = []
  private var open: [Scope] = []

  /// Scans the lines of a file of a target.
  init(_ source: [String], target: String) {
    var isInText = false
    for (index, line) in source.enumerated() {
      if line.components(of: "\"\"\"") % 2 == 1 { isInText.toggle() }
      let text = line.drop { $0 == " " }
      if isInText || text.isEmpty || text.hasPrefix("//") { continue }
      note(line, text, target) { PublicSymbols.signature(source[index...]) }
    }
  }

  private mutating func note(
    _ line: String, _ text: Substring, _ target: String, _ signature: () -> String
  ) {
    let indent = line.count - text.count
    // The closing line of a scope, and lines at its level, are outside of it.
    while let last = open.last, last.indent >= indent { open.removeLast() }
    var words = text.split(separator: " ")[...]
    var found: Set<Substring> = []
    while let word = words.first, word.hasPrefix("@") || Self.modifiers.contains(word) {
      found.insert(words.removeFirst())
    }
    guard let word = words.popFirst() else { return }
    let kind = word.prefix { $0.isLetter }
    guard Self.kinds.contains(kind) else { return }
    let isPublic = found.contains("public") || isPublicMember(kind, indent)
    if isPublic, kind != "extension" {
      let owner = open.map(\.name).joined(separator: ".")
      lines.append("\(target) \(owner.isEmpty ? "" : owner + ": ")\(signature())")
    }
    guard Self.scopes.contains(kind), let name = words.first else { return }
    open.append(
      Scope(
        indent: indent,
        name: String(name.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }),
        publicMembers: !isPublic
          ? .none : kind == "enum" ? .cases : kind == "protocol" ? .all : .none))
  }

  private func isPublicMember(_ kind: Substring, _ indent: Int) -> Bool {
    guard let scope = open.last, indent == scope.indent + 2 else { return false }
    switch scope.publicMembers {
    case .none: return false
    case .cases: return kind == "case"
    case .all: return true
    }
  }

  /// Returns the declaration that begins with the first line, without its body.
  private static func signature(_ source: ArraySlice<String>) -> String {
    var text = ""
    var depth = 0
    for line in source {
      for character in (text.isEmpty ? "" : " ") + line.drop(while: { $0 == " " }) {
        if "([".contains(character) { depth += 1 }
        if ")]".contains(character) { depth -= 1 }
        if character == "{", depth == 0 { return tidy(text) }
        text.append(character)
      }
      if depth == 0, !text.hasSuffix(",") { return tidy(text) }
    }
    return tidy(text)
  }

  private static func tidy(_ text: String) -> String {
    text.split(separator: " ").joined(separator: " ")
      .split(separator: "( ").joined(separator: "(").split(separator: " )").joined(separator: ")")
  }
}

extension String {
  /// Returns the number of occurrences of a text.
  fileprivate func components(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
