import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// A place in the workspace: a view, the row under its cursor, and whether that row is open.
package struct Place: Hashable, Sendable {
  /// The name of the view, or nil for the tree.
  package var view: String?
  /// The place of the list, if the view has parameters; otherwise nil.
  package var list: Path?
  /// The record or node under the cursor, or nil if there is none.
  package var path: Path?
  /// Whether the record is open over the view.
  var isOpen = false
  /// The row under the cursor of the open record, or nil.
  ///
  /// It makes no place another one, and is not stored.
  var row: String?
  /// The filter by which a reference shows its records in the list; nil for the list as the user has
  /// it.
  ///
  /// It is not stored.
  var reference: String?

  package static func == (left: Place, right: Place) -> Bool {
    left.view == right.view && left.list == right.list && left.path == right.path
      && left.isOpen == right.isOpen && left.reference == right.reference
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(view)
    hasher.combine(list)
    hasher.combine(path)
    hasher.combine(isOpen)
    hasher.combine(reference)
  }

  /// The title in lists of places.
  package var title: String { (path ?? list)?.shownPath ?? view ?? "Tree" }

  /// The text of the place for storage; `init(text:)` parses it.
  package var text: String {
    let parts = [view ?? "", path?.description ?? "", isOpen ? "open" : ""]
    return (parts + [list?.description].compactMap(\.self)).joined(separator: "\n")
  }

  package init(view: String?, list: Path? = nil, path: Path?, isOpen: Bool = false) {
    (self.view, self.list, self.path, self.isOpen) = (view, list, path, isOpen)
  }

  /// Makes the place of a row of a list.
  init(of list: ListScreen, path: Path?, isOpen: Bool = false) {
    self.init(
      view: list.definition.name,
      list: list.drillDown == nil ? nil : list.definition.source.path, path: path, isOpen: isOpen)
    reference = list.shownReference
  }

  /// Parses a place from its text; nil if the text is not valid.
  package init?(text: String) {
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 || parts.count == 4 else { return nil }
    if parts.count == 4 {
      guard parts[3].first == "/", let list = try? Path(parts[3]) else { return nil }
      self.list = list
    }
    if !parts[1].isEmpty {
      // A text without a valid path was not written by this program.
      guard let path = try? Path(parts[1]) else { return nil }
      self.path = path
    }
    view = parts[0].isEmpty ? nil : parts[0]
    isOpen = parts[2] == "open"
  }
}

/// The places that the user can go back or forward to.
package struct PlaceHistory: Hashable, Sendable {
  /// The greatest number of places in each direction.
  static let placesMax = 100

  /// The places to go back to, the nearest last.
  private(set) var back: [Place] = []
  /// The places to go forward to, the nearest last.
  private(set) var forward: [Place] = []

  /// Notes a jump away from a place; the places ahead are dropped.
  package mutating func note(_ place: Place) {
    forward = []
    PlaceHistory.push(place, to: &back)
  }

  /// Goes back from a place; returns nil if there is no place before.
  mutating func goBack(from place: Place) -> Place? {
    PlaceHistory.step(from: place, &back, &forward)
  }

  /// Goes forward from a place; returns nil if there is no place ahead.
  mutating func goForward(from place: Place) -> Place? {
    PlaceHistory.step(from: place, &forward, &back)
  }

  /// Names records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves) {
    (back, forward) = (back.map { $0.following(moves) }, forward.map { $0.following(moves) })
  }

  /// Returns whether there is another place in a direction.
  func hasOther(than place: Place, isBack: Bool) -> Bool {
    (isBack ? back : forward).contains { $0 != place }
  }

  private static func step(
    from place: Place, _ here: inout [Place], _ there: inout [Place]
  ) -> Place? {
    while let next = here.popLast() {
      if next == place { continue }
      push(place, to: &there)
      return next
    }
    return nil
  }

  private static func push(_ place: Place, to places: inout [Place]) {
    if places.last == place { places.removeLast() }
    places.append(place)
    if places.count > placesMax { places.removeFirst() }
  }
}

extension AppState {
  /// The user's place.
  package var place: Place {
    func place(_ path: Path?, isOpen: Bool = false) -> Place {
      tabs.frontList.map { Place(of: $0, path: path, isOpen: isOpen) }
        ?? Place(view: nil, path: path, isOpen: isOpen)
    }
    for layer in layers.reversed() {
      if case .record(let screen) = layer {
        var open = place(screen.path, isOpen: true)
        if case .row(let row)? = screen.list.cursor { open.row = row }
        return open
      }
    }
    return place(PlaceHistory.pathAtHand(self))
  }
}

extension PlaceHistory {
  /// The record or node under the cursor of the view, or nil if there is none.
  static func pathAtHand(_ state: AppState) -> Path? {
    if let list = state.tabs.frontList { return list.cursorRecord?.path }
    return switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)?, .paging(let path, _, _)?, .failed(let path, _, _)?: path
    case nil: nil
    }
  }

  /// Goes to a place; returns false if its view does not exist, or if a layer with typed text stays
  /// in front.
  static func go(_ state: inout AppState, to place: Place) -> Bool {
    guard state.closeWhatIsRead(), let tab = tab(&state, of: place) else { return false }
    let left = state.tabs.front
    if tab != left { state.open(tab) }
    if left != state.tabs.front, let view = left.view {
      Related.giveBackFilter(&state, ofView: view)
    }
    let shown = state.tabs.frontList?.shownReference
    if place.reference != shown { Related.fit(&state, to: place.reference) }
    Panes.focusPane(&state, .list)
    guard let path = place.path else { return true }
    switch tab {
    case .tree: Revealing.reveal(&state, path)
    case .view(let view): moveCursor(&state, toRecord: path, inView: view)
    }
    if place.isOpen { ListScreen.open(&state, record: path, nil, atRow: place.row) }
    return true
  }

  /// Returns the list or the tree of a place; nil if its view does not exist any more,
  /// which is said.
  private static func tab(_ state: inout AppState, of place: Place) -> Tab? {
    guard let view = place.view else { return .tree }
    if let list = place.list { return DrillDown.list(&state, of: view, at: list).map(Tab.view) }
    let index = state.tabs.lists.firstIndex { $0.drillDown == nil && $0.definition.name == view }
    if index == nil { state.say(.info, "there is no view \(view) any more") }
    return index.map(Tab.view)
  }

  /// Moves the cursor of the list to a record; a record that is not loaded is opened instead.
  private static func moveCursor(
    _ state: inout AppState, toRecord path: Path, inView view: Int
  ) {
    let id = Record.id(of: path)
    guard let row = state.tabs.lists[view].content.indexPath(ofRow: id) else {
      guard state.tabs.lists[view].reach.phase == .loaded,
        state.tabs.lists[view].filtering.filter == nil
      else {
        return state.tabs.lists[view].goal.want(row: id)
      }
      state.say(.info, "the row is not loaded: this is its record")
      return ListScreen.open(&state, record: path, nil)
    }
    let section = state.tabs.lists[view].content.sections[row.section].id
    state.withList { list, content, height in
      list.unfold(section, in: content, height: height)
      list.moveTo(.row(id), in: content, height: height)
    }
  }
}
