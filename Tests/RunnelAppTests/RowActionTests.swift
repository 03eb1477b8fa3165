import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Orders, links, copies and texts with keys: what needs no scenario of its own.
@Suite struct RowActionTests {
  @Test(arguments: [
    ("see https://example.org.", "https://example.org"),
    ("(http://a.b/c?d=e&f), or", "http://a.b/c?d=e&f"),
    ("<https://a.b/x_(y)>", "https://a.b/x_(y)"), ("https://", nil), ("no link: example.org", nil),
    ("https:// then https://a.b!", "https://a.b"), ("漢字https://a.b/漢 字", "https://a.b/漢"),
  ])
  func linkEndsWhereTheSentenceGoesOn(text: String, link: String?) {
    #expect(WebLink.first(in: text) == link)
  }

  @Test func firstLinkOfARecordIsTheOneThatComesFirst() throws {
    let node = try RunnelTree.Node(
      json: ["a": "nothing", "b": ["c": "http://one", "d": "http://two"], "e": "http://three"])
    #expect(WebLink.first(in: node) == "http://one")
    #expect(WebLink.first(in: RunnelTree.Node.empty) == nil)
  }

  @Test func orderIsReadFromItsText() {
    for text in [
      "created", "created desc", "$key", "$priority desc", "author/name", "price €",
      "price € desc", "a desc asc", "a desc desc", "desc",
    ] {
      #expect(ListOrder(text)?.text == text)
    }
    #expect(ListOrder("created asc")?.text == "created")
    #expect(ListOrder("a desc asc")?.field == .child(Fixture.path("a desc")))
    for text in ["", " ", "$nothing", "$nothing desc"] { #expect(ListOrder(text) == nil) }
  }

  @Test func descendingOrderBeginsAtTheOtherEnd() throws {
    let own = SourceDefinition(path: try Path("/room"), anchor: .last)
    let down = try #require(ListOrder("created desc")?.source(from: own))
    #expect(down.isDescending && down.anchor == .last)
    let up = try #require(ListOrder("created")?.source(from: own))
    #expect(!up.isDescending && up.anchor == .first)
    var one = own
    one.equalTo = .leaf(.bool(true))
    #expect(ListOrder("created")?.source(from: one) == nil)
  }

  @Test func rowsComeInTheOrderThatWasChosenAndOthersFallIn() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 :")
    app.type("sort plot desc")
    app.press("Enter")
    #expect(plots(of: app) == [7, 3, 21, 12, 1])
    try app.set("/user/bo/plot", 40)
    #expect(plots(of: app) == [7, 3, 40, 21, 1])
    #expect(app.list.arrangement.order?.text == "plot desc")
  }

  /// The plots of the rows, from the top.
  private func plots(of app: AppDriver) -> [Int] {
    let ids = app.list.content.sections.flatMap(\.rows)
    return ids.compactMap { id in
      guard case .number(let number)? = app.list.records[id]?.row.node?.json["plot"] else {
        return nil
      }
      return number.integer.map { Int($0) }
    }
  }

  @Test func copyNamesTheFieldsThatAreSetAnew() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("G k D")
    #expect(app.toast.contains("set anew: created, from"))
  }

  @Test func timesChangeOnlyWhereAnAgeIsShown() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("t")
    #expect(app.toast.contains("times are shown as clock times"))
    app.press("g2 t")
    #expect(app.toast.contains("no column of this view tells how long ago something was"))
  }

  @Test func copyOfARecordOfAResourceGetsItsComputedFieldsAnew() throws {
    let app = try Fixture.gardenApp()
    app.press("gg j j")
    #expect(app.cursorLine.contains("Rain"))
    app.press("D")
    guard case .object(let messages) = try app.stored("/group_message/g"), let copy = messages.last
    else {
      Issue.record("no messages")
      return
    }
    #expect(messages.count == 3)
    #expect(copy.value["text"] == "Rain")
    #expect(copy.value["from"] == "zoe")
    #expect(copy.value["like_count"] == 0)
    #expect(copy.value["created"] != 1)
    #expect(try app.stored("/group/g/message_count") == 3)
    #expect(try app.report().isInStep)
  }

  @Test func linkWithoutABrowserIsCopied() throws {
    let app = try AppDriver(
      Fixture.views(),
      json: ["user": ["ana": ["name": "Ana", "email": "http://a.b", "role": "organizer"]]])
    app.browser = nil
    app.press("g2 gg j o")
    #expect(app.clipboard == "http://a.b")
    #expect(app.toast.contains("no browser"))
  }

  @Test func textsNameTheKeysOfTheKeymap() throws {
    let app = try AppDriver(Fixture.views(), json: ["room": ["-M1": ["text": "x", "created": 1]]])
    let yaml = """
      keys:
        record.add: [C-o]
        section.more: []
        input.cancel: [C-g]
        step.back: [C-g]
        mark.toggle: [m]
      """
    app.configure(ConfigurationFile(yaml: yaml, name: "c.yaml").settings, problem: nil)
    app.press("g2")
    #expect(app.body.contains { $0.contains("nothing here yet · C-o adds") })
    app.press("C-o")
    #expect(app.screen.contains { $0.contains("C-g cancel") && !$0.contains("Esc") })
    app.press("C-g g1 gg j")
    app.press("]m")
    #expect(app.toast == "no row is marked: m marks")
  }
}
