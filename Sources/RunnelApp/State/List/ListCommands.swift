import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The commands of a collection.
enum ListCommands {
  static let table = CommandTable(
    .collection, "In this list", takesCounts: true, hints: hints
  ) {
    opening
    writing
    fetching
    marks
    jumps
    shown
    newest
    folding
    SharedCommands.export
    SharedCommands.importing
    SharedCommands.outside
    SharedCommands.searching
    SharedCommands.undoing
    SharedCommands.histories
    SharedCommands.comparing
    SharedCommands.places
    readAgain
    columns
    SharedCommands.rows
    MovingCommands.sectionNext.inner(disabled: { $0.reasonNoRows })
    MovingCommands.sectionPrevious.inner(disabled: { $0.reasonNoRows })
  }

  // MARK: Rows

  private static let opening: [Command] = [
    Command(
      .rowOpen, "open", "open; on a paging row fetch; on a header fold", keys: ["Enter"],
      disabled: { $0.reasonRowNotOpened(isGoingIn: false) }
    ) { state, _ in state.openRow() },
    Command(
      .rowIn, "in", "open, unfold, or go to the rows", keys: ["l", "Right"],
      disabled: { $0.reasonRowNotOpened(isGoingIn: true) }
    ) { state, _ in state.goIntoRow() },
    Command(
      .rowOut, "out", "go to the header, or fold", keys: ["h", "Left"],
      disabled: { $0.reasonNoRows ?? $0.reasonNotOut }
    ) { state, _ in state.goOut() },
  ]

  private static let writing: [Command] = [
    Command(
      .recordAdd, "add", "add a record", keys: ["a"], disabled: { $0.reasonNoRecordAdded }
    ) { state, _ in state.addRecord() },
    Command(
      .recordEdit, "edit", "edit in place", keys: ["e", "F2"],
      disabled: { $0.reasonNoRecordEdited }
    ) { state, _ in state.editRecord() },
    Command(
      .recordDelete, "delete", "delete the record, or the marked ones…", keys: ["d", "Del"],
      disabled: { $0.reasonNoRecordDeleted }
    ) { state, _ in state.deleteRecord() },
  ]

  private static let fetching: [Command] = [
    Command(
      .sectionMore, "more", "fetch the next page", keys: ["gm"],
      disabled: { $0.reasonNoMoreRows }
    ) { state, _ in state.fetchMoreAtCursor() },
    Command(
      .filterEdit, "filter", "filter the list", keys: ["f"], disabled: { $0.reasonNotFiltered }
    ) { state, _ in state.openFilter() },
  ]

  private static let marks: [Command] = [
    SharedCommands.markToggle.inner(
      keys: ["Space"], disabled: { $0.reasonNoRows ?? $0.reasonNoRowToMark }),
    SharedCommands.markRange,
    SharedCommands.markAll.inner(
      keys: ["*"], disabled: { $0.reasonNoRows ?? $0.reasonNothingToMark }),
    SharedCommands.markClear,
  ]

  private static let jumps: [Command] = [
    jump(.unreadNext, "next new row", to: .unread, isForward: true, keys: ["]u"]),
    jump(.unreadPrevious, "previous new row", to: .unread, isForward: false, keys: ["[u"]),
    jump(.changeNext, "next row that changed", to: .changed, isForward: true, keys: ["]c"]),
    jump(
      .changePrevious, "previous row that changed", to: .changed, isForward: false, keys: ["[c"]),
    SharedCommands.markNext,
    SharedCommands.markPrevious,
  ]

  private static func jump(
    _ id: ActionID, _ help: String, to kind: RowKind, isForward: Bool, keys: [String]
  ) -> Command {
    Command(id, help, help, keys: keys, disabled: { $0.reasonNotJumped(to: kind) }) {
      $0.jump(to: kind, by: isForward ? $1 ?? 1 : -($1 ?? 1))
    }
  }

  // MARK: The list

  private static let shown: [Command] = [
    SharedCommands.paneDetail,
    Command(
      .livePause, "pause", "pause the list, or make it live again", keys: ["P"]
    ) { state, _ in state.togglePause() },
    Command(.timeFormat, "times", "ages, clock times, or dates", keys: ["t"]) { state, _ in
      state.changeTimeStyle()
    },
  ]

