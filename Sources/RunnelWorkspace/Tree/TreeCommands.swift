import RunnelTerminal

/// The commands of the tree.
package enum TreeCommands {
  package static let table = CommandTable(.tree, "In the tree", takesCounts: true, hints: hints) {
    opening
    folding
    SharedCommands.paneDetail.inner(
      "value", "show the value beside the tree, or not", keys: ["p"])
    writing
    TreeScreen.count
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
    ) { state, _ in TreeScreen.readTreeAnew(&state) }
    SharedCommands.rows
  }

  private static let opening: [Command] = [
    Command(
      .rowOpen, "open", "expand / collapse; edit a value; fetch on a fetch-more row",
      keys: ["Enter"],
      disabled: { TreeCommands.reasonLineNotOpened($0) }
    ) { state, _ in TreeScreen.openLine(&state) },
    Command(
      .rowIn, "open", "expand, or go to the children", keys: ["l", "Right"],
      disabled: { TreeCommands.reasonNotIntoLine($0) }
    ) { state, _ in TreeScreen.goIntoLine(&state) },
    Command(
      .rowOut, "close", "collapse, or go to the parent", keys: ["h", "Left"],
      disabled: { TreeCommands.reasonTreeFolded($0) }
    ) { state, _ in TreeScreen.goOutOfLine(&state) },
  ]

  private static let folding: [Command] = [
    Command(
      .foldToggle, "expand", "expand / collapse", keys: ["za"],
      disabled: { TreeCommands.reasonLineNotToggled($0) }
    ) { state, _ in TreeScreen.toggleLine(&state) },
    Command(
      .foldOpen, "expand", "expand", keys: ["zo"],
      disabled: { TreeCommands.reasonLineNotExpanded($0) }
    ) {
      state, _ in
      TreeScreen.expandLine(&state)
    },
    Command(
      .foldClose, "collapse", "collapse, or collapse the parent", keys: ["zc"],
      disabled: { TreeCommands.reasonTreeFolded($0) }
    ) { state, _ in TreeScreen.collapseLine(&state) },
    Command(
      .foldOpenAll, "expand all", "expand all that is loaded, one level", keys: ["zR"],
      disabled: { TreeCommands.reasonNoneExpanded($0) }
    ) { state, _ in TreeScreen.expandAll(&state) },
    Command(
      .foldCloseAll, "collapse all", "collapse all", keys: ["zM"],
      disabled: { TreeCommands.reasonNoneCollapsed($0) }
    ) { state, _ in TreeScreen.collapseAll(&state) },
  ]

  private static let writing: [Command] = [
    Command(.recordAdd, "add", "add a child", keys: ["a"], disabled: { $0.reasonReadOnly }) {
      state, _ in
      TreeScreen.addChild(&state)
    },
    Command(
      .recordEdit, "edit", "edit the value", keys: ["e", "F2"],
      disabled: { TreeCommands.reasonNoNodeEdited($0) }
    ) { state, _ in TreeScreen.editNode(&state) },
    Command(
      .recordDelete, "delete", "delete the node, or the marked ones…", keys: ["d", "Del"],
      disabled: { TreeCommands.reasonNoNodeDeleted($0) }
    ) { state, _ in TreeScreen.deleteNodes(&state) },
    Command(
      .sectionMore, "more", "fetch the next page of this node", keys: ["gm"],
      disabled: { TreeCommands.reasonNoMoreLines($0) }
    ) { state, _ in TreeScreen.fetchMoreLines(&state) },
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
