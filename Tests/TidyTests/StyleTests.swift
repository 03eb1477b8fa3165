import Foundation
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

  /// The names of types that stand for functions.
  private static func functionNames(in files: [SourceTree.File]) -> Set<String> {
    var names: Set<String> = []
    for file in files {
      for (index, line) in file.lines.enumerated() {
        let words = line.split { !$0.isLetter && !$0.isNumber }
        guard let place = words.firstIndex(of: "typealias"), place + 1 < words.count else {
          continue
        }
        // A long type stands on the next line.
        let next = line.hasSuffix("=") && index + 1 < file.lines.count ? file.lines[index + 1] : ""
        if line.contains("->") || next.contains("->") { names.insert(String(words[place + 1])) }
      }
    }
    return names
  }

  /// The text between the angle brackets before which `text` begins.
  private static func genericArguments(_ text: Substring) -> Substring {
    var depth = 1
    var last: Character = " "
    let end = text.firstIndex { sign in
      if sign == "<" { depth += 1 }
      if sign == ">", last != "-" { depth -= 1 }
      last = sign
      return depth == 0
    }
    return text[..<(end ?? text.endIndex)]
  }

  /// The types that hold functions as values of generic storage: those in `Mutex<…>`, and those after
  /// `@TaskLocal`.
  private static func storedFunctions(
    in text: String, functionNames: Set<String>
  ) -> [Substring] {
    let held = text.components(separatedBy: "Mutex<").dropFirst().map { genericArguments($0[...]) }
    let local = text.components(separatedBy: "@TaskLocal").dropFirst().map { piece in
      // The declaration may stand on the line below.
      piece.split(separator: "\n").first { $0.contains("var ") } ?? ""
    }
    return (held + local).filter { type in
      type.contains("->")
        || type.split { !$0.isLetter && !$0.isNumber }.contains {
          functionNames.contains(String($0))
        }
    }
  }

  /// A generic storage wraps a function at each reading and writing.
  ///
  /// In `Mutex` a function that is read and written back gets a wrapper more each time, which is never
  /// freed; of one in `@TaskLocal` the optimizer makes a call that crashes.
  @Test func noFunctionIsTheValueOfAMutexOrOfATask() throws {
    let files = try ["Sources", "Tests"].flatMap {
      try SourceTree.files(below: $0, extensions: ["swift"])
    }.filter { !$0.path.hasSuffix("TidyTests/StyleTests.swift") }
    let names = StyleTests.functionNames(in: files)
    #expect(names.count > 10, "the names of functions are not found any more")
    for file in files {
      let text = file.lines.joined(separator: "\n")
      for type in StyleTests.storedFunctions(in: text, functionNames: names) {
        Issue.record(
          """
          \(file.path) holds \(type): put the function into a property of a final class, \
          and hold that
          """)
      }
    }
  }

  @Test(arguments: [
    "let a = Mutex<(() -> Void)?>(nil)", "let a: Mutex<[Int: @Sendable () -> Void]>",
    "let a = Mutex<\n  (count: Int, tell: (Set<Int>) -> Void)>", "let a: Mutex<Handler?>",
    "@TaskLocal static var a: (@Sendable () -> Void)?",
    "@TaskLocal\n  private static var a: Handler?",
  ])
  func aFunctionInAMutexOrATaskIsFound(text: String) {
    #expect(!StyleTests.storedFunctions(in: text, functionNames: ["Handler"]).isEmpty)
  }

  @Test(arguments: [
    "let a = Mutex<[Int]>([]); let b: () -> Void", "let a: Mutex<Result<Set<Int>, Handlers>>",
    "@TaskLocal static var a: Placing?\n  let tell: () -> Void",
  ])
  func otherValuesOfAMutexOrATaskAreNoFunctions(text: String) {
    #expect(StyleTests.storedFunctions(in: text, functionNames: ["Handler"]).isEmpty)
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
