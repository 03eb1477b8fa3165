import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A count of rows is the count of all of them, or says that it is not.
@Suite struct TrueCountTests {
  /// A chat with pages of 20 whose sections are the people who write.
  private func chat(_ count: Int, by sections: [SectionRule]) throws -> AppDriver {
    var views = try Fixture.views()
    (views[0].source.page, views[0].source.hasOwnPage) = (20, true)
    views[0].also = []
    views[0].sections = sections
    let people = ["ana", "bo", "cy"]
    let messages = (0..<count).map { number in
      JSONMember(
        "-M\(1000 + number)",
        Fixture.message(
          "message \(number)", from: people[number % 3], at: Fixture.now - Fixture.hour))
    }
    return try AppDriver(views, json: ["room": .object(messages)])
  }

  private func details(_ app: AppDriver) -> [String] {
    app.list.content.sections.compactMap { app.list.headings.all[$0.id]?.detail.text }
  }

  @Test func everySectionMayLackRowsUntilAllAreLoaded() throws {
    let app = try chat(50, by: [.field(.path(try Path("from")), titles: [])])
    #expect(details(app).count == 3)
    #expect(details(app).allSatisfy { $0.hasSuffix(" loaded") }, "\(details(app))")
    app.press("gm")
    #expect(details(app).allSatisfy { $0.hasSuffix(" loaded") }, "\(details(app))")
    app.press("gm")
    #expect(details(app) == ["17", "17", "16"])
  }

  /// The pinned message is older than the rows of the first page.
  @Test func rowsOfFurtherQueriesAreCountedBehindAFilter() throws {
    var views = try Fixture.views()
    (views[0].source.page, views[0].source.hasOwnPage) = (3, true)
    let app = try AppDriver(views, json: Fixture.small)
    app.press("f")
    app.type("ladder")
    #expect(app.screen[1].contains("1 of 4+ rows"), "\(app.screen[1])")
    // A kept filter that finds few rows searches those that are not loaded.
    app.press("Enter")
    #expect(app.screen[1].contains("1 of 6 rows"), "\(app.screen[1])")
  }

  @Test func rowThatTheFilterHidesIsCounted() throws {
    var views = try Fixture.views()
    views[0].also = []
    let app = try AppDriver(views, json: Fixture.small)
    app.press("f")
    app.type("from:bo")
    app.press("Enter")
    #expect(app.screen[1].contains("2 of 6 rows"), "\(app.screen[1])")
    try app.set("/room/-M9", Fixture.message("hidden", from: "ana", at: Fixture.now))
    #expect(app.screen[1].contains("2 of 7 rows"), "\(app.screen[1])")
  }

  @Test func aDayBetweenLoadedDaysIsWhole() throws {
    let app = try chat(50, by: [.day(.path(try Path("created")))])
    #expect(details(app).count == 1 && details(app)[0].hasSuffix(" loaded"))
    app.press("gm gm")
    #expect(details(app) == ["50"])
  }

  @Test func whatIsBeingComposedIsNoRowYet() throws {
    let app = try chat(5, by: [])
    #expect(app.screen[1].contains("5 rows"))
    app.press("a")
    app.type("hello")
    #expect(app.screen[1].contains("5 rows"))
    app.press("Enter")
    #expect(app.screen[1].contains("6 rows"))
  }

  @Test func pagesThatAreAskedForAtOnceAreAllFetched() throws {
    let app = try chat(100, by: [])
    app.strike("g m g m g m")
    app.pump()
    #expect(app.list.reach.loadedCount == 80)
    #expect(app.toast == "")
  }
}
