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

  /// The folder of this target's tests.
  static let tests = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The scenarios that check themselves, by name.
  static let all = files(in: "Scenarios")

  /// All scenarios of a folder of this target, by name.
  static func files(in folder: String) -> [ScenarioFile] {
    let place = tests.appendingPathComponent(folder)
    do {
      return try FileManager.default.contentsOfDirectory(atPath: place.path)
        .filter { $0.hasSuffix(".scenario") }.sorted()
        .map { name in
          let file = place.appendingPathComponent(name)
          return ScenarioFile(name: name, text: try String(contentsOf: file, encoding: .utf8))
        }
    } catch {
      Issue.record("the scenarios cannot be read: \(error)")
      return []
    }
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
