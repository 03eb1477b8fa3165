import RunnelTerminal
import RunnelTree

// Menus: small lists over the screen from which one thing is chosen.

extension AppState {
  mutating func performInMenu(_ action: ActionID) {
    guard case .menu(var screen)? = layers.last else { return }
    switch action {
    case .inputCancel: return closeLayer()
    case .inputAccept, .formSave:
      if let item = screen.menu.selected { choose(item, in: screen) }
      return
    case .inputNext, .rowDown: screen.menu.move(by: 1)
    case .inputPrevious, .rowUp: screen.menu.move(by: -1)
    case .pageDown: screen.menu.movePage(by: 1, height: menuHeight(screen))
    case .pageUp: screen.menu.movePage(by: -1, height: menuHeight(screen))
    default:
      _ = screen.editor.perform(action)
      screen.menu.narrow(to: screen.editor.text)
    }
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
    let refusal = if let action = item.deed?.action { reasonOff(action) } else { item.refusal }
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
        keys: keymap.firstKeys(for: action, in: contexts) ?? "", refusal: reasonOff(action))
    }
    matcher.reset()
    layers.append(
      .menu(MenuScreen(purpose: .rowActions, title: "With this row", menu: MenuList(items))))
  }
}
