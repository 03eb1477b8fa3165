import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The commands of a collection.
package enum ListCommands {
  package static let table = CommandTable(
    .collection, "In this list", over: .belowPage, takesCounts: true, hints: hints
  ) {
    opening
    writing
    fetching
    marks
    jumps
    shown
    newest
    Reordering.commands
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
    MovingCommands.sectionNext.inner(disabled: { ListCommands.reasonNoRows($0) })
    MovingCommands.sectionPrevious.inner(disabled: { ListCommands.reasonNoRows($0) })
  }

  // MARK: Rows

  private static let opening: [Command] = [
    Command(
      .rowOpen, "open", "open; fetch more rows; on a header fold", keys: ["Enter"],
      needs: .record(.opening), traits: [.opens],
      disabled: { ListCommands.reasonRowNotOpened($0, isGoingIn: false) }
    ) { state, _ in ListScreen.openRow(&state) },
    Command(
      .rowIn, "in", "open, unfold, or go to the rows", keys: ["l", "Right"], needs: .record(nil),
      traits: [.opens],
      disabled: { ListCommands.reasonRowNotOpened($0, isGoingIn: true) }
    ) { state, _ in ListScreen.goIntoRow(&state) },
    Command(
      .rowOut, "out", "go to the header, or fold", keys: ["h", "Left"], needs: .rows,
      disabled: { ListCommands.reasonNoRows($0) ?? ListCommands.reasonNotOut($0) }
    ) { state, _ in ListScreen.goOut(&state) },
    Command(
      .viewUp, "up", "from the list of a row up to that row", keys: ["-"], needs: .nothing,
      disabled: { DrillDown.reasonNotUp($0) }
    ) { state, _ in DrillDown.goUp(&state) },
  ]

  private static let writing: [Command] = [
    Command(
      .recordAdd, "add", "add a record", keys: ["a"], needs: .rows, traits: [.opensText],
      disabled: { ListCommands.reasonNoRecordAdded($0) }
    ) { state, _ in ListScreen.addRecord(&state) },
    Command(
      .recordEdit, "edit", "edit in place", keys: ["e", "F2"], needs: .record(.changing),
      traits: [.opensText],
      disabled: { ListCommands.reasonNoRecordEdited($0) }
    ) { state, _ in ListScreen.editRecord(&state) },
    Command(
      .recordDelete, "delete", "delete the record, or the marked ones…", keys: ["d", "Del"],
      needs: .record(.deleting),
      disabled: { ListCommands.reasonNoRecordDeleted($0) }
    ) { state, _ in Deleting.deleteRecord(&state) },
  ]

  private static let fetching: [Command] = [
    Command(
      .sectionMore, "more", "fetch the next page; 20gm fetches twenty", keys: ["gm"], needs: .rows,
      disabled: { ListCommands.reasonNoMoreRows($0) }
    ) { state, count in ListScreen.fetchMoreAtCursor(&state, pages: count ?? 1) },
    Command(
      .filterEdit, "filter", "filter the list", keys: ["f"], needs: .nothing, traits: [.opensText],
      disabled: { ListCommands.reasonNotFiltered($0) }
    ) { state, _ in FilterScreen.openFilter(&state) },
  ]

  private static let marks: [Command] = [
    SharedCommands.markToggle.inner(
      keys: ["Space"], disabled: { ListCommands.reasonNoRows($0) ?? Marking.reasonNoRowToMark($0) }),
    SharedCommands.markRange,
    SharedCommands.markAll.inner(
      keys: ["*"], disabled: { ListCommands.reasonNoRows($0) ?? Marking.reasonNothingToMark($0) }),
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
    Command(
      id, help, help, keys: keys, needs: .rows,
      disabled: { PlaceHistory.reasonNotJumped($0, to: kind) }
    ) {
      PlaceHistory.jump(&$0, to: kind, by: isForward ? $1 ?? 1 : -($1 ?? 1))
    }
  }

  // MARK: The list

  private static let shown: [Command] = [
    SharedCommands.paneDetail,
    Command(
      .livePause, "pause", "pause the list, or make it live again", keys: ["P"], needs: .nothing
    ) { state, _ in ListScreen.togglePause(&state) },
    Command(
      .timeFormat, "times", "ages, clock times, or dates", keys: ["t"], needs: .nothing,
      disabled: { ListCommands.reasonNoAges($0) }
    ) { state, _ in ListScreen.changeTimeStyle(&state) },
  ]

  private static let newest: [Command] = [
    Command(
      .rowNewest, "newest", "go to the newest row", keys: ["gn"], needs: .rows, traits: [.movesFar],
      disabled: { ListCommands.reasonNoRows($0) ?? ListCommands.reasonAtNewest($0) }
    ) { state, _ in ListScreen.goToNewest(&state) },
    Command(
      .followToggle, "follow", "follow the newest row", keys: ["F"], needs: .nothing,
      disabled: { ListCommands.reasonNotFollowed($0) }
    ) { state, _ in ListScreen.toggleFollowing(&state) },
  ]

  private static let folding: [Command] = [
    fold(.foldToggle, "fold", "fold / unfold", keys: ["za"], reason: { _ in nil }) {
      list, section, content, height in
      list.toggleFold(section, in: content, height: height)
    },
    fold(.foldOpen, "unfold", "unfold", keys: ["zo"], reason: { ListCommands.reasonNotFolded($0) })
    {
      list, section, content, height in
      list.unfold(section, in: content, height: height)
    },
    fold(.foldClose, "fold", "fold", keys: ["zc"], reason: { ListCommands.reasonFolded($0) }) {
      list, section, content, height in
      list.fold(section, in: content, height: height)
    },
    fold(
      .foldOpenAll, "unfold all", "unfold all", keys: ["zR"],
      reason: { ListCommands.reasonNoneFolded($0) }
    ) {
      list, _, content, height in
      list.unfoldAll(in: content, height: height)
    },
    fold(
      .foldCloseAll, "fold all", "fold all", keys: ["zM"],
      reason: { ListCommands.reasonAllFolded($0) }
    ) {
      list, _, content, height in
      list.foldAll(in: content, height: height)
    },
  ]

  /// A function that folds or unfolds sections of a list.
  typealias Fold =
    @Sendable (
      _ list: inout ListState, _ section: String, _ content: ListContent, _ height: Int
    ) -> Void

  private static func fold(
    _ id: ActionID, _ title: String, _ help: String, keys: [String],
    reason: @escaping Command.DisabledReason, _ fold: @escaping Fold
  ) -> Command {
    Command(
      id, title, help, keys: keys, needs: .rows,
      disabled: { ListCommands.reasonNoRows($0) ?? reason($0) }
    ) { state, _ in
      MovingCommands.moveInFront(&state) { list, content, height in
        guard let section = list.cursorSection(in: content) else { return }
        fold(&list, section, content, height)
      }
    }
  }

  private static let readAgain = Command(
    .viewResync, "read again", "read it again from the database", keys: ["R"], needs: .nothing
  ) { state, _ in ListScreen.readListAnew(&state) }

  private static let columns: [Command] = [
    Command(
      .sortMenu, "sort", "sort the list", keys: ["s"], needs: .rows,
      disabled: { $0.tabs.frontList.flatMap(Sorting.reasonNotSorted) }
    ) { state, _ in Sorting.openSortMenu(&state) },
    Command(
      .groupMenu, "sections", "sections by the values of a field, or none", keys: ["zs"],
      needs: .nothing,
      disabled: { ListCommands.reasonNoRows($0) }
    ) { state, _ in Grouping.openMenu(&state) },
    IndexMaking.command,
    Command(
      .rowLines, "lines of a row", "rows in one line, in up to three, or whole", keys: ["w"],
      needs: .nothing
    ) { state, _ in RowLines.showNext(&state) },
    Command(
      .columnWide, "columns in full", "columns in full, or fitted to the screen", keys: ["W"],
      needs: .nothing
    ) { state, _ in Columns.toggleWide(&state) },
    CellCommands.enter,
    Command(.columnMenu, "columns", "choose the columns", keys: ["zw"], needs: .nothing) {
      state, _ in
      Columns.openColumnMenu(&state)
    },
  ]
}

