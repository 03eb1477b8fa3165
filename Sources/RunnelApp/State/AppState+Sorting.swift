import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The sort menu: in which order a list reads its rows.

extension AppState {
  /// The item for a list's own order.
  private static let ownOrder = "own"

  mutating func openSortMenu() {
    matcher.reset()
    ask(.orders(lists[active].definition.source.path), for: .orders(view: active))
    var menu = MenuList(sortItems(ofView: active))
    if let order = lists[active].order { menu.select("\(order.field)") }
    layers.append(
      .menu(
        MenuScreen(
          purpose: .sort(view: active), title: "Sort \(lists[active].definition.name)", menu: menu))
    )
  }

  private func sortItems(ofView view: Int) -> [MenuList.Item] {
    let screen = lists[view]
    let own = MenuList.Item(
      id: AppState.ownOrder, title: "the view's own order", note: ownOrderText(of: screen),
      isChosen: screen.order == nil)
    return [own]
      + screen.sortFields.map { field in
        let isChosen = screen.order?.field == field
        var notes: [String] = []
        if isChosen {
          notes.append(screen.order?.isDescending == true ? "descending" : "ascending")
        }
        if screen.isIndexed(field) == false { notes.append("no index: reads all rows") }
        return MenuList.Item(
          id: "\(field)", title: AppState.title(of: field), note: notes.joined(separator: " · "),
          isChosen: isChosen)
      }
  }

  private func ownOrderText(of screen: ListScreen) -> String {
    let source = screen.ownSource
    return "\(source.order)\(source.isDescending ? ", descending" : "")"
  }

  private static func title(of field: RowField) -> String {
    switch field {
    case .key: "key"
    case .value: "value"
    case .priority: "priority"
    case .child: "\(field)"
    }
  }

  /// Sorts by what was chosen in the menu; what is in force already is turned round.
  mutating func sort(by item: MenuList.Item, inView view: Int) {
    closeLayer()
    if item.id == AppState.ownOrder { return sort(by: nil, inView: view) }
    guard let field = try? RowField(item.id) else { return }
    var order = ListOrder(field)
    if lists[view].order == order { order.isDescending = true }
    sort(by: order, inView: view)
  }

  /// Reads a list in another order, or in its own; the cursor stays on its row if that comes with the
  /// first ones.
  mutating func sort(by order: ListOrder?, inView view: Int) {
    guard lists[view].order != order else { return }
    resume(view)
    if let record = lists[view].cursorRecord { lists[view].wantedRow = record.key }
    lists[view].sort(by: order, height: height)
    guard lists[view].isOpen else { return }
    effects.append(.openView(view))
    if lists[view].filter != nil { applyFilter(inView: view) }
  }

  /// The database said which orders of a list have an index.
  mutating func show(_ orders: [String], ofView view: Int) {
    guard lists.indices.contains(view) else { return }
    lists[view].indexedOrders = Set(orders)
    for (index, layer) in layers.enumerated() {
      guard case .menu(var screen) = layer, screen.purpose == .sort(view: view) else { continue }
      screen.menu.replaceItems(with: sortItems(ofView: view))
      layers[index] = .menu(screen)
    }
  }

  /// Why a list is not sorted; nil if it is.
  func reasonNotSorted(_ screen: ListScreen) -> String? {
    screen.ownSource.equalTo == nil
      ? nil : "this view shows one value of its own order, which it has to keep"
  }
}

extension PaletteCommand {
  static let sort = PaletteCommand(
    name: "sort", hint: "FIELD [desc]", description: "in another order; own is the view's own",
    argument: .choice,
    disabledReason: {
      $0.isTree ? "the tree is sorted by keys" : $0.disabledReason(.sortMenu)
    },
    choices: { state, _ in
      guard !state.isTree else { return [] }
      let screen = state.lists[state.active]
      let orders = screen.sortFields.flatMap { [ListOrder($0), ListOrder($0, isDescending: true)] }
      return [Choice(argument: "own", isChosen: screen.order == nil)]
        + orders.map { order in
          Choice(
            argument: order.text,
            note: screen.isIndexed(order.field) == false ? "no index: reads all rows" : "",
            isChosen: order == screen.order)
        }
    },
    run: { state, text in
      let order = ListOrder(text)
      if order == nil, text != "own" { return "sort takes a field, and desc behind it" }
      state.sort(by: text == "own" ? nil : order, inView: state.active)
      return nil
    })
}
