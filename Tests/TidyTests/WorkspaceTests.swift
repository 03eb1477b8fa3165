import Foundation
import Testing

/// The state of the workspace stays small: what a component does stands in its own folder.
@Suite struct WorkspaceTests {
  private static let storedPropertiesMax = 15
  private static let membersMax = 60
  private static let listPropertiesMax = 20
  /// The most layers that a switch outside the list of layers may tell apart.
  private static let toldApartMax = 5

  private func files() throws -> [SourceTree.File] {
    try SourceTree.files(below: "Sources/RunnelWorkspace", extensions: ["swift"])
  }

  /// The words that may stand before a declaration.
  private static let modifiers: Set<Substring> = [
    "public", "package", "private", "fileprivate", "internal", "static", "mutating",
    "private(set)", "fileprivate(set)", "package(set)", "indirect", "@discardableResult", "@Boxed",
  ]
  private static let keywords: Set<Substring> = [
    "func", "var", "let", "init", "subscript", "struct", "enum", "class", "typealias",
  ]

  /// A member of a type, which formatting puts two columns in.
  private struct Member {
    var isStored: Bool
    var line: String
  }

  /// The members of a type in its declaration and in all its extensions.
  private func members(of type: String) throws -> [Member] {
    var members: [Member] = []
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"]) {
      var isInside = false
      var isDeclaration = false
      for line in file.lines {
        let words = line.split(separator: " ")
        if line.hasPrefix("}") { isInside = false }
        let head = words.drop { Self.modifiers.contains($0) }
        if let first = head.first, !line.hasPrefix(" "), ["struct", "extension"].contains(first) {
          let name = head.dropFirst().first?.prefix { $0 != ":" && $0 != "{" }
          isInside = name == Substring(type)
          isDeclaration = first == "struct"
        }
        guard isInside, line.hasPrefix("  "), !line.hasPrefix("   ") else { continue }
        guard let keyword = head.first?.prefix(while: { $0 != "(" }),
          Self.keywords.contains(keyword)
        else { continue }
        let isVariable = keyword == "var" || keyword == "let"
        members.append(
          Member(
            isStored: isDeclaration && isVariable && !words.contains("static")
              && !line.hasSuffix("{"),
            line: "\(file.path): \(line)"))
      }
    }
    return members
  }

  @Test func theStateOfTheWorkspaceIsSmall() throws {
    let members = try members(of: "AppState")
    let stored = members.filter(\.isStored).map(\.line)
    #expect(stored.count > 10, "the members are not found any more")
    #expect(stored.count <= Self.storedPropertiesMax, "\(stored.joined(separator: "\n"))")
    let all = members.map(\.line)
    #expect(all.count <= Self.membersMax, "\(all.count): \(all.joined(separator: "\n"))")
  }

  @Test func theFactsOfAListStandInGroups() throws {
    let stored = try members(of: "ListScreen").filter(\.isStored).map(\.line)
    #expect(stored.count > 10, "the members are not found any more")
    #expect(stored.count <= Self.listPropertiesMax, "\(stored.joined(separator: "\n"))")
  }

  /// A new layer is a case in one file; nothing else has a list of all layers.
  @Test func oneFileListsTheLayers() throws {
    let list = try #require(files().first { $0.path.hasSuffix("/Workspace/Layer.swift") })
    let names = list.lines.compactMap { line -> String? in
      guard line.hasPrefix("  case "), let name = line.dropFirst(7).split(separator: "(").first
      else { return nil }
      return String(name)
    }
    #expect(names.count > 10, "the layers are not found any more")
    #expect(
      Self.switches(in: list).contains { $0.names.isSuperset(of: names) },
      "the switch over all layers is not found any more")
    for file in try files() where file.path != list.path {
      for found in Self.switches(in: file) {
        let known = names.filter { found.names.contains($0) }
        #expect(
          known.count <= Self.toldApartMax, "\(file.path):\(found.line) tells apart \(known)")
      }
    }
  }

  /// The switches of a file: each with its line, and with the names of cases in its patterns, whatever
  /// they bind.
  ///
  /// Formatting puts the cases below the first letter of the line with the switch.
  private static func switches(in file: SourceTree.File) -> [(line: Int, names: Set<String>)] {
    file.lines.indices.compactMap { index in
      let line = file.lines[index]
      guard line.hasSuffix("{"), line.split(separator: " ").contains("switch") else { return nil }
      let margin = String(line.prefix { $0 == " " })
      var names: Set<String> = []
      var isPattern = false
      for next in file.lines[(index + 1)...] {
        if next.hasPrefix(margin + "}") { break }
        if next.hasPrefix(margin + "case ") { isPattern = true }
        guard isPattern else { continue }
        let pattern = next.components(separatedBy: ": ")[0]
        for piece in pattern.components(separatedBy: ".").dropFirst() {
          names.insert(String(piece.prefix { $0.isLetter || $0.isNumber }))
        }
        if next.hasSuffix(":") || pattern != next { isPattern = false }
      }
      return (index + 1, names)
    }
  }

  /// A new kind of write has its words and flags in its folder, and its lines in one file.
  @Test func oneFileListsTheKindsOfWrites() throws {
    let list = try #require(files().first { $0.path.hasSuffix("/Requests/WritePurpose.swift") })
    let kinds = [
      "importRows", "editOutside", "deleteMarked", "reversal", "earlier", "pasted", "reorder",
    ]
    for kind in kinds {
      #expect(list.lines.contains { $0.hasPrefix("  case \(kind)") }, "\(kind) is no kind any more")
    }
    for file in try files() where file.path != list.path {
      let cases = file.lines.filter { $0.contains("case .") }.joined(separator: "\n")
      let known = kinds.filter { cases.contains(".\($0)") }
      #expect(known.count <= 2, "\(file.path) tells apart \(known)")
    }
  }

  /// Each folder of the workspace is a component or a topic; none is left for everything else.
  @Test func noFileLiesBesideTheFolders() throws {
    for file in try files() {
      #expect(file.path.split(separator: "/").count == 4, "\(file.path): put it into a folder")
    }
  }
}
