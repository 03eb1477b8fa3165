import RunnelBase
import RunnelTerminal

// Which columns of a list are shown, and whether they are cut.

extension AppState {
  /// Shows columns in full, or fitted to the screen again.
  mutating func toggleWide() {
    lists[active].isWide.toggle()
    guard lists[active].isWide else {
      lists[active].list.scrollHorizontally(by: -lists[active].list.horizontalOffset)
      return say(.info, "columns are fitted to the screen")
    }
    let keys = "\(keysOrName(.scrollRight)) and \(keysOrName(.scrollLeft))"
    say(.info, "columns are shown in full: \(keys) scroll")
  }

  mutating func openColumnMenu() {
    matcher.reset()
    layers.append(
      .menu(
        MenuScreen(
          purpose: .columns(view: active), title: "Columns of \(lists[active].definition.name)",
          menu: MenuList(columnItems(ofView: active)))))
  }

  private func columnItems(ofView view: Int) -> [MenuList.Item] {
    let screen = lists[view]
    return screen.definition.columns.enumerated().map { index, column in
      let isShown = !screen.hiddenColumns.contains(index)
      var notes: [String] = []
      if column.format != .plain { notes.append(column.format.rawValue) }
      if column.minimumScreen > size.columns {
        notes.append("from \(column.minimumScreen) columns")
      }
      return MenuList.Item(
        id: "\(index)", title: "\(isShown ? "[x]" : "[ ]") \(column.field.text)",
        note: notes.joined(separator: " · "))
    }
  }

  /// Shows a column or hides it; the menu stays for the next one.
  mutating func toggle(column item: MenuList.Item, inView view: Int) {
    guard let column = Int(item.id) else { return }
    if lists[view].hiddenColumns.remove(column) == nil {
      if lists[view].hiddenColumns.count + 1 == lists[view].definition.columns.count {
        return say(.info, "one column stays")
      }
      lists[view].hiddenColumns.insert(column)
    }
    guard case .menu(var screen)? = layers.last else { return }
    screen.menu.replaceItems(with: columnItems(ofView: view))
    layers[layers.count - 1] = .menu(screen)
  }
}
