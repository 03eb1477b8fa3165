import Foundation
import Testing

/// What documents have to be besides true: short, in order, and with links that lead somewhere.
@Suite struct DocumentTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: SourceTree.top.appendingPathComponent(path), encoding: .utf8)
  }

  private func wordCount(_ text: some StringProtocol) -> Int {
    text.split(whereSeparator: \.isWhitespace).count
  }

  @Test(arguments: [("README.md", 1000), ("Sources/README.md", 1500)])
  func overviewsAreShort(path: String, wordsMax: Int) throws {
    let count = try wordCount(text(path))
    #expect(count < wordsMax, "\(path) has \(count) words: details go to Resources/docs")
  }

  @Test func decisionsAreShortAndNewestFirst() throws {
    let paragraphs = try text("Sources/DECISIONS.md").components(separatedBy: "\n\n")
      .filter { $0.hasPrefix("**2") }
    #expect(paragraphs.count > 50)
    for paragraph in paragraphs {
      let count = wordCount(paragraph)
      #expect(count <= 80, "\(count) words: \(paragraph.prefix(70))")
    }
    let dates = paragraphs.map { $0.dropFirst(2).prefix(10) }
    for (earlier, later) in zip(dates.dropFirst(), dates) { #expect(earlier <= later) }
  }

  @Test func eachChangeIsALine() throws {
    for line in try text("Resources/docs/changes.md").split(separator: "\n").dropFirst(2) {
      #expect(line.hasPrefix("- ") || line.hasPrefix("## "), "\(line)")
    }
  }

  @Test func relativeLinksLeadToFiles() throws {
    var linkCount = 0
    let files = try ["Sources", "Resources"].flatMap {
      try SourceTree.files(below: $0, extensions: ["md"])
    }
    for path in ["README.md"] + files.map(\.path) where !path.contains(".docc/") {
      let folder = SourceTree.top.appendingPathComponent(path).deletingLastPathComponent()
      for piece in try text(path).components(separatedBy: "](").dropFirst() {
        let target = piece.prefix { $0 != ")" && $0 != "#" }
        if target.isEmpty || target.contains("://") { continue }
        linkCount += 1
        let file = folder.appendingPathComponent(String(target)).standardizedFileURL.path
        #expect(FileManager.default.fileExists(atPath: file), "\(path): \(target)")
      }
    }
    #expect(linkCount > 20)
  }

  /// What the five minutes of the README name is in the tour, which a test strikes key by key.
  @Test func theReadmeNamesKeysThatTheTourHas() throws {
    let readme = try text("README.md")
    let start = try #require(readme.range(of: "## Five minutes"))
    let end = try #require(readme.range(of: "The shell reads and writes"))
    let tour = try text("Resources/docs/tour.md")
    let quoted = readme[start.upperBound..<end.lowerBound].split(separator: "`")
    let names = zip(quoted.indices, quoted).filter { $0.0 % 2 == 1 }.map(\.1)
    #expect(names.count > 15)
    for name in names where name.count < 4 {
      #expect(tour.contains("`\(name)`"), "\(name) is not in the tour")
    }
  }
}