  private static let newest: [Command] = [
    Command(
      .rowNewest, "newest", "go to the newest row", keys: ["gn"],
      disabled: { $0.reasonNoRows ?? $0.reasonAtNewest }
    ) { state, _ in state.goToNewest() },
    Command(.followToggle, "follow", "follow the newest row", keys: ["F"]) { state, _ in
      state.toggleFollowing()
    },
  ]

  private static let folding: [Command] = [
    fold(.foldToggle, "fold", "fold / unfold", keys: ["za"], reason: { _ in nil }) {
      list, section, content, height in
      list.toggleFold(section, in: content, height: height)
    },
    fold(.foldOpen, "unfold", "unfold", keys: ["zo"], reason: { $0.reasonNotFolded }) {
      list, section, content, height in
      list.unfold(section, in: content, height: height)
    },
    fold(.foldClose, "fold", "fold", keys: ["zc"], reason: { $0.reasonFolded }) {
      list, section, content, height in
      list.fold(section, in: content, height: height)
    },
    fold(.foldOpenAll, "unfold all", "unfold all", keys: ["zR"], reason: { $0.reasonNoneFolded }) {
      list, _, content, height in
      list.unfoldAll(in: content, height: height)
    },
    fold(.foldCloseAll, "fold all", "fold all", keys: ["zM"], reason: { $0.reasonAllFolded }) {
      list, _, content, height in
      list.foldAll(in: content, height: height)
    },
  ]

  /// Folds sections of a list.
  typealias Fold =
    @Sendable (
      _ list: inout ListState, _ section: String, _ content: ListContent, _ height: Int
    ) -> Void

  private static func fold(
    _ id: ActionID, _ title: String, _ help: String, keys: [String],
    reason: @escaping Command.DisabledReason, _ fold: @escaping Fold
  ) -> Command {
    Command(id, title, help, keys: keys, disabled: { $0.reasonNoRows ?? reason($0) }) { state, _ in
      state.moveInFront { list, content, height in
        guard let section = list.cursorSection(in: content) else { return }
        fold(&list, section, content, height)
      }
    }
  }

  private static let readAgain = Command(
    .viewResync, "read again", "read it again from the database", keys: ["R"]
  ) { state, _ in state.readListAnew() }

  private static let columns: [Command] = [
    Command(
      .sortMenu, "sort", "sort the list", keys: ["s"],
      disabled: { $0.reasonNotSorted($0.lists[$0.active]) }
    ) { state, _ in state.openSortMenu() },
    Command(
      .columnWide, "columns in full", "columns in full, or fitted to the screen", keys: ["w"]
    ) { state, _ in state.toggleWide() },
    Command(.columnMenu, "columns", "choose the columns", keys: ["zw"]) { state, _ in
      state.openColumnMenu()
    },
  ]
}

// MARK: - Hints

extension ListCommands {
  @Sendable
  private static func hints(_ state: AppState, _ hand: AtHand) -> [CommandHint] {
    switch state.lists[state.active].list.cursor {
    case .header:
      return [
        CommandHint(.rowOpen, "fold"), CommandHint(.sectionNext), CommandHint(.recordAdd),
        CommandHint(.viewNext), CommandHint(.viewClose),
      ]
    case .row(let id) where ListScreen.isPlaceholder(id):
      return [
        CommandHint(.rowOpen, "fetch"), CommandHint(.sectionNext), CommandHint(.viewNext),
        CommandHint(.viewClose),
      ]
    case .row, nil: break
    }
    if hand == .entry {
      return [
        CommandHint(.rowOpen), CommandHint(.editUndo), CommandHint(.sectionMore),
        CommandHint(.sectionNext, "section"), CommandHint(.viewNext, "view"),
        CommandHint(.viewClose),
      ]
    }
    return [
      CommandHint(.rowOpen), CommandHint(.recordEdit), CommandHint(.recordAdd),
      CommandHint(.recordToggle, hand.toggled), CommandHint(.recordDelete),
      CommandHint(.markToggle), CommandHint(.filterEdit), CommandHint(.searchStart),
      CommandHint(.sectionMore), CommandHint(.sectionNext, "section"),
      CommandHint(.viewNext, "view"), CommandHint(.viewClose),
    ]
  }
}
