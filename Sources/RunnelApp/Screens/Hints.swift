import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The keys that are most of use now, for the line above the status.
struct Hints {
  let state: AppState
  private let contexts: [KeymapContext]

  init(state: AppState) {
    self.state = state
    contexts = state.contexts
  }

  var all: [Hint] { candidates.compactMap(\.self) }

  private var candidates: [Hint?] {
    switch state.layers.last {
    case nil: state.pane == .views ? views : state.isTree ? tree : collection
    case .record(let screen): screen.edit == nil ? record : field
    case .compose: [key(.inputAccept, "send"), key(.inputCancel, "keep as a draft")]
    case .filter:
      [
        key(.inputAccept, "keep"), key(.inputCancel, "back"), key(.inputComplete, "complete"),
        key(.inputPrevious, "earlier filters"),
      ]
    case .search: [key(.inputAccept, "stay"), key(.inputCancel, "back")]
    case .form: [key(.formSave, "save"), key(.inputCancel, "cancel")]
    case .confirm: [key(.dialogYes, "yes"), key(.dialogNo, "no")]
    case .help:
      [
        key(.rowDown, "down"), key(.rowOpen, "run"), key(.stepBack, "close"),
        key(.sectionNext, "next group"),
      ]
    case .debug: [key(.rowDown, "down"), key(.stepBack, "close")]
    case .compare:
      [
        key(.conflictMine, "mine"), key(.conflictTheirs, "theirs"), key(.conflictBase, "base"),
        key(.conflictEdit, "type"), key(.changeNext, "next"), key(.conflictWrite, "write"),
        key(.stepBack, "later"),
      ]
    case .queue:
      [
        key(.rowOpen, "in full"), key(.recordCompare, "compare"), key(.syncEdit, "edit again"),
        key(.syncDrop, "drop"), key(.stepBack, "back"),
      ]
    case .history:
      [
        key(.rowOpen, "in full"), key(.editUndo, "take back"), key(.editRedo, "redo"),
        key(.sectionMore, "older"), key(.stepBack, "back"),
      ]
    case .palette:
      [
        key(.inputAccept, "do"), key(.inputCancel, "close"), key(.inputComplete, "complete"),
        key(.inputPrevious, "earlier"), key(.rowDown, "down"), key(.rowUp, "up"),
      ]
    case .menu:
      [
        key(.inputAccept, "choose"), key(.inputCancel, "close"), key(.inputPrevious, "up"),
        key(.inputNext, "down"),
      ]
    }
  }

  /// The way to the help, which is never left out.
  var help: Hint? {
    switch state.layers.last {
    case .confirm, .help, .debug: nil
    case .record, .form, .compose, .filter, .search, .history, .compare, .queue, .palette, .menu,
      nil:
      key(.helpOpen, "help")
    }
  }

  private var collection: [Hint?] {
    switch state.lists[state.active].list.cursor {
    case .header:
      [
        key(.rowOpen, "fold"), key(.sectionNext, "next section"), key(.recordAdd, "add"),
        key(.viewNext, "next view"), key(.viewClose, "leave"),
      ]
    case .row(ListScreen.pagingRow):
      [
        key(.rowOpen, "fetch"), key(.sectionNext, "next section"), key(.viewNext, "next view"),
        key(.viewClose, "leave"),
      ]
    case .row where state.entryAtHand != nil:
      [
        key(.rowOpen, "open"), key(.editUndo, "take back"), key(.sectionMore, "more"),
        key(.sectionNext, "section"), key(.viewNext, "view"), key(.viewClose, "leave"),
      ]
    case .row, nil:
      [
        key(.rowOpen, "open"), key(.recordEdit, "edit"), key(.recordAdd, "add"),
      ] + toggle + [
        key(.recordDelete, "delete"), key(.markToggle, "mark"), key(.filterEdit, "filter"),
        key(.searchStart, "search"), key(.sectionMore, "more"), key(.sectionNext, "section"),
        key(.viewNext, "view"), key(.viewClose, "leave"),
      ]
    }
  }

  /// What the user has at the record at hand.
  private var toggle: [Hint?] {
    guard let toggled = state.toggledAtHand else { return [] }
    return [key(.recordToggle, toggled.resource)]
  }

  private var views: [Hint?] {
    [
      key(.rowOpen, "go there"), key(.paneNext, "next pane"), key(.bookmarkDelete, "forget"),
      key(.paneGrow, "wider"), key(.viewClose, "leave"),
    ]
  }

  private var tree: [Hint?] {
    [
      key(.rowIn, "open"), key(.rowOut, "close"), key(.recordEdit, "edit"),
      key(.recordAdd, "add"), key(.recordDelete, "delete"), key(.sectionMore, "more"),
      key(.viewNext, "view"), key(.viewClose, "leave"),
    ]
  }

  private var record: [Hint?] {
    [
      key(.recordEdit, "edit"), key(.recordAdd, "add field"), key(.recordDelete, "delete"),
      key(.stepBack, "back"),
    ]
  }

  private var field: [Hint?] {
    [key(.inputAccept, "save"), key(.inputCancel, "cancel"), key(.fieldType, "type")]
  }

  /// Nil for an action without keys here.
  private func key(_ action: ActionID, _ words: String) -> Hint? {
    state.keymap.firstKeys(for: action, in: contexts).map { Hint($0, words) }
  }
}
