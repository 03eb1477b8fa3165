import Foundation
import Testing

/// One session with the workspace, written down step by step: what is done, and what is then seen.
///
/// A file has a line for each step, a word and what it is about; lines that begin with `#` tell a reader
/// what it is for. Empty lines count for nothing.
///
/// ```
/// # The list narrows while one types, and Esc puts it back.
/// database small
/// press f
/// type from:bo
/// see 2 of 6 rows
/// press Esc
/// see no from:bo
/// ```
struct ScenarioFile: CustomTestStringConvertible, Sendable {
  /// A step: the word, what it is about, and the number of its line.
  struct Step: Sendable {
    var word: String
    var rest: String
    var line: Int
  }

  let name: String
  let steps: [Step]

  var testDescription: String { name }

  /// The folder of the files.
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Scenarios")

  /// All files, by name.
  static let all: [ScenarioFile] = {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".scenario") }.sorted()
        .map { try ScenarioFile(name: $0, text: text(of: $0)) }
    } catch {
      Issue.record("the scenarios cannot be read: \(error)")
      return []
    }
  }()

  private static func text(of name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  init(name: String, text: String) {
    self.name = name
    steps = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
      index, line in
      guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
      let parts = line.split(separator: " ", maxSplits: 1)
      return Step(
        word: parts.first.map(String.init) ?? "", rest: parts.count > 1 ? String(parts[1]) : "",
        line: index + 1)
    }
  }

  /// What the first step of a kind is about.
  func setting(_ word: String) -> String? { steps.first { $0.word == word }?.rest }
}
