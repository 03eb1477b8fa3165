import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Every key in every place: that it does something, and that the help tells of it.
@Suite struct KeymapTests {
  /// A place in the application where keys have a meaning.
  struct Place: CustomTestStringConvertible, Sendable {
    var name: String
    /// The keys that lead there from the first screen.
    var keys: String
    /// Keys to strike before an action, so that it has something to do.
    var before: [String: String] = [:]
    /// Actions that do nothing there, and why.
    var idle: [String: String] = [:]

    var testDescription: String { name }
  }

  private static let moves = [
    "row.up": "3 j", "row.first": "3 j", "page.up": "C-f C-f", "page.halfUp": "C-f C-f",
    "scroll.up": "C-f C-f", "scroll.left": "zl", "scroll.rowTop": "C-f j j",
    "scroll.rowMiddle": "C-f j j j",
    "scroll.rowBottom": "C-f", "screen.top": "C-f j j", "screen.middle": "C-f",
    "screen.bottom": "C-f",
    "section.prev": "3 j", "step.back": "g9",
  ]
  private static let folds = [
    "fold.open": "zc", "fold.openAll": "zM", "row.newest": "gg", "row.last": "gg",
    "section.next": "gg", "row.down": "gg", "page.down": "gg", "page.halfDown": "gg",
    "scroll.down": "gg", "row.up": "", "row.first": "", "page.up": "", "page.halfUp": "",
    "scroll.up": "", "section.prev": "", "screen.bottom": "H", "screen.middle": "",
    "scroll.rowTop": "4 0 k 5 j", "scroll.rowMiddle": "4 0 k 3 j", "scroll.rowBottom": "4 0 k 5 j",
    "view.goto1": "g2",
  ]
  private static let oneLine = [
    "input.newline": "the field has one line", "input.reveal": "the field is no secret",
  ]
  private static let noSecret = ["input.reveal": "the field is no secret"]
  private static let noHistory = [
    "input.prev": "there is no history", "input.next": "there is no history",
  ]
  private static let typing = [
    "input.redo": "x C-_", "input.undo": "x", "input.transpose": "x", "input.yank": "C-u",
    "input.lineEnd": "C-a",
    "input.right": "C-a", "input.wordRight": "C-a", "input.deleteForward": "C-a",
    "input.killWord": "C-a", "input.killToEnd": "C-a",
  ]

  static let places = [
    Place(
      name: "list", keys: "",
      before: moves.merging(folds) { $1 }.merging(["mark.clear": "Space"]) { $1 }, idle: [:]),
    Place(
      name: "tree", keys: "g3 j l j",
      before: moves.merging([
        "view.goto3": "g1", "row.out": "", "record.edit": "l j", "scroll.rowMiddle": "C-f j j j",
        "row.in": "", "section.more": "", "row.last": "", "mark.clear": "Space",
      ]) { $1 },
      idle: ["section.next": "the tree is one section"]),
    Place(
      name: "record", keys: "g2 gg j Enter", before: moves,
      idle: ["section.next": "a record is one section"]),
    Place(
      name: "help", keys: "g2 ? e",
      before: typing.merging([
        "row.up": "Down", "row.first": "M->", "page.up": "C-u PgDn", "page.down": "C-u",
        "section.prev": "C-u Tab", "section.next": "C-u",
      ]) { $1 },
      idle: oneLine.merging([
        "help.open": "it is open", "form.save": "there is nothing to save",
        "input.prev": "its keys move the cursor", "input.next": "its keys move the cursor",
      ]) { $1 }),
    Place(name: "question", keys: "d"),
    Place(
      name: "field of a record", keys: "g2 gg j Enter j j j e", before: typing,
      idle: oneLine.merging(noHistory) { $1 }),
    Place(name: "form", keys: "g2 a a b", before: typing, idle: noSecret),
    Place(name: "calendar", keys: "Enter e F4", before: ["date.today": "l"]),
    Place(
      name: "compose line", keys: "a a b Space c", before: typing,
      idle: noSecret.merging(noHistory) { $1 }),
    Place(
      name: "filter", keys: "f a b",
      before: typing.merging(["input.prev": "", "input.next": "Up"]) { $1 },
      idle: oneLine.merging(["input.complete": "no field begins so"]) { $1 }),
    Place(
      name: "palette", keys: ": a b",
      before: typing.merging(["page.up": "C-u PgDn", "page.down": "C-u"]) { $1 }, idle: oneLine),
    Place(
      name: "menu", keys: "g2 gg j x / o",
      before: typing.merging(["page.up": "C-u PgDn", "page.down": "C-u"]) { $1 }, idle: oneLine),
    Place(
      name: "search", keys: "/ a b", before: typing.merging(["input.next": "Up"]) { $1 },
      idle: oneLine),
  ]

  /// A database with a long history, long lists of users, and a user with many fields.
  private static let file = Result {
    try Fixture.template("keys") { session in
      let record = (10...60).map { JSONMember("field\($0)", .string("value \($0)")) }
      var users = [JSONMember("ana", .object(record + [JSONMember("role", "organizer")]))]
      users += (10...50).map { JSONMember("u\($0)", Fixture.user("User \($0)", "participant")) }
      guard case .object(let history) = Fixture.history(120) else { return }
      let all = history + [JSONMember("user", .object(users))]
      _ = try session.write(.set(.root, .object(all)))
      try session.declareIndexes(Fixture.views().flatMap(\.indexes))
    }
  }

