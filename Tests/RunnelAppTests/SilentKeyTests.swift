import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// No key is silent: in every place, every action that has keys there does something, or says why it
/// does not.
@Suite struct SilentKeyTests {
  /// Somewhere in the application.
  struct Place: CustomTestStringConvertible, Sendable {
    var name: String
    /// The keys that lead there from the first screen.
    var keys = ""
    var data = Data.small
    var columns = 80
    var isReadOnly = false
    /// What else happens before.
    var prepare: (@Sendable (AppDriver) throws -> Void)?

    var testDescription: String { name + (isReadOnly ? ", read-only" : "") }
  }

  enum Data: Sendable { case small, long, empty, garden }

  /// Moving on at an end, or within what has one line only, needs no word.
  private static let moves: Set<ActionID> = [
    .rowDown, .rowUp, .rowFirst, .rowLast, .pageDown, .pageUp, .pageHalfDown, .pageHalfUp,
    .sectionNext, .sectionPrevious, .screenTop, .screenMiddle, .screenBottom, .scrollDown,
    .scrollUp,
    .scrollRowTop, .scrollRowMiddle, .scrollRowBottom, .scrollRight, .scrollLeft,
  ]

  /// What is there already needs no word either: Esc where nothing is open, clients among the clients.
  private static let exempt: Set<ActionID> = [.stepBack, .clientsOpen]

  static let places: [Place] = {
    let places = [
      Place(name: "row of a list"),
      Place(name: "header of a list", keys: "gg"),
      Place(name: "first cell", keys: "g2 gg j |"),
      Place(name: "last cell", keys: "g2 gg j | 9 l"),
      Place(name: "fetch-more row", keys: "gg", data: .long) { app in
        for _ in 0..<60 where app.list.list.cursor != .row(ListScreen.fetchMoreRow) {
          app.press("j")
        }
      },
      Place(name: "empty list", data: .empty),
      Place(name: "clients of no server", keys: "gC"),
      Place(name: "client of a server") { app in
        app.strike("gC")
        let client = ServerClient(
          id: 1, kind: "socket", address: "::1", user: "ana", listenCount: 2, sentBytes: 3,
          since: Fixture.now)
        app.take(
          .answered(app.state.requests.lastID, .clients(ClientPage([client], hasMore: false))))
      },
      Place(name: "accounts") { app in
        app.take(.accounts(AccountTests.facts))
        app.press("A")
      },
      Place(name: "other account") { app in
        app.take(.accounts(AccountTests.facts))
        app.press("A j")
      },
      Place(name: "accounts of nobody") { app in
        app.take(.accounts(AccountFacts()))
        app.press("A")
      },
      Place(name: "this device") { app in
        app.take(.devices(DevicesTests.facts))
        app.strike("gD")
      },
      Place(name: "other device") { app in
        app.take(.devices(DevicesTests.facts))
        app.strike("gD j")
      },
      Place(name: "no devices") { app in
        app.take(.devices(DeviceFacts([], here: "desk")))
        app.strike("gD")
      },
      Place(name: "account whose session has ended") { app in
        app.take(.accounts(AccountTests.ended))
        app.press("A Esc")
      },
      Place(name: "list that could not be read") { app in
        app.backend.listenRefusal = DatabaseError(.locked, "locked by another")
        app.press("g2")
      },
      Place(name: "list that is being read") { app in app.strike("g2") },
      Place(name: "header of the tree", keys: "g3 gg"),
      Place(name: "node of the tree", keys: "g3 gg j"),
      Place(name: "expanded node of the tree", keys: "g3 gg j l"),
      Place(name: "folded section", keys: "zM"),
      Place(name: "marked nodes", keys: "g3 gg j Space Space"),
      Place(name: "value in the tree", keys: "g3 gg j l j l j"),
      Place(name: "fetch-more row of the tree", keys: "g3 gg j l G", data: .long),
      Place(name: "empty tree", keys: "g3", data: .empty),
      Place(name: "header of a record", keys: "g2 gg j Enter gg"),
      Place(name: "field of a record", keys: "g2 gg j Enter"),
      Place(name: "record that is gone", keys: "g2 gg j Enter") { app in try app.remove("/user/ana")
      },
      Place(name: "record that is being read", keys: "g2 gg j") { app in app.strike("Enter") },
      Place(name: "value in full", keys: "g2 gg j Enter j j j l"),
      Place(name: "views pane", keys: "S-Tab", columns: 120),
      Place(name: "bookmark in the views pane", keys: "m a S-Tab gg ]] j", columns: 120),
      Place(name: "detail pane", keys: "Tab", columns: 120),
      Place(name: "detail pane of the tree", keys: "g3 gg j Tab", columns: 120),
      Place(name: "history", keys: "gH"),
      Place(name: "history of nothing", keys: "gH", data: .empty),
      Place(name: "header of a history", keys: "gH gg"),
      Place(name: "history that is being read") { app in app.strike("gH") },
      Place(name: "empty queue", keys: "S"),
      Place(name: "refused write in the queue") { app in
        app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
        app.press("g2 gg j e x Enter Esc S")
        app.backend.refusal = nil
      },
      Place(name: "comparison") { app in
        app.press("g2 gg j e x")
        try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/email"), "theirs")) }
        app.press("Enter")
      },
      Place(name: "last actions", keys: "C-x d"),
      Place(name: "entry of the log", keys: "G j T g5", data: .garden),
      Place(name: "header of the log", keys: "G j T g5 gg", data: .garden),
      Place(name: "record of a resource", keys: "g3 gg j Enter", data: .garden),
      Place(name: "question", keys: "g2 gg j d"),
    ]
    return places
      + places.map { place in
        var place = place
        place.isReadOnly = true
        return place
      }
  }()

