import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Menus run the keys that they show, and are filtered by what is typed.
@Suite struct MenuKeyTests {
  private func menu(_ app: AppDriver) -> MenuScreen? {
    if case .menu(let screen)? = app.state.layers.last { screen } else { nil }
  }

  /// A menu of what can be done with a row.
  private func rowMenu() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    let keys = try #require(
      app.state.settings.keymap.firstKeys(for: .rowActions, in: app.state.contexts))
    app.press(keys)
    _ = try #require(menu(app))
    return app
  }

  @Test func theMenuHoldsAllCommandsForARow() throws {
    let ids = try #require(menu(try rowMenu())).menu.shown.compactMap { $0.deed?.action }
    let missing = Set<ActionID>([
      .rowOpen, .recordEdit, .recordDelete, .recordDuplicate, .historyOpen, .recordCompare,
      .syncWhy, .bookmarkSet, .markToggle, .markRange, .rowMoveUp, .rowMoveDown, .copyPath,
    ]).subtracting(ids)
    #expect(missing.isEmpty)
    #expect(Set(ids).count == ids.count)
    #expect(ids.first == .rowOpen)
  }

  @Test func noCommandThatNeedsARecordIsForgottenByTheMenu() {
    let known: Set<ActionID> = [.rowIn, .rowActions, .markAll]
    for table in Commands.tables {
      for command in table.commands where command.needs.isRecord {
        let isLeftOut = command.needs.rowGroup == nil
        #expect(isLeftOut == known.contains(command.id), "\(command.id) in \(table.context)")
      }
    }
  }

  @Test func aCommandOfTheRowTakesTheMeaningOfTheInnermostTable() {
    let inView: [KeymapContext] = [.activity, .collection, .list, .global]
    let commands = MenuScreen.rowCommands(in: inView)
    #expect(commands.first?.title == "take back")
    #expect(
      !MenuScreen.rowCommands(in: [.collection, .list, .global]).contains { $0.id == .editUndo })
  }

  @Test func aShownKeyRunsItsItem() throws {
    let app = try rowMenu()
    app.press("d")
    #expect(app.screen.contains { $0.contains("Delete") })
    #expect(menu(app) == nil)
  }

  @Test func aShownKeyOfTwoCharactersRunsItsItem() throws {
    let app = try rowMenu()
    app.press("y")
    #expect(menu(app) != nil)
    app.press("k")
    #expect(app.clipboard == "ana")
  }

  @Test func lettersMoveOrFilter() throws {
    let app = try rowMenu()
    let first = try #require(menu(app)?.menu.selected)
    app.press("j")
    #expect(menu(app)?.menu.selected != first)
    app.press("k")
    #expect(menu(app)?.menu.selected == first)
    app.press("/")
    app.type("dup")
    #expect(menu(app)?.editor.text == "dup")
    #expect(menu(app)?.menu.selected?.title.contains("duplicate") == true)
    app.press("Backspace Backspace Backspace j")
    #expect(menu(app)?.editor.text == "j", "who types goes on typing")
  }

  @Test func keysThatLeadNowhereAreTyped() throws {
    let app = try rowMenu()
    app.press("y q")
    #expect(menu(app)?.editor.text == "yq")
  }
}
