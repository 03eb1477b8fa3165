import RunnelTerminal

/// Commands that several places have: defined once, listed in the table of each.
enum SharedCommands {
  // MARK: Values

  /// What brings a value into other programs.
  static let outside: [Command] =
    [
      Command(
        .recordEditExternal, "in your editor", "edit as JSON in your editor", keys: ["E"],
        disabled: { $0.reasonNotEditedOutside }
      ) { state, _ in state.editOutside() }
    ] + copies

  private static let copies: [Command] = [
    copy(.value, .copyValue, "copy", "copy the value, pretty JSON", keys: ["yy"]),
    copy(.line, .copyLine, "copy on a line", "copy the value on one line", keys: ["yv"]),
    copy(.string, .copyString, "copy the text", "copy the raw string", keys: ["ys"]),
    copy(.key, .copyKey, "copy the key", "copy the key", keys: ["yk"]),
    copy(.path, .copyPath, "copy the path", "copy the path", keys: ["yp"]),
  ]

  private static func copy(
    _ form: CopyForm, _ id: ActionID, _ title: String, _ help: String, keys: [String]
  ) -> Command {
    Command(id, title, help, keys: keys, disabled: { $0.reasonNotCopied(form) }) { state, _ in
      state.copy(form)
    }
  }

  // MARK: Files

  static let export = Command(
    .dataExport, "export", "export the view, the marked rows or this node to a file…",
    keys: ["ye"], disabled: { $0.reasonNotExported }
  ) { state, _ in state.openExport() }

  static let importing = Command(
    .dataImport, "import", "import records from a file…", keys: ["yi"],
    disabled: { $0.reasonNotImported }
  ) { state, _ in state.openImport() }

  // MARK: Searching

  static let searchStart = Command(
    .searchStart, "search", "search, the cursor jumps as you type", keys: ["/", "C-s"]
  ) { state, _ in state.openSearch() }

  static let searching: [Command] = [searchStart] + matches

  /// As `searching`, where `C-s` writes.
  static let searchingBesideWriting: [Command] = [searchStart.inner(keys: ["/"])] + matches

  private static let matches: [Command] = [
    Command(
      .searchNext, "next match", "next match", keys: ["n"], disabled: { $0.reasonNotSearched }
    ) { $0.findNext($1 ?? 1) },
    Command(
      .searchPrevious, "previous match", "previous match", keys: ["N"],
      disabled: { $0.reasonNotSearched }
    ) { $0.findNext(-($1 ?? 1)) },
  ]

  // MARK: Writes

  static let undo = Command(
    .editUndo, "undo", "undo the last write", keys: ["u"], disabled: { $0.reasonNotUndone }
  ) { $0.undo($1 ?? 1) }.keepingAwaitedRow

  static let redo = Command(
    .editRedo, "redo", "redo what was undone", keys: ["C-r"], disabled: { $0.reasonNotRedone }
  ) { $0.redo($1 ?? 1) }.keepingAwaitedRow

  /// What takes writes back, and does them again: wherever one is not typing.
  static let undoing = [undo, redo]

  /// What opens a history.
  static let histories: [Command] = [
    Command(
      .historyOpen, "history", "who wrote this, and what it was before", keys: ["gh"]
    ) { state, _ in state.openHistory(ofAll: false) },
    Command(
      .historyAll, "history of all", "the history of the whole database", keys: ["gH"]
    ) { state, _ in state.openHistory(ofAll: true) },
  ].keepingAwaitedRow

  static let compare = Command(
    .recordCompare, "compare", "compare what was refused with what others wrote", keys: ["c"],
    disabled: { $0.reasonNotCompared }
  ) { state, _ in state.openComparison() }.keepingAwaitedRow

  /// What opens the comparison and the queue.
  static let comparing: [Command] = [
    compare,
    Command(
      .syncOpen, "queue", "the writes that wait or were refused", keys: ["S"]
    ) { state, _ in state.openQueue() }.keepingAwaitedRow,
  ]

  // MARK: Places

  /// What goes to places that were seen before: wherever one is not typing.
  static let places: [Command] = [
    Command(
      .bookmarkSet, "set a bookmark", "set a bookmark: a letter follows", keys: ["m"]
    ) { state, _ in state.awaitLetter(.set, .bookmarkSet) },
    Command(
      .bookmarkGoto, "go to a bookmark", "go to a bookmark: its letter follows; ' goes back",
      keys: ["'"]
    ) { state, _ in state.awaitLetter(.goTo, .bookmarkGoto) },
    Command(
      .historyBack, "back", "back to where I was", keys: ["gb", "C-o", "M-Left"],
      disabled: { $0.reasonNotTravelled(isBack: true) }
    ) { $0.travel(by: -($1 ?? 1)) },
    Command(
      .historyForward, "forward", "forward again", keys: ["gB", "M-Right"],
      disabled: { $0.reasonNotTravelled(isBack: false) }
    ) { $0.travel(by: $1 ?? 1) },
  ].keepingAwaitedRow

  static let paneDetail = Command(
    .paneDetail, "detail", "show the record beside the list, or not", keys: ["p"],
    disabled: { $0.reasonNoDetail }
  ) { state, _ in state.toggleDetail() }.keepingAwaitedRow

  // MARK: Rows

  /// What else is done with a row, and the menu of all that is.
  static let rows: [Command] = [
    Command(
      .rowActions, "menu", "all that can be done with this row", keys: ["x"],
      disabled: { $0.layers.isEmpty && !$0.isTree ? $0.reasonNoRows : nil }
    ) { state, _ in state.openRowActions() },
    Command(
      .recordDuplicate, "duplicate", "duplicate", keys: ["D"],
      disabled: { $0.reasonNotDuplicated }
    ) { state, _ in state.duplicate() },
    Command(
      .linkOpen, "open the link", "open the first link in the browser", keys: ["o"],
      disabled: { $0.reasonNoLink }
    ) { state, _ in state.openLink() },
    Command(
      .copyURL, "copy the link", "copy the first link", keys: ["yu"],
      disabled: { $0.reasonNoLink }
    ) { state, _ in state.copyLink() },
    Command(
      .refFollow, "follow", "go to the record that this refers to", keys: ["gd"],
      disabled: { $0.reasonNoReference }
    ) { state, _ in state.followReference() },
  ]

  // MARK: Marks

  static let markToggle = Command(
    .markToggle, "mark", "mark, and step down", keys: ["Space"],
    disabled: { $0.reasonNoRowToMark }
  ) { $0.toggleMark(count: $1 ?? 1) }

  static let markRange = Command(
    .markRange, "mark a range", "start a range, or mark it", keys: ["v"],
    disabled: { $0.reasonNoRange }
  ) { state, _ in state.toggleRange() }

  static let markAll = Command(
    .markAll, "mark all", "mark all rows of this section", keys: ["*"],
    disabled: { $0.reasonNothingToMark }
  ) { state, _ in state.markSection() }

  static let markClear = Command(
    .markClear, "clear the marks", "clear the marks", keys: ["\\"],
    disabled: { $0.reasonNoMarks }
  ) { state, _ in state.clearMarks() }

  static let markNext = Command(
    .markNext, "next mark", "next marked row", keys: ["]m"],
    disabled: { $0.reasonNoMarkedRow }
  ) { $0.jump(to: .marked, by: $1 ?? 1) }

  static let markPrevious = Command(
    .markPrevious, "previous mark", "previous marked row", keys: ["[m"],
    disabled: { $0.reasonNoMarkedRow }
  ) { $0.jump(to: .marked, by: -($1 ?? 1)) }
}
