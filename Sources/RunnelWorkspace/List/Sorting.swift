import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The sort menu, which chooses the order of a list.

/// Chooses the order of a list.
enum Sorting {
  /// The id of the menu item for a list's own order.
  private static let ownOrder = "own"

  static func openSortMenu(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    state.input.matcher.reset()
    state.ask(
      .orders(state.tabs.lists[view].definition.source.path), for: .orders(view: view))
    var menu = MenuList(sortItems(state, ofView: view))
    if let order = state.tabs.lists[view].arrangement.order { menu.select("\(order.field)") }
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .sort(view: view), title: "Sort \(state.tabs.lists[view].definition.name)",
          menu: menu))
    )
  }

  private static func sortItems(_ state: AppState, ofView view: Int) -> [MenuList.Item] {
    let screen = state.tabs.lists[view]
    let fields = screen.sortFields(state.database.coding)
    let own = MenuList.Item(
      id: ownOrder, title: "the view's own order", note: ownOrderText(state, of: screen),
      isChosen: screen.arrangement.order == nil)
    return [own]
      + fields.map { field in
        let isChosen = screen.arrangement.order?.field == field
        var notes: [String] = []
        if isChosen {
          notes.append(screen.arrangement.order?.isDescending == true ? "descending" : "ascending")
        }
        if lacksIndex(state, screen, field) { notes.append("no index: reads all rows") }
        return MenuList.Item(
          id: "\(field)", title: title(of: field, besides: fields),
          note: notes.joined(separator: " · "), isChosen: isChosen)
      }
  }

  /// Whether all rows are read for the order of a field; a service is asked for its order.
  fileprivate static func lacksIndex(
    _ state: AppState, _ screen: ListScreen, _ field: RowField
  ) -> Bool {
    state.database.coding == .tree && screen.isIndexed(field) == false
  }

  private static func ownOrderText(_ state: AppState, of screen: ListScreen) -> String {
    let source = screen.arrangement.ownSource
    return "\(source.order)\(source.isDescending ? ", descending" : "")"
  }

  /// The title of a field in the menu; what is no field of the records gets its sign if one has its name.
  private static func title(of field: RowField, besides fields: [RowField] = []) -> String {
    if case .child(let path) = field { return path.shownText }
    let name = "\(field)"
    guard name.hasPrefix("$") else { return name }
    let word = String(name.dropFirst())
    return fields.contains { "\($0)" == word } ? name : word
  }

  /// Sorts by an item of the menu; the present order is reversed.
  static func sort(_ state: inout AppState, by item: MenuList.Item, inView view: Int) {
    state.closeLayer()
    if item.id == ownOrder { return sort(&state, by: nil, inView: view) }
    guard let field = try? RowField(item.id) else { return }
    var order = ListOrder(field)
    if state.tabs.lists[view].arrangement.order == order { order.isDescending = true }
    sort(&state, by: order, inView: view)
  }

  /// Reads a list in another order, or in its own if `order` is nil; the cursor stays on its row.
  static func sort(_ state: inout AppState, by order: ListOrder?, inView view: Int) {
    guard state.tabs.lists[view].arrangement.order != order else { return }
    ListScreen.resume(&state, view)
    state.tabs.lists[view].keepCursorRecord()
    state.tabs.lists[view].sort(
      by: order, height: state.tabs.height(ofView: view, in: state.height))
    guard state.tabs.lists[view].reach.isOpen else { return }
    state.effects.append(.openView(view))
    Presence.showTyping(&state, inOpenedView: view)
    if case .child(let field)? = order?.field,
      let texts = SortedTexts(in: state.tabs.lists[view], sortedBy: field)
    {
      state.say(.info, texts.words(field))
    } else if let order, lacksIndex(state, state.tabs.lists[view], order.field) {
      let words = "\(title(of: order.field)) has no index: all rows are read"
      let deed = state.database.origin == nil ? "makes one" : "copies its line for the rules"
      state.say(.info, state.phrase(words, .indexMake, deed))
    } else if let order, hasForeignLetters(state.tabs.lists[view], order.field) {
      state.say(.info, "texts are sorted by their characters: A to Z, a to z, then Ä, É and others")
    }
    if state.tabs.lists[view].filtering.filter != nil {
      FilterScreen.applyFilter(&state, inView: view)
    }
  }

  /// Whether a loaded record begins a field with a letter that people expect among A to Z, but that
  /// comes after them in the order of the tree.
  private static func hasForeignLetters(_ screen: ListScreen, _ field: RowField) -> Bool {
    guard case .child(let path) = field else { return false }
    return screen.someRecords(200).contains { record in
      guard case .string(let text)? = record.row.node?[path].leaf,
        let first = text.unicodeScalars.first
      else { return false }
      // The letters with signs of Latin scripts.
      return (0xC0...0x24F).contains(first.value)
    }
  }

  /// Takes the orders of a list that have an index.
  static func show(_ state: inout AppState, _ orders: [String], ofView view: Int) {
    guard state.tabs.lists.indices.contains(view) else { return }
    state.tabs.lists[view].arrangement.indexedOrders = Set(orders)
    for (index, layer) in state.layers.enumerated() {
      guard case .menu(var screen) = layer, screen.purpose == .sort(view: view) else { continue }
      screen.menu.replaceItems(with: sortItems(state, ofView: view))
      state.layers[index] = .menu(screen)
    }
  }

  /// The reason why a list cannot be sorted, or nil if it can.
  static func reasonNotSorted(_ screen: ListScreen) -> String? {
    screen.arrangement.ownSource.equalTo == nil
      ? nil : "this view shows one value of its own order, which it has to keep"
  }
}

extension PaletteCommand {
  /// The word that may stand before the field of an order.
  private static let by = "by "

  package static let sort = PaletteCommand(
    name: "sort", hint: "FIELD [desc]", key: .sortMenu,
    description: "in another order; own is the view's own", argument: .choice,
    tabs: .lists(else: "the tree is sorted by keys"),
    choices: { state, text in
      guard let screen = state.tabs.frontList else { return [] }
      // As it is typed for sections: `sort by created`.
      let before = text.hasPrefix(PaletteCommand.by) ? PaletteCommand.by : ""
      let orders = screen.sortFields(state.database.coding).flatMap {
        [ListOrder($0), ListOrder($0, isDescending: true)]
      }
      return [Choice(argument: "own", isChosen: screen.arrangement.order == nil)]
        + orders.map { order in
          Choice(
            argument: before + order.shownText, name: order.text,
            note: Sorting.lacksIndex(state, screen, order.field) ? "no index: reads all rows" : "",
            isChosen: order == screen.arrangement.order)
        }
    },
    run: { state, text in
      let by = PaletteCommand.by
      let order = ListOrder(text.hasPrefix(by) ? String(text.dropFirst(by.count)) : text)
      if order == nil, text != "own" { return "sort takes a field, and desc behind it" }
      guard let view = state.tabs.front.view else { return nil }
      Sorting.sort(&state, by: text == "own" ? nil : order, inView: view)
      return nil
    })
}
