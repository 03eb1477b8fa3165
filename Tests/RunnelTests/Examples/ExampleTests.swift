import Foundation
import RunnelBase
import RunnelDatabase
import Testing

/// What the documents show is what is compiled here, and it runs.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
  /// This file is in `Tests/RunnelTests/Examples`.
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let top = folder.appendingPathComponent("../../..").standardizedFileURL

  private func example(_ name: String) throws -> String {
    let file = ExampleTests.folder.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    let parts = text.components(separatedBy: "// example begin\n")
    return try #require(parts.last?.components(separatedBy: "// example end").first)
  }

  private func document(_ path: String) throws -> String {
    try String(contentsOf: ExampleTests.top.appendingPathComponent(path), encoding: .utf8)
  }

  @Test func thePageOfTheLibraryShowsTheExampleThatIsCompiled() throws {
    let shown = "```swift\n" + (try example("LibraryExample.swift")) + "```\n"
    #expect(try document("Resources/docs/library.md").contains(shown))
  }

  @Test func theLandingPageShowsTheExampleThatIsCompiled() throws {
    let shown = "```swift\n" + (try example("LandingPageExample.swift")) + "```\n"
    #expect(
      try document("Sources/RunnelDatabase/RunnelDatabase.docc/RunnelDatabase.md")
        .contains(shown))
  }

  @Test(arguments: [
    ("ComingFromStreamBaseKit.md", "StreamBaseKitExamples.swift"),
    ("ComingFromFirebaseDataSource.md", "FirebaseDataSourceExamples.swift"),
    ("ComingFromStreamBaseKitResources.md", "ResourceExamples.swift"),
  ])
  func thePagesForNewcomersShowTheExamplesThatAreCompiled(page: String, file: String) throws {
    let text = try String(
      contentsOf: ExampleTests.folder.appendingPathComponent(file), encoding: .utf8)
    let compiled = text.components(separatedBy: "// example begin\n").dropFirst()
      .compactMap { $0.components(separatedBy: "// example end").first }
    let shown = try document("Sources/RunnelDatabase/RunnelDatabase.docc/\(page)")
      .components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(compiled.count >= 4)
    #expect(shown == compiled)
  }

  @Test func theExampleOfTheLibraryRuns() async throws {
    let folder = try TemporaryFolder()
    // Twice on the same file, as whoever tries it does.
    for _ in 0..<2 { try await chat(file: folder.file()) }
    let database = try await Database.open(file: folder.file())
    let room = try await database.reference(withPath: "rooms/kitchen").get()
    #expect(try room.child("unread").value == 2)
    let message = try #require(try room.child("messages").children.first).decode(Message.self)
    #expect(message.from == "ana" && message.created != nil)
    database.close()
  }

  @Test func theExampleOfTheLandingPageRuns() async throws {
    let folder = try TemporaryFolder()
    #expect(try await play(file: folder.file()) == [Player(name: "Ana", score: 9)])
  }
}
