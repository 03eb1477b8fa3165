import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The tables of commands, and that all views of them say the same.
@Suite struct CommandTableTests {
  @Test func everyCommandHasATitleAHelpLineAndKeys() {
    let withKeys = Set(Commands.tables.flatMap(\.commands).filter { !$0.keys.isEmpty }.map(\.id))
    for table in Commands.tables {
      for command in table.commands {
        let name = "\(command.id) in \(table.context)"
        #expect(!command.title.isEmpty, "\(name) has no title")
        #expect(!command.help.isEmpty, "\(name) has no help")
        #expect(
          withKeys.contains(command.id), "\(name) has no keys, and no outer table gives it any")
      }
    }
  }

  @Test func noTwoCommandsOfATableShareAnIdOrKeys() {
    for table in Commands.tables {
      #expect(Set(table.commands.map(\.id)).count == table.commands.count, "\(table.context)")
      let keys = table.commands.flatMap(\.keys)
      #expect(Set(keys).count == keys.count, "\(table.context)")
    }
    #expect(Set(Commands.tables.map(\.context)).count == Commands.tables.count)
    #expect(Commands.keymap.validate().isEmpty)
  }

  @Test func everyTableIsReachedAndTypingHasATableOfItsOwn() throws {
    var reached: Set<KeymapContext> = [.crash]
    for state in try Self.allStates() {
      let contexts = state.contexts
      reached.formUnion(contexts)
      let known = contexts.compactMap { Commands.table($0)?.context }
      #expect(known == contexts, "each context has a table")
      guard contexts.contains(.input) else { continue }
      // What `While typing` does by itself is nothing.
      for id in [ActionID.inputAccept, .inputCancel] {
        let owner = contexts.first { Commands.table($0)?[id] != nil }
        #expect(owner != .input, "\(id) means nothing in \(contexts)")
      }
      let hasHints = contexts.contains { Commands.table($0)?.hints != nil }
      #expect(hasHints, "\(contexts) have no hints")
    }
    let all = Set(Commands.tables.map(\.context))
    #expect(reached == all, "not reached: \(all.subtracting(reached))")
  }

  @Test func aKeyOfTheUserIsFreedInEveryContextThatHoldsBeforeItsOwn() throws {
    for state in try Self.allStates() {
      let contexts = state.contexts
      if contexts.contains(.textField) { continue }
      for (index, inner) in contexts.enumerated() {
        for outer in contexts.dropFirst(index + 1) where outer != .crash {
          let known = Commands.innerContexts[outer, default: []]
          #expect(known.contains(inner), "\(inner) holds before \(outer)")
        }
      }
    }
  }

  /// A state in each place that has commands of its own.
  private static func allStates() throws -> [AppState] {
    try KeymapTests.places.map { try KeymapTests.app(at: $0).state }
      + SilentKeyTests.places.map { try SilentKeyTests.app(at: $0).state }
      + [typedQuestion(), likedMessage(), logEntry(), refusedWrite()]
  }

  /// A question that is answered by a word.
  private static func typedQuestion() throws -> AppState {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g3 gg j d")
    return app.state
  }

  /// A record with something to toggle.
  private static func likedMessage() throws -> AppState {
    let app = try Fixture.gardenApp()
    app.press("G j")
    return app.state
  }

  /// An entry of the action log.
  private static func logEntry() throws -> AppState {
    let app = try Fixture.gardenApp()
    app.press("e C-u")
    app.type("Moon")
    app.press("Enter Esc g5")
    app.go(to: "changed message")
    return app.state
  }

  /// The reasons of a write that a server refused.
  private static func refusedWrite() throws -> AppState {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
    app.take(.origin(OriginFacts(.live)))
    try app.set("/room/m1/text", "mine")
    let id = try #require(app.state.writes.queue.pending.last?.id)
    app.take(.rejected(write: id, "permission_denied"))
    app.press("S g g j g w")
    return app.state
  }

  @Test(arguments: SilentKeyTests.places)
  func reasonIsTheSameWhereverTheCommandIsMet(place: SilentKeyTests.Place) throws {
    var state = try SilentKeyTests.app(at: place).state
    if place.isReadOnly { state.database.isReadOnly = true }
    #expect(CommandViews(state).disagreements == [])
  }

  @Test(arguments: SilentKeyTests.places)
  func reasonInThePaletteNamesNoKeyOfThePalette(place: SilentKeyTests.Place) throws {
    var state = try SilentKeyTests.app(at: place).state
    if place.isReadOnly { state.database.isReadOnly = true }
    guard state.contexts.contains(.global) else { return }
    PaletteScreen.openPalette(&state)
    guard case .palette(let screen)? = state.layers.last else {
      Issue.record("the palette is not open")
      return
    }
    let keys = Set(state.settings.keymap.bindings(for: state.contexts).map(\.keys))
    #expect(keys.contains("Enter") && keys.contains("C-c"))
    for item in screen.menu.shown {
      let words = (item.refusal ?? "").split { " ,:;·".contains($0) }.map(String.init)
      #expect(keys.isDisjoint(with: words), "\(item.title): \(item.refusal ?? "")")
    }
  }

  @Test func everyCommandAfterTheColonHasATitleAHelpLineAndItsArguments() {
    let commands = PaletteCommand.all
    #expect(Set(commands.map(\.name)).count == commands.count)
    for command in commands {
      #expect(!command.title.isEmpty, ":\(command.name) has no title")
      #expect(!command.description.isEmpty, ":\(command.name) has no help line")
      if let key = command.key {
        #expect(command.keyed?.id == key, ":\(command.name): no table has \(key)")
        #expect(command.ownTitle.isEmpty, ":\(command.name) has a title of its own beside \(key)'s")
      }
      if case .none = command.argument { continue }
      #expect(!command.hint.isEmpty, ":\(command.name) does not say its argument")
    }
  }

  @Test func helpFindsACommandAfterTheColonAndPutsItIntoThePalette() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("?")
    guard case .help(let help)? = app.state.layers.last else {
      Issue.record("the help is not open")
      return
    }
    let names = help.all.filter { $0.heading == PaletteCommand.sectionTitle }.map(\.id)
    #expect(names == PaletteCommand.all.map { ":\($0.name)" })
    app.type("save-copy")
    #expect(app.body.contains { $0.contains(":save-copy FILE") }, "\(app.body)")
    app.press("Enter")
    guard case .palette(let palette)? = app.state.layers.last else {
      Issue.record("the palette is not open")
      return
    }
    #expect(palette.editor.text == "save-copy ")
  }

  @Test func runningExportIsTheReasonOfKeyAndLine() throws {
    var state = try AppDriver(Fixture.views(), json: Fixture.small).state
    let command = try #require(PaletteCommand.named("export"))
    #expect(command.disabledReason(state) == nil)
    let job = ExportJob(
      source: .records([], columns: []), format: .json, file: "x.json", replaces: false,
      opened: nil, agreed: nil, coding: state.database.coding)
    let form = FormScreen(purpose: .export([], replaces: nil), title: "Export", fields: [])
    state.files.export = ExportProgress(job: job, startedAt: 0, inputCount: 0, form: form)
    let reason = try #require(command.disabledReason(state))
    #expect(reason == state.disabledReason(.dataExport))
    #expect(CommandViews(state).disagreements == [])
  }

  @Test func innermostTableDecides() {
    let inField: [KeymapContext] = [.field, .fields, .input, .textField]
    #expect(Commands.command(.inputAccept, in: inField)?.title == "save")
    #expect(Commands.command(.inputAccept, in: [.compose, .input])?.title == "send")
    #expect(Commands.command(.rowDown, in: [.collection, .list])?.help == "down (takes a count)")
    #expect(Commands.command(.rowDown, in: [.global]) == nil)
  }
}
