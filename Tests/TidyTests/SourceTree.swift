import Foundation

/// The project's own sources, as the tests of style read them.
struct SourceTree {
  /// A source file.
  struct File {
    /// The path from the top of the project.
    let path: String
    let lines: [String]

    /// The target that the file belongs to: `Sources/NAME/...`.
    var target: String { String(path.split(separator: "/")[1]) }

    /// The modules that the file imports.
    var imports: [String] {
      lines.compactMap { line in
        var words = line.split(separator: " ").map(String.init)[...]
        if let first = words.first, ["@_exported", "@testable"].contains(first) {
          words.removeFirst()
        }
        if let first = words.first, ["public", "package", "private"].contains(first) {
          words.removeFirst()
        }
        return line.first != " " && words.count == 2 && words.first == "import" ? words.last : nil
      }
    }
  }

  /// The top of the project: this file is in `Tests/TidyTests`.
  static let top = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The targets of the library products, in the order of `Package.swift`.
  static func libraries() throws -> [String] {
    let package = try String(
      contentsOf: top.appendingPathComponent("Package.swift"), encoding: .utf8)
    return package.components(separatedBy: ".library(").dropFirst().flatMap { piece in
      let list = piece.components(separatedBy: "targets: [").dropFirst().first ?? ""
      let names = list.prefix { $0 != "]" }.components(separatedBy: "\"")
      return names.indices.filter { $0 % 2 == 1 }.map { names[$0] }
    }
  }

  /// The files below a folder of the project whose names end in one of `extensions`.
  static func files(below folder: String, extensions: [String]) throws -> [File] {
    let root = top.appendingPathComponent(folder)
    let enumerator = FileManager.default.enumerator(atPath: root.path)
    var files: [File] = []
    while let name = enumerator?.nextObject() as? String {
      guard extensions.contains(URL(fileURLWithPath: name).pathExtension) else { continue }
      let text = try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
      files.append(
        File(
          path: folder + "/" + name,
          lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)))
    }
    return files.sorted { $0.path < $1.path }
  }
}
