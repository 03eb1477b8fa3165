import RunnelTerminal

/// Commands that several places share: each is defined once, and listed in the table of each place.
package enum SharedCommands {
  // MARK: Values

  /// The commands that bring a value into other programs.
  static let outside: [Command] =
    [
      Command(
        .recordEditExternal, "in your editor", "edit as JSON in your editor", keys: ["E"],
        needs: .record(.changing),
        disabled: { SharedCommands.reasonNotEditedOutside($0) }
      ) { state, _ in OutsideEdit.editOutside(&state) }
    ] + copies

  private static let copies =
    valueCopies + [
      copy(.key, .copyKey, "copy the key", "copy the key", keys: ["yk"], traits: [.usesKeyOnly]),
      copy(
        .path, .copyPath, "copy the path", "copy the path", keys: ["yp"], traits: [.usesKeyOnly]),
    ]

  /// The commands that bring a value into the clipboard.
  static let valueCopies: [Command] = [
    copy(.value, .copyValue, "copy", "copy the value, pretty JSON", keys: ["yy"]),
    copy(.line, .copyLine, "copy on a line", "copy the value on one line", keys: ["yv"]),
    copy(.string, .copyString, "copy the text", "copy the raw string", keys: ["ys"]),
  ]

  private static func copy(
    _ form: CopyForm, _ id: ActionID, _ title: String, _ help: String, keys: [String],
    traits: Command.Traits = []
  ) -> Command {
    Command(
      id, title, help, keys: keys, needs: .record(.copying), traits: traits,
      disabled: { SharedCommands.reasonNotCopied($0, form) }
    ) {
      state, _ in
      Copying.copy(&state, form)
    }
  }

  // MARK: Files

  package static let export = Command(
    .dataExport, "export", "export the view, the marked rows or this node to a file…",
    keys: ["ye"], needs: .nothing, disabled: { Exporting.reasonNotExported($0) }
  ) { state, _ in Exporting.openExport(&state) }

  static let importing = Command(
    .dataImport, "import", "import records from a file…", keys: ["yi"], needs: .nothing,
    tabs: .lists(else: "records are imported into a view: go to one first"),
    disabled: { Importing.reasonNotImported($0) }
  ) { state, _ in Importing.openImport(&state) }

  // MARK: Searching

  static let searchStart = Command(
    .searchStart, "search", "search, the cursor jumps as you type", keys: ["/", "C-s"],
    needs: .rows, traits: [.opensText]
  ) { state, _ in SearchScreen.openSearch(&state) }

  static let searching: [Command] = [searchStart] + matches

  /// The same as `searching`, for places where `C-s` writes.
  static let searchingBesideWriting: [Command] = [searchStart.inner(keys: ["/"])] + matches

  private static let matches: [Command] = [
    Command(
      .searchNext, "next match", "next match", keys: ["n"], needs: .rows, traits: [.movesFar],
      disabled: { SharedCommands.reasonNotSearched($0) }
    ) { SearchScreen.findNext(&$0, $1 ?? 1) },
    Command(
      .searchPrevious, "previous match", "previous match", keys: ["N"], needs: .rows,
      traits: [.movesFar],
      disabled: { SharedCommands.reasonNotSearched($0) }
    ) { SearchScreen.findNext(&$0, -($1 ?? 1)) },
  ]

  // MARK: Writes

  package static let undo = Command(
    .editUndo, "undo", "undo the last write", keys: ["u"], needs: .nothing,
    disabled: { SharedCommands.reasonNotUndone($0) }
  ) { UndoHistory.undo(&$0, $1 ?? 1) }.keepingAwaitedRow

  static let redo = Command(
    .editRedo, "redo", "redo what was undone", keys: ["C-r"], needs: .nothing,
    disabled: { SharedCommands.reasonNotRedone($0) }
  ) { UndoHistory.redo(&$0, $1 ?? 1) }.keepingAwaitedRow

  /// The commands that undo and redo writes: in all places except while typing.
  static let undoing = [undo, redo]

  /// The commands that open a history.
  static let histories: [Command] = [
    Command(
      .historyOpen, "history", "who wrote this, and what it was before", keys: ["gh"],
      needs: .record(.asking), traits: [.usesKeyOnly]
    ) { state, _ in HistoryScreen.openHistory(&state, ofAll: false) },
    Command(
      .historyAll, "history of all", "the history of the whole database", keys: ["gH"],
      needs: .nothing
    ) { state, _ in HistoryScreen.openHistory(&state, ofAll: true) },
  ].keepingAwaitedRow

  package static let compare = Command(
    .recordCompare, "compare", "compare what was refused with what others wrote", keys: ["c"],
    needs: .record(.asking), traits: [.usesKeyOnly],
    disabled: { QueueCommands.reasonNotCompared($0) }
  ) { state, _ in CompareScreen.openComparison(&state) }.keepingAwaitedRow

  /// The commands that open the comparison and the queue.
  static let comparing: [Command] = [
    compare, WhyCommands.ask,
    Command(
      .syncOpen, "queue", "the writes that wait or were refused", keys: ["S"], needs: .nothing
    ) { state, _ in QueueScreen.openQueue(&state) }.keepingAwaitedRow,
  ]

  // MARK: Places

  /// The commands that go to places seen before: in all places except while typing.
  static let places: [Command] = [
    Command(
      .bookmarkSet, "set a bookmark", "set a bookmark: a letter follows", keys: ["m"],
      needs: .record(.marking)
    ) { state, _ in PlaceHistory.awaitLetter(&state, .set, .bookmarkSet) },
    Command(
      .bookmarkGoto, "go to a bookmark", "go to a bookmark: its letter follows; ' goes back",
      keys: ["'"], needs: .nothing
    ) { state, _ in PlaceHistory.awaitLetter(&state, .goTo, .bookmarkGoto) },
    Command(
      .historyBack, "back", "back to where I was", keys: ["gb", "C-o", "M-Left"], needs: .nothing,
      disabled: { PlaceHistory.reasonNotTravelled($0, isBack: true) }
    ) { PlaceHistory.travel(&$0, by: -($1 ?? 1)) },
    Command(
      .historyForward, "forward", "forward again", keys: ["gB", "M-Right"], needs: .nothing,
      disabled: { PlaceHistory.reasonNotTravelled($0, isBack: false) }
    ) { PlaceHistory.travel(&$0, by: $1 ?? 1) },
  ].keepingAwaitedRow

  static let paneDetail = Command(
    .paneDetail, "detail", "show the record beside the list, or not", keys: ["p"], needs: .nothing,
    disabled: { Panes.reasonNoDetail($0) }
  ) { state, _ in Panes.toggleDetail(&state) }.keepingAwaitedRow

  // MARK: Rows

  /// More commands for a row, and the menu of all of them.
  package static let rows: [Command] = [
    Command(
      .rowActions, "menu", "all that can be done with this row", keys: ["x"], needs: .record(nil),
      disabled: { $0.layers.isEmpty ? ListCommands.reasonNoRows($0) : nil }
    ) { state, _ in MenuScreen.openRowActions(&state) },
    Command(
      .recordDuplicate, "duplicate", "duplicate", keys: ["D"], needs: .record(.changing),
      traits: [.opensText],
      disabled: { RowCommands.reasonNotDuplicated($0) }
    ) { state, _ in RowCommands.duplicate(&state) },
    Command(
      .linkOpen, "open the link", "open the first link in the browser", keys: ["o"],
      needs: .record(.going),
      disabled: { RowCommands.reasonNoLink($0) }
    ) { state, _ in RowCommands.openLink(&state) },
    Command(
      .copyURL, "copy the link", "copy the first link", keys: ["yu"], needs: .record(.copying),
      disabled: { RowCommands.reasonNoLink($0) }
    ) { state, _ in RowCommands.copyLink(&state) },
    Command(
      .refFollow, "follow", "go to the record that this refers to", keys: ["gd"],
      needs: .record(.going), traits: [.movesFar],
      disabled: { RowCommands.reasonNoReference($0) }
    ) { state, _ in RowCommands.followReference(&state) },
  ]

  // MARK: Marks

  static let markToggle = Command(
    .markToggle, "mark", "mark, and step down", keys: ["Space"], needs: .record(.marking),
    disabled: { Marking.reasonNoRowToMark($0) }
  ) { Marking.toggleMark(&$0, count: $1 ?? 1) }

  static let markRange = Command(
    .markRange, "mark a range", "start a range, or mark it", keys: ["v"], needs: .record(.marking),
    disabled: { Marking.reasonNoRange($0) }
  ) { state, _ in Marking.toggleRange(&state) }

  static let markAll = Command(
    .markAll, "mark all", "mark all rows of this section", keys: ["*"], needs: .record(nil),
    disabled: { Marking.reasonNothingToMark($0) }
  ) { state, _ in Marking.markSection(&state) }

  static let markClear = Command(
    .markClear, "clear the marks", "clear the marks", keys: ["\\"], needs: .nothing,
    disabled: { Marking.reasonNoMarks($0) }
  ) { state, _ in Marking.clearMarks(&state) }

  static let markNext = Command(
    .markNext, "next mark", "next marked row", keys: ["]m"], needs: .rows,
    disabled: { Marking.reasonNoMarkedRow($0) }
  ) { PlaceHistory.jump(&$0, to: .marked, by: $1 ?? 1) }

  static let markPrevious = Command(
    .markPrevious, "previous mark", "previous marked row", keys: ["[m"], needs: .rows,
    disabled: { Marking.reasonNoMarkedRow($0) }
  ) { PlaceHistory.jump(&$0, to: .marked, by: -($1 ?? 1)) }
}
