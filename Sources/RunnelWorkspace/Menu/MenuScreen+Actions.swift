import RunnelTerminal
import RunnelTree

// Menus: small lists over the screen to choose an item from.

extension MenuScreen {
  static func acceptInMenu(_ state: inout AppState) {
    guard case .menu(let screen)? = state.layers.last, let item = screen.menu.selected else {
      return
    }
    choose(&state, item, in: screen)
  }

  /// Moves through a menu by rows, up if negative.
  static func moveInMenu(_ state: inout AppState, by count: Int) {
    changeMenu(&state) { screen, _ in screen.menu.move(by: count) }
  }

  /// Moves through a menu by pages, up if negative.
  static func pageInMenu(_ state: inout AppState, by count: Int) {
    changeMenu(&state) { screen, state in
      screen.menu.movePage(by: count, height: MenuScreen.menuHeight(state, screen))
    }
  }

  private static func changeMenu(
    _ state: inout AppState, _ body: (inout MenuScreen, AppState) -> Void
  ) {
    guard case .menu(var screen)? = state.layers.last else { return }
    body(&screen, state)
    state.layers[state.layers.count - 1] = .menu(screen)
  }

  /// The number of lines of a menu that show items.
  static func menuHeight(_ state: AppState, _ screen: MenuScreen) -> Int {
    MenuList.rows(inBox: MenuDrawing.box(of: screen, in: state.layout.overlay)).height
  }

  private static func choose(_ state: inout AppState, _ item: MenuList.Item, in screen: MenuScreen)
  {
    let refusal =
      if let action = item.deed?.action { state.disabledReason(action) } else { item.refusal }
    if let refusal { return state.say(.info, refusal) }
    switch screen.purpose {
    case .rowActions:
      if MethodCalls.choose(&state, item) { return }
      guard case .action(let action)? = item.deed else { return }
      state.closeLayer()
      state.perform(action, count: nil)
    case .group(let view): Grouping.group(&state, by: item, inView: view)
    case .sort(let view): Sorting.sort(&state, by: item, inView: view)
    case .columns(let view): Columns.toggle(&state, column: item, inView: view)
    case .addColumn(let view): Columns.add(&state, column: item, inView: view)
    case .references:
      state.closeLayer()
      let before = state.place
      guard let path = try? Path(item.id) else { return }
      ListScreen.open(&state, record: path, nil)
      if state.place != before { state.trail.places.note(before) }
    case .lines: state.closeLayer()
    }
  }

  /// Takes a character that is struck while nothing is typed in a menu: `j` and `k` move, the keys of
  /// an item run it, and `/` begins typing.
  ///
  /// - Returns: False if the character is to be typed.
  static func take(_ state: inout AppState, _ character: Character) -> Bool {
    guard case .menu(var screen)? = state.layers.last, screen.editor.isEmpty, !screen.isTyping
    else { return false }
    let struck = screen.struck + String(character)
    let keys = KeyBinding.notation(of: struck.map { KeyStroke(.character($0)) })
    let item = screen.menu.shown.first { $0.keys == keys }
    screen.struck = ""
    if let item {
      screen.menu.select(item.id)
    } else if screen.menu.shown.contains(where: { $0.keys.hasPrefix(keys) }) {
      screen.struck = struck
    } else if keys == "j" || keys == "k" {
      screen.menu.move(by: keys == "j" ? 1 : -1)
    } else {
      screen.isTyping = true
    }
    state.layers[state.layers.count - 1] = .menu(screen)
    if let item {
      choose(&state, item, in: screen)
    } else if screen.isTyping, struck != "/" {
      state.insert(struck)
    }
    return true
  }

  // MARK: What can be done with a row

  /// The commands for the row at hand in these contexts, given innermost first: those of the page,
  /// followed by those of the row, by their part of the menu.
  static func rowCommands(in contexts: [KeymapContext]) -> [Command] {
    var seen: Set<ActionID> = []
    let commands = contexts.reversed().flatMap { Commands.table($0)?.commands ?? [] }.compactMap {
      seen.insert($0.id).inserted ? Commands.command($0.id, in: contexts) : nil
    }
    let groups = Dictionary(
      grouping: commands.filter { $0.needs.rowGroup != nil }, by: \.needs.rowGroup)
    return Command.RowGroup.allCases.flatMap { groups[$0] ?? [] }
  }

  /// Opens the menu of the actions on the row under the cursor.
  static func openRowActions(_ state: inout AppState) {
    let contexts = state.contexts
    let bindings = Commands.bindings(in: state)
    let items = rowCommands(in: contexts).compactMap { command -> MenuList.Item? in
      guard let binding = bindings.first(where: { $0.action == command.id }) else { return nil }
      return MenuList.Item(
        id: PaletteDeed.action(command.id).id, title: binding.description,
        keys: state.settings.keymap.firstKeys(for: command.id, in: contexts) ?? "",
        refusal: state.disabledReason(command.id))
    }
    state.input.matcher.reset()
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .rowActions, title: "With this row",
          menu: MenuList(items + MethodCalls.items(state)))))
  }
}
