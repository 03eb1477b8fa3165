import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Somewhere in the workspace: a view, what the cursor is on in it, and whether that is open.
struct Place: Hashable, Sendable {
  /// The name of the view; nil for the tree.
  var view: String?
  /// The record or the node under the cursor; nil on none.
  var path: Path?
  /// Whether the record is open over the view.
  var isOpen = false

  /// What it is called in lists of places.
  var title: String { path?.description ?? view ?? "Tree" }

  /// The place as a text that can be kept; `init(text:)` reads it.
  var text: String {
    [view ?? "", path?.description ?? "", isOpen ? "open" : ""].joined(separator: "\n")
  }

  init(view: String?, path: Path?, isOpen: Bool = false) {
    (self.view, self.path, self.isOpen) = (view, path, isOpen)
  }

  /// Reads a place from its text; nil if it is none.
  init?(text: String) {
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { return nil }
    if !parts[1].isEmpty {
      // A text that is no path was not written by this program.
      guard let path = try? Path(parts[1]) else { return nil }
      self.path = path
    }
    view = parts[0].isEmpty ? nil : parts[0]
    isOpen = parts[2] == "open"
  }
}

/// Where the user was before, and where they came back from.
struct PlaceHistory: Hashable, Sendable {
  /// How many places are kept each way.
  static let placesMax = 100

  /// The places to go back to, the nearest last.
  private(set) var back: [Place] = []
  /// The places to go forward to, the nearest last.
  private(set) var forward: [Place] = []

  /// Notes that the user jumped away from a place; what was ahead is forgotten.
  mutating func note(_ place: Place) {
    forward = []
    PlaceHistory.push(place, to: &back)
  }

  /// Goes back from a place; nil if there is nothing before.
  mutating func goBack(from place: Place) -> Place? {
    PlaceHistory.step(from: place, &back, &forward)
  }

  /// Goes forward from a place; nil if there is nothing ahead.
  mutating func goForward(from place: Place) -> Place? {
    PlaceHistory.step(from: place, &forward, &back)
  }

  /// True if there is something before a place, or ahead of it.
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
    if places.last == place { return }
    places.append(place)
    if places.count > placesMax { places.removeFirst() }
  }
}

extension AppState {
  /// Where the user is.
  var place: Place {
    let view = isTree ? nil : lists[active].definition.name
    for layer in layers.reversed() {
      if case .record(let screen) = layer {
        return Place(view: view, path: screen.path, isOpen: true)
      }
    }
    return Place(view: view, path: pathAtHand)
  }

  /// The record or the node under the cursor of the view; nil on none.
  private var pathAtHand: Path? {
    if !isTree { return lists[active].cursorRecord?.path }
    return switch tree.cursorLine {
    case .node(let path, _, _)?, .paging(let path, _, _)?, .failed(let path, _, _)?: path
    case nil: nil
    }
  }

  /// Goes to a place; false if its view is not there, or something is typed that stays in front.
  mutating func go(to place: Place) -> Bool {
    guard
      let tab = place.view == nil
        ? treeTab : lists.firstIndex(where: { $0.definition.name == place.view })
    else {
      say(.info, "there is no view \(place.view ?? "") any more")
      return false
    }
    guard closeWhatIsRead() else { return false }
    if tab != active { open(tab) }
    focusPane(.list)
    guard let path = place.path else { return true }
    if isTree {
      reveal(path)
    } else {
      moveCursor(toRecord: path)
    }
    if place.isOpen { open(record: path, nil) }
    return true
  }

  /// Moves the cursor of the list to a record; if it is not loaded, opens it.
  private mutating func moveCursor(toRecord path: Path) {
    let id = Record.key(of: path)
    guard let row = lists[active].content.indexPath(ofRow: id) else {
      guard lists[active].phase == .loaded, lists[active].filter == nil else {
        return lists[active].wantedRow = id
      }
      say(.info, "the row is not loaded: this is its record")
      return open(record: path, nil)
    }
    let section = lists[active].content.sections[row.section].id
    withList { list, content, height in
      list.unfold(section, in: content, height: height)
      list.moveTo(.row(id), in: content, height: height)
    }
  }
}
