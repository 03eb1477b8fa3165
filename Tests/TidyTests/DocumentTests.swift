import Foundation
import Testing

/// The form of documents: their length, their order, their links and their examples.
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

  @Test func eachChangeIsAShortLine() throws {
    let lines = try text("Resources/docs/changes.md").split(separator: "\n").dropFirst(2)
    let changes = lines.filter { !$0.hasPrefix("## ") }
    #expect(changes.count > 100)
    for line in changes {
      #expect(line.hasPrefix("- "), "\(line)")
      let count = wordCount(line.dropFirst(2))
      #expect(count <= 40, "\(count) words: \(line.prefix(70))")
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

  /// Returns the texts between two marks in files.
  private func parts(
    _ files: [SourceTree.File], from begin: String, to end: String
  ) -> [(path: String, text: String)] {
    files.flatMap { file in
      file.lines.joined(separator: "\n").components(separatedBy: begin).dropFirst()
        .compactMap { $0.components(separatedBy: end).first }.map { (file.path, $0) }
    }
  }

  @Test func everyExampleIsCompiledWithTheTests() throws {
    // The page on clients shows other libraries.
    let pages = try ["Sources", "Resources"].flatMap {
      try SourceTree.files(below: $0, extensions: ["md"])
    }.filter { $0.path != "Resources/docs/clients.md" }
    let readme = SourceTree.File(
      path: "README.md", lines: try text("README.md").components(separatedBy: "\n"))
    let shown = parts([readme] + pages, from: "```swift\n", to: "```")
    let compiled = parts(
      try SourceTree.files(below: "Tests", extensions: ["swift"]), from: "// example begin\n",
      to: "// example end")
    let texts = Set(compiled.map(\.text))
    #expect(shown.count > 40)
    for example in shown {
      #expect(
        texts.contains(example.text),
        "\(example.path) shows what no test compiles: \(example.text.prefix(60))")
    }
  }

  @Test func everyFunctionOfAnExampleIsCalled() throws {
    let files = try SourceTree.files(below: "Tests", extensions: ["swift"])
    let whole = files.map { $0.lines.joined(separator: "\n") }.joined(separator: "\n")
    let examples = parts(files, from: "// example begin\n", to: "// example end")
    let names = examples.flatMap { example in
      example.text.components(separatedBy: "\nfunc ").dropFirst().map { piece in
        (path: example.path, name: String(piece.prefix { $0.isLetter || $0.isNumber }))
      }
    }
    #expect(names.count > 30)
    for (path, name) in names {
      #expect(whole.components(separatedBy: name).count > 2, "\(path): nothing calls \(name)")
    }
  }

  @Test func everyLibraryHasACatalogThatNamesItsPages() throws {
    let documented = Set(try text(".make/docs").split(whereSeparator: { !$0.isLetter }))
    for name in try SourceTree.libraries() {
      #expect(documented.contains(name[...]), "make docs does not make the pages of \(name)")
      let folder = "Sources/\(name)/\(name).docc"
      let landing = try text("\(folder)/\(name).md")
      for page in try SourceTree.files(below: folder, extensions: ["md"]) {
        let title = page.path.split(separator: "/").last?.dropLast(3) ?? ""
        #expect(title == name || landing.contains("<doc:\(title)>"), "\(page.path) is not named")
      }
    }
  }

  /// The tour, which a test executes key by key, has the keys of the README's five minutes.
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
