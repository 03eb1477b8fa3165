import Testing

/// What the formatter does not see.
@Suite struct StyleTests {
  private static let sourceLinesMax = 500
  private static let testLinesMax = 800

  /// Words that must not be in the sources, and why.
  private static let banned = [
    "try!": "an error is handled or thrown",
    " as! ": "a cast can fail",
    "@MainActor": "nobody serves the main actor",
    "nonisolated(unsafe)": "the compiler proves isolation",
    "@unchecked Sendable": "the compiler proves isolation",
    "TODO": "open an issue, or write `Limit:` with what is missing",
    "FIXME": "fix it",
  ]

  @Test func filesAreShortEnoughForOneSubject() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift", "c", "h"]) {
      #expect(file.lines.count <= StyleTests.sourceLinesMax + 1, "\(file.path)")
    }
    for file in try SourceTree.files(below: "Tests", extensions: ["swift"]) {
      #expect(file.lines.count <= StyleTests.testLinesMax + 1, "\(file.path)")
    }
  }

  @Test func bannedWordsAreNotInTheSources() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift", "c", "h"]) {
      for (number, line) in file.lines.enumerated() {
        for (word, reason) in StyleTests.banned where line.contains(word) {
          Issue.record("\(file.path):\(number + 1) has \(word): \(reason)")
        }
      }
    }
  }

  @Test func nothingPrintsBesidesTheCommands() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"])
    where file.target != "RunnelCommand" {
      for (number, line) in file.lines.enumerated()
      where line.contains(" print(") && !line.hasPrefix("//") {
        Issue.record("\(file.path):\(number + 1) prints: stray output spoils the screen")
      }
    }
  }
}