  private static let longFile = Fixture.historyFile

  static func app(at place: Place) throws -> AppDriver {
    let app: AppDriver
    switch place.data {
    case .small: app = try AppDriver(Fixture.views(), json: Fixture.small, columns: place.columns)
    case .long: app = try AppDriver(Fixture.views(), copying: longFile.get())
    case .empty: app = try AppDriver(Fixture.views())
    case .garden: app = try Fixture.gardenApp()
    }
    if !place.keys.isEmpty { app.press(place.keys) }
    try place.prepare?(app)
    app.wait(milliseconds: 20_000)
    return app
  }

  @Test(arguments: places) func everyActionDoesSomethingOrSaysWhyNot(place: Place) throws {
    let app = try Self.app(at: place)
    var state = app.state
    if place.isReadOnly { state.database.isReadOnly = true }
    state.toast = nil
    state.effects = []
    let before = (quick: Self.quickTraces(of: state), screen: Self.screen(of: state))
    var known = Self.exempt.union(Self.moves)
    for binding in state.settings.keymap.bindings(for: state.contexts) {
      guard known.insert(binding.action).inserted else { continue }
      var after = state
      after.perform(binding.action, count: nil)
      let toast = after.toast?.toast.text
      // The screen is drawn only where nothing else tells.
      let isSilent =
        Self.quickTraces(of: after) == before.quick && Self.screen(of: after) == before.screen
      #expect(!isSilent, "\(binding.action) (\(binding.keys)) is silent: \(place.name)")
      after.toast = nil
      guard let toast, after == state, binding.action != .jobCancel else { continue }
      // What is said and changes nothing is a reason, which the help gives too.
      let reason = state.disabledReason(binding.action)
      #expect(toast == reason, "\(binding.action) (\(binding.keys)): \(place.name)")
    }
  }

  @Test(arguments: places) func whatIsOffDoesNothing(place: Place) throws {
    let app = try Self.app(at: place)
    var state = app.state
    if place.isReadOnly { state.database.isReadOnly = true }
    state.toast = nil
    for binding in state.settings.keymap.bindings(for: state.contexts) {
      guard let reason = state.disabledReason(binding.action) else { continue }
      var after = state
      after.perform(binding.action, count: nil)
      #expect(after.toast?.toast.text == reason, "\(binding.action): \(place.name)")
      after.toast = nil
      #expect(after == state, "\(binding.action): \(place.name)")
    }
  }

  /// What a user or the world can tell of a state, besides the screen.
  private static func quickTraces(of state: AppState) -> [String] {
    [
      "\(state.toast?.toast.text ?? "")", "\(state.effects)", "\(state.session.isLeaving)",
      "\(state.input.awaited != nil)", "\(state.layers.count)",
    ]
  }

  private static func screen(of state: AppState) -> [String] {
    var state = state
    state.toast = nil
    let canvas = AppScreen(state, glyphs: .unicode).draw()
    return canvas.textLines() + canvas.roleLines()
      + [canvas.cursor.map { "\($0)" } ?? "hidden"]
  }
}
