import Foundation
import RunnelDatabase
import RunnelStore
import Testing

/// What the page for users of FirebaseReSwift shows is what is compiled here, and it runs.
@Suite(.timeLimit(.minutes(5))) struct FirebaseReSwiftExampleTests {
  /// The parts of a file of the project between two marks.
  private func parts(of path: String, from begin: String, to end: String) throws -> [String] {
    let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../..").standardizedFileURL
    let text = try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
    return text.components(separatedBy: begin).dropFirst().compactMap {
      $0.components(separatedBy: end).first
    }
  }

  @Test func thePageShowsTheExamplesThatAreCompiled() throws {
    let compiled = try parts(
      of: "Tests/RunnelTests/Examples/FirebaseReSwiftExamples.swift",
      from: "// example begin\n", to: "// example end")
    let shown = try parts(
      of: "Sources/RunnelStore/RunnelStore.docc/ComingFromFirebaseReSwift.md",
      from: "```swift\n", to: "```")
    #expect(!shown.isEmpty)
    #expect(shown == compiled)
  }

  @Test func teamsAreWrittenWatchedAndRenamed() async throws {
    let folder = try TemporaryFolder()
    let database = try await Database.open(file: folder.file())
    let store = try openTeams(database)
    try await watchTeams(store)
    try await changeTeams(store)
    let names = { @Sendable (state: TeamsState) in state.teams.entries.map(\.object.name) }
    for await value in await store.values(of: names) where value == ["Blue", "Reds"] { break }
    for await team in await store.values(of: \.opened)
    where team == Team(name: "Reds", place: ["city": "Oslo", "hall": "North"]) { break }
    await store.dispatch(renameSlowly("Greens"))
    for await value in await store.values(of: names) where value == ["Greens", "Greens"] { break }
    await stopRenaming(store)
    await leaveTeams(store)
    #expect(await !store.state.teams.isSubscribed)
    #expect(await store.state.trouble == nil)
    await store.close()
    database.close()
  }

  @Test func aPersistedPartIsThereInTheNextRun() async throws {
    let folder = try TemporaryFolder()
    for isDark in [false, true] {
      let database = try await Database.open(file: folder.file())
      let store = try await openProgram(database)
      #expect(await store.state.look.isDark == isDark)
      await store.dispatch(DarkChosen(isDark: true))
      await store.persisted()
      await store.close()
      database.close()
    }
  }
}
