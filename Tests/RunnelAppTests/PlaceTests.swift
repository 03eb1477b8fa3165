import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Bookmarks, and the way back.
@Suite struct PlaceTests {
  private func app(columns: Int = 80) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: 24)
  }

  @Test(arguments: [
    Place(view: "Chat", path: nil), Place(view: nil, path: .root),
    Place(view: "A \"b\" |c", path: Path(unchecked: [Key(unchecked: "x y")]), isOpen: true),
  ])
  func placesAreReadBackFromTheirTexts(place: Place) {
    #expect(Place(text: place.text) == place)
  }

  @Test(arguments: ["", "Chat", "Chat\na.b\n", "a\nb\nc\nd"])
  func whatIsNoPlaceIsNotRead(text: String) {
    #expect(Place(text: text) == nil)
  }

  @Test func bookmarksAreKeptAsTextsAndBadOnesArePassedOver() throws {
    let app = try app()
    app.press("m a gt m b")
    var other = app.state
    other.trail.bookmarkTexts = app.state.trail.bookmarkTexts
    #expect(other.trail.bookmarks == app.state.trail.bookmarks)
    other.trail.bookmarkTexts = ["ab": "x", "c": "no place", "1": "Chat\n\n"]
    #expect(other.trail.bookmarks.isEmpty)
  }

  @Test func historyIsLimitedAndForgetsWhatIsAheadAfterAJump() {
    var history = PlaceHistory()
    let places = (0..<150).map { Place(view: "\($0)", path: nil) }
    for place in places { history.note(place) }
    #expect(history.back.count == PlaceHistory.placesMax)
    #expect(history.goBack(from: Place(view: "now", path: nil)) == places[149])
    #expect(history.forward == [Place(view: "now", path: nil)])
    history.note(places[3])
    #expect(history.forward.isEmpty)
  }

  @Test func aBookmarkInTheTreeOpensWhatIsAboveIt() throws {
    let app = try app()
    app.press("g3 j l j m t zM g1 ' t")
    #expect(app.state.tabs.front == .tree)
    #expect(app.cursorLine.contains("-M1"))
  }

  @Test func aBookmarkOfAnOpenRecordOpensItAgain() throws {
    let app = try app()
    app.press("gg j Enter m r Esc gt ' r")
    #expect(app.record?.path.description == "/room/-M2")
  }

  @Test func aBookmarkedRowThatIsFoldedAwayIsUnfolded() throws {
    let app = try app()
    app.press("gg j m a zc ' a")
    #expect(app.cursorLine.contains("gate code"))
  }

  @Test func aBookmarkedRowThatIsNotLoadedIsOpenedAsARecord() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(120))
    app.press("gm gm gm")
    app.press("gg ]] j j m a")
    let path = try #require(app.state.trail.bookmarks["a"]?.path)
    var fresh = try AppDriver(Fixture.views(), json: Fixture.history(120)).state
    fresh.trail.bookmarks = app.state.trail.bookmarks
    #expect(PlaceHistory.go(&fresh, to: try #require(fresh.trail.bookmarks["a"])))
    guard case .record(let screen)? = fresh.layers.last else {
      Issue.record("no record is open")
      return
    }
    #expect(screen.path == path)
  }

  @Test func searchingLeavesAPlaceToComeBackTo() throws {
    let app = try app()
    app.press("/")
    app.type("Rain")
    app.press("Enter")
    #expect(app.cursorLine.contains("Rain"))
    app.press("gb")
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func whatIsTypedStaysInFrontOfABookmark() throws {
    let app = try app()
    app.press("m a gt gg j Enter e")
    app.type("m")
    #expect(app.state.input.awaited == nil)
    #expect(app.record?.edit != nil)
  }
}
