import RunnelTerminal

/// The commands of the tree.
enum TreeCommands {
  static let table = CommandTable(.tree, "In the tree", takesCounts: true, hints: hints) {
    opening
    folding
    SharedCommands.paneDetail.inner(
      "value", "show the value beside the tree, or not", keys: ["p"])
    writing
    marks
    SharedCommands.export
    SharedCommands.outside
    SharedCommands.searching
    SharedCommands.undoing
    SharedCommands.histories
    SharedCommands.comparing
    SharedCommands.places
    Command(
      .viewResync, "read again", "read it again from the database", keys: ["R"]
    ) { state, _ in state.readTreeAnew() }
    SharedCommands.rows
  }

  private static let opening: [Command] = [
    Command(
      .rowOpen, "open", "expand / collapse; edit a value; fetch on a paging row", keys: ["Enter"],
      disabled: { $0.reasonLineNotOpened }
    ) { state, _ in state.openLine() },
    Command(
      .rowIn, "open", "expand, or go to the children", keys: ["l", "Right"],
      disabled: { $0.reasonNotIntoLine }
    ) { state, _ in state.goIntoLine() },
    Command(
      .rowOut, "close", "collapse, or go to the parent", keys: ["h", "Left"],
      disabled: { $0.reasonTreeFolded }
    ) { state, _ in state.goOutOfLine() },
  ]

  private static let folding: [Command] = [
    Command(
      .foldToggle, "expand", "expand / collapse", keys: ["za"],
      disabled: { $0.reasonLineNotToggled }
    ) { state, _ in state.toggleLine() },
    Command(.foldOpen, "expand", "expand", keys: ["zo"], disabled: { $0.reasonLineNotExpanded }) {
      state, _ in
      state.expandLine()
    },
    Command(
      .foldClose, "collapse", "collapse, or collapse the parent", keys: ["zc"],
      disabled: { $0.reasonTreeFolded }
    ) { state, _ in state.collapseLine() },
    Command(
      .foldOpenAll, "expand all", "expand all that is loaded, one level", keys: ["zR"],
      disabled: { $0.reasonNoneExpanded }
    ) { state, _ in state.expandAll() },
    Command(
      .foldCloseAll, "collapse all", "collapse all", keys: ["zM"],
      disabled: { $0.reasonNoneCollapsed }
    ) { state, _ in state.collapseAll() },
  ]

  private static let writing: [Command] = [
    Command(.recordAdd, "add", "add a child", keys: ["a"], disabled: { $0.reasonReadOnly }) {
      state, _ in
      state.addChild()
    },
    Command(
      .recordEdit, "edit", "edit the value", keys: ["e", "F2"],
      disabled: { $0.reasonNoNodeEdited }
    ) { state, _ in state.editNode() },
    Command(
      .recordDelete, "delete", "delete the node, or the marked ones…", keys: ["d", "Del"],
      disabled: { $0.reasonNoNodeDeleted }
    ) { state, _ in state.deleteNodes() },
    Command(
      .sectionMore, "more", "fetch the next page of this node", keys: ["gm"],
      disabled: { $0.reasonNoMoreLines }
    ) { state, _ in state.fetchMoreLines() },
  ]

  private static let marks: [Command] = [
    SharedCommands.markToggle,
    SharedCommands.markRange,
    SharedCommands.markAll.inner("mark all", "mark all nodes beside this one", keys: ["*"]),
    SharedCommands.markClear,
    SharedCommands.markNext.inner("next mark", "next marked node", keys: ["]m"]),
    SharedCommands.markPrevious.inner("previous mark", "previous marked node", keys: ["[m"]),
  ]

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.rowIn), CommandHint(.rowOut), CommandHint(.recordEdit), CommandHint(.recordAdd),
      CommandHint(.recordDelete), CommandHint(.sectionMore), CommandHint(.viewNext, "view"),
      CommandHint(.viewClose),
    ]
  }
}