  static func app(at place: Place) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), copying: file.get(), rows: 20)
    // Both prompts have a history, and `n` has something to look for.
    app.press("f m e s s a g e Enter Esc / n u m b e r Enter Esc g n")
    if !place.keys.isEmpty { app.press(place.keys) }
    app.wait(milliseconds: 10_000)
    return app
  }

  /// The state after keys; what they ask the world for is only listed.
  private static func after(_ keys: String, _ state: AppState) throws -> AppState {
    var state = state
    for stroke in keys.isEmpty ? [] : try #require(KeyStroke.sequence(keys)) {
      AppState.reduce(&state, AppAction.input(.key(stroke)))
    }
    return state
  }

  /// True if neither a user nor the world could tell two states apart.
  private static func areAlike(_ left: AppState, _ right: AppState) -> Bool {
    // To draw is dear: most keys show themselves without it.
    if left.session.isLeaving != right.session.isLeaving || left.tabs.front != right.tabs.front {
      return false
    }
    if left.effects != right.effects || left.layers.count != right.layers.count { return false }
    return traces(of: left) == traces(of: right)
  }

  private static func traces(of state: AppState) -> [String] {
    let canvas = AppScreen(state, glyphs: .unicode).draw()
    let cursor = canvas.cursor.map { "\($0)" } ?? "hidden"
    return canvas.textLines() + canvas.roleLines()
      + [cursor]
  }

  @Test func tableHasNoContradictions() {
    #expect(Commands.keymap.validate().isEmpty)
  }

  @Test(arguments: places) func everyKeyDoesSomething(place: Place) throws {
    let app = try Self.app(at: place)
    let state = app.state
    let bindings = Commands.keymap.bindings(for: state.contexts)
    #expect(!bindings.isEmpty)
    for binding in bindings {
      let action = binding.action.rawValue
      var state = try Self.after(place.before[action] ?? "", state)
      state.effects = []
      state.now += 5_000
      let isIdle = try Self.areAlike(Self.after(binding.keys, state), state)
      let isMeantToBe = place.idle[action] != nil
      #expect(
        isIdle == isMeantToBe,
        "\(binding.keys) (\(action)) in the \(place.name) does \(isIdle ? "nothing" : "something")")
    }
  }

  @Test func crashKeyIsThereOnlyWhereItIsAllowed() throws {
    var state = try Self.app(at: Self.places[0]).state
    #expect(try Self.after("C-x !", state).effects.isEmpty)
    state.settings.allowsCrash = true
    #expect(try Self.after("C-x !", state).effects == [.crash])
  }

  @Test func keysThatMayFollowAreShownAfterAWhile() throws {
    let app = try Self.app(at: Self.places[0])
    app.press("g")
    let before = app.screen
    #expect(StateReducer.deadline(app.state) == app.state.now + Input.keyPopupMilliseconds)
    app.wait(milliseconds: Input.keyPopupMilliseconds - 1)
    #expect(app.screen == before)
    app.wait(milliseconds: 1)
    #expect(app.body.contains { $0.contains("┌─ g ") })
    #expect(app.body.contains { $0.contains("n go to the newest row") })
    app.press("g")
    #expect(!app.body.contains { $0.contains("┌─ g ") })
    app.press("g")
    app.wait(milliseconds: 1000)
    app.press("Esc")
    #expect(!app.body.contains { $0.contains("┌─ g ") })
  }

  @Test(arguments: ["g", "12", "m"])
  func beginningThatNoKeyFollowsIsDroppedAndTheNextKeyActs(keys: String) throws {
    let app = try Self.app(at: Self.places[0])
    app.press("gg")
    app.type(keys)
    app.wait(milliseconds: Input.prefixMilliseconds - 1)
    #expect(app.toast.isEmpty && StateReducer.deadline(app.state) == app.state.now + 1)
    app.wait(milliseconds: 1)
    #expect(app.toast == "\(keys) is dropped: no key came after it")
    let other = try Self.app(at: Self.places[0])
    other.press("gg j")
    app.press("j")
    #expect(app.list.list.cursor == other.list.list.cursor, "no key is lost")
  }

  // MARK: Help

  @Test(arguments: places.filter { $0.name != "help" && $0.name != "question" })
  func helpListsEveryKeyOfThePlace(place: Place) throws {
    let app = try Self.app(at: place)
    let bindings = Commands.keymap.bindings(for: app.state.contexts)
    app.resize(columns: 120, rows: 240)
    app.press("F1")
    let lines = app.body
    for binding in bindings {
      let isListed = lines.contains {
        $0.contains(" \(binding.keys) ") && $0.contains("[\(binding.action)]")
      }
      #expect(isListed, "\(binding.keys) (\(binding.action)) is not in the help")
    }
  }

  @Test func helpRunsTheActionUnderItsCursor() throws {
    let app = try Self.app(at: Self.places[0])
    app.press("?")
    app.type("record.add")
    app.press("Enter")
    #expect(app.state.hasEditor)
    #expect(app.composeLine == " zoe")
  }

  @Test func hintsNameKeysThatWork() throws {
    for place in Self.places {
      let app = try Self.app(at: place)
      let hints = Hints(app.state).all
      #expect(!hints.isEmpty)
      for hint in hints { #expect(hint.keys != "", "\(hint.words) in the \(place.name)") }
    }
  }
}
