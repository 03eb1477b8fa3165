import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The keys that are most of use now, for the line above the status.
///
/// Only what can be done now is told. Why something cannot is found out once for what it depends on, not
/// for each frame.
struct Hints: Equatable {
  /// What the keys are about.
  enum Place: Equatable {
    case views
    case tree
    case header
    case pagingRow
    case entry
    case row(toggles: String?)
    case record
    case field
    case compose
    case filter
    case search
    case form
    case confirm
    case help
    case debug
    case compare
    case queue
    case history
    case palette
    case menu
  }

  private let place: Place
  private let contexts: [KeymapContext]
  private let keymap: Keymap
  private let limits: HintLimits

  /// A hint and what it is about.
  private struct Candidate {
    let action: ActionID
    let hint: Hint
  }

  init(state: AppState) {
    let hand = state.atHand
    place = Place(state, hand)
    contexts = state.contexts(about: hand)
    keymap = state.keymap
    limits = HintLimits(state)
  }

  /// The hints of what can be done in the state that they were made for.
  func all(in state: AppState) -> [Hint] {
    let isPlace = state.isPlaceInFront
    return candidates.compactMap(\.self)
      .filter { !isPlace || state.reasonOff($0.action) == nil }
      .map(\.hint)
  }

  private var candidates: [Candidate?] {
    switch place {
    case .views: views
    case .tree: tree
    case .header, .pagingRow, .entry, .row: collection
    case .record: record
    case .field: field
    case .compose: [key(.inputAccept, "send"), key(.inputCancel, "keep as a draft")]
    case .filter:
      [
        key(.inputAccept, "keep"), key(.inputCancel, "back"), key(.inputComplete, "complete"),
        key(.inputPrevious, "earlier filters"),
      ]
    case .search: [key(.inputAccept, "stay"), key(.inputCancel, "back")]
    case .form: [key(.formSave, "save"), key(.inputCancel, "cancel")]
    case .confirm:
      [
        key(.dialogYes, "yes"), key(.dialogNo, "no"), key(.inputAccept, "do it"),
        key(.inputCancel, "no"),
      ]
    case .help:
      [
        key(.rowDown, "down"), key(.rowOpen, "run"), key(.stepBack, "close"),
        key(.sectionNext, "next group"), key(.helpWrite, "to a file"),
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
        key(.syncRetry, "again"), key(.syncDrop, "drop"), key(.stepBack, "back"),
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
    switch place {
    case .help, .debug: nil
    case .confirm: key(.helpOpen, "in full")?.hint
    case .views, .tree, .header, .pagingRow, .entry, .row, .record, .field, .compose, .filter,
      .search, .form, .compare, .queue, .history, .palette, .menu:
      key(.helpOpen, "help")?.hint
    }
  }

  private var collection: [Candidate?] {
    switch place {
    case .header:
      [
        key(.rowOpen, "fold"), key(.sectionNext, "next section"), key(.recordAdd, "add"),
        key(.viewNext, "next view"), key(.viewClose, "leave"),
      ]
    case .pagingRow:
      [
        key(.rowOpen, "fetch"), key(.sectionNext, "next section"), key(.viewNext, "next view"),
        key(.viewClose, "leave"),
      ]
    case .entry:
      [
        key(.rowOpen, "open"), key(.editUndo, "take back"), key(.sectionMore, "more"),
        key(.sectionNext, "section"), key(.viewNext, "view"), key(.viewClose, "leave"),
      ]
    case .row(let toggled):
      [
        key(.rowOpen, "open"), key(.recordEdit, "edit"), key(.recordAdd, "add"),
        toggled.flatMap { key(.recordToggle, $0) }, key(.recordDelete, "delete"),
        key(.markToggle, "mark"), key(.filterEdit, "filter"), key(.searchStart, "search"),
        key(.sectionMore, "more"), key(.sectionNext, "section"), key(.viewNext, "view"),
        key(.viewClose, "leave"),
      ]
    default: []
    }
  }

  private var views: [Candidate?] {
    [
      key(.rowOpen, "go there"), key(.paneNext, "next pane"), key(.bookmarkDelete, "forget"),
      key(.paneGrow, "wider"), key(.viewClose, "leave"),
    ]
  }

  private var tree: [Candidate?] {
    [
      key(.rowIn, "open"), key(.rowOut, "close"), key(.recordEdit, "edit"),
      key(.recordAdd, "add"), key(.recordDelete, "delete"), key(.sectionMore, "more"),
      key(.viewNext, "view"), key(.viewClose, "leave"),
    ]
  }

  private var record: [Candidate?] {
    [
      key(.recordEdit, "edit"), key(.recordAdd, "add field"), key(.recordDelete, "delete"),
      key(.stepBack, "back"),
    ]
  }

  private var field: [Candidate?] {
    [key(.inputAccept, "save"), key(.inputCancel, "cancel"), key(.fieldType, "type")]
  }

  /// Nil for an action without keys here.
  private func key(_ action: ActionID, _ words: String) -> Candidate? {
    keymap.firstKeys(for: action, in: contexts).map {
      Candidate(action: action, hint: Hint($0, words))
    }
  }
}

extension Hints.Place {
  fileprivate init(_ state: AppState, _ hand: AtHand) {
    switch state.layers.last {
    case .record(let screen): self = screen.edit == nil ? .record : .field
    case .compose: self = .compose
    case .filter: self = .filter
    case .search: self = .search
    case .form: self = .form
    case .confirm: self = .confirm
    case .help: self = .help
    case .debug: self = .debug
    case .compare: self = .compare
    case .queue: self = .queue
    case .history: self = .history
    case .palette: self = .palette
    case .menu: self = .menu
    case nil:
      self =
        state.pane == .views
        ? .views : state.isTree ? .tree : Hints.Place(inList: state, hand)
    }
  }

  private init(inList state: AppState, _ hand: AtHand) {
    switch state.lists[state.active].list.cursor {
    case .header: self = .header
    case .row(ListScreen.pagingRow): self = .pagingRow
    case .row, nil:
      switch hand {
      case .entry: self = .entry
      case .record(let toggled): self = .row(toggles: toggled)
      case .other: self = .row(toggles: nil)
      }
    }
  }
}