// MARK: - Hints

extension ListCommands {
  @Sendable
  private static func hints(_ state: AppState, _ hand: AtHand) -> [CommandHint] {
    guard let list = state.tabs.frontList else { return [] }
    if AccountsScreen.isListRefusedToNobody(state) {
      return [
        CommandHint(.accountsOpen, "sign in"), CommandHint(.viewResync), CommandHint(.viewNext),
        CommandHint(.viewClose),
      ]
    }
    switch list.list.cursor {
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
    if ListScreen.goesOnFetching(state, after: state.input.count) {
      return [
        CommandHint(.rowOpen, "fetch on"), CommandHint(.rowIn, "open"), CommandHint(.viewClose),
      ]
    }
    let below = state.tabs.front.view.flatMap { state.tabs.viewsBelow($0).first?.name }
    let opening =
      below == nil
      ? [CommandHint(.rowOpen)] : [CommandHint(.rowOpen, below), CommandHint(.rowIn, "record")]
    return opening + [
      CommandHint(.viewUp),
      CommandHint(.recordEdit, list.markCount > 0 ? "edit this row" : nil),
      CommandHint(.recordAdd),
      CommandHint(.recordToggle, hand.toggled), CommandHint(.recordDelete),
      CommandHint(.markToggle), CommandHint(.filterEdit), CommandHint(.searchStart),
      CommandHint(.sectionMore), CommandHint(.sectionNext, "section"),
      CommandHint(.viewNext, "view"), CommandHint(.viewClose),
    ]
  }
}
