import RunnelTerminal
import RunnelTree

// Menus: small lists over the screen from which one thing is chosen.

extension AppState {
  mutating func acceptInMenu() {
    guard case .menu(let screen)? = layers.last, let item = screen.menu.selected else { return }
    choose(item, in: screen)
  }

  /// Moves through a menu by rows, up if negative.
  mutating func moveInMenu(by count: Int) {
    changeMenu { screen, _ in screen.menu.move(by: count) }
  }

  /// Moves through a menu by pages, up if negative.
  mutating func pageInMenu(by count: Int) {
    changeMenu { screen, state in
      screen.menu.movePage(by: count, height: state.menuHeight(screen))
    }
  }

  /// Changes what narrows a menu as a text field does.
  mutating func editMenu(_ id: ActionID) {
    changeMenu { screen, _ in
      _ = screen.editor.perform(id)
      screen.menu.narrow(to: screen.editor.text)
    }
  }

  private mutating func changeMenu(_ body: (inout MenuScreen, AppState) -> Void) {
    guard case .menu(var screen)? = layers.last else { return }
    body(&screen, self)
    layers[layers.count - 1] = .menu(screen)
  }

  /// Types text into a menu.
  mutating func typeInMenu(_ text: String) {
    guard case .menu(var screen)? = layers.last else { return }
    screen.editor.insert(text)
    screen.menu.narrow(to: screen.editor.text)
    layers[layers.count - 1] = .menu(screen)
  }

  /// How many lines of a menu show what fits.
  private func menuHeight(_ screen: MenuScreen) -> Int {
    MenuList.rows(inBox: MenuDrawing.box(of: screen, in: layout.overlay)).height
  }

  private mutating func choose(_ item: MenuList.Item, in screen: MenuScreen) {
    let refusal = if let action = item.deed?.action { disabledReason(action) } else { item.refusal }
    if let refusal { return say(.info, refusal) }
    switch screen.purpose {
    case .rowActions:
      guard case .action(let action)? = item.deed else { return }
      closeLayer()
      perform(action, count: nil)
    case .sort(let view): sort(by: item, inView: view)
    case .columns(let view): toggle(column: item, inView: view)
    case .references:
      closeLayer()
      if let path = try? Path(item.id) { open(record: path, nil) }
    }
  }

  // MARK: What can be done with a row

  /// The actions that are about the row under the cursor.
  private static let aboutRows: [ActionID] = [
    .rowOpen, .recordEdit, .recordForm, .recordToggle, .recordEditExternal, .recordDuplicate,
    .recordDelete, .refFollow, .linkOpen, .markToggle, .copyValue, .copyLine, .copyString, .copyKey,
    .copyPath, .copyURL,
  ]

  /// Opens the menu of what can be done with the row under the cursor.
  mutating func openRowActions() {
    let contexts = contexts
    let bindings = keymap.bindings(for: contexts)
    let ofEntry: [ActionID] = entryAtHand == nil ? [] : [.editUndo]
    let items = (ofEntry + AppState.aboutRows).compactMap { action -> MenuList.Item? in
      guard let binding = bindings.first(where: { $0.action == action }) else { return nil }
      return MenuList.Item(
        id: PaletteDeed.action(action).id, title: binding.description,
        keys: keymap.firstKeys(for: action, in: contexts) ?? "", refusal: disabledReason(action))
    }
    matcher.reset()
    layers.append(
      .menu(MenuScreen(purpose: .rowActions, title: "With this row", menu: MenuList(items))))
  }
}
