import RunnelTerminal

/// The commands of the tree.
package enum TreeCommands {
  package static let table = CommandTable(
    .tree, "In the tree", over: .belowPage, takesCounts: true, hints: hints
  ) {
    opening
    folding
    SharedCommands.paneDetail.inner(
      "value", "show the value beside the tree, or not", keys: ["p"])
    writing
    TreeScreen.count
    marks
    SharedCommands.export
    SharedCommands.importing
    SharedCommands.outside
    SharedCommands.searching
    SharedCommands.undoing
    SharedCommands.histories
    SharedCommands.comparing
    SharedCommands.places
    Command(
      .viewResync, "read again", "read it again from the database", keys: ["R"], needs: .nothing
    ) { state, _ in TreeScreen.readTreeAnew(&state) }
    SharedCommands.rows
  }

  private static let opening: [Command] = [
    Command(
      .rowOpen, "open", "expand / collapse; edit a value; fetch on a fetch-more row",
      keys: ["Enter"], needs: .record(.opening), traits: [.opens, .usesKeyOnly],
      disabled: { TreeCommands.reasonLineNotOpened($0) }
    ) { state, _ in TreeScreen.openLine(&state) },
    Command(
      .rowIn, "open", "expand, or go to the children", keys: ["l", "Right"], needs: .record(nil),
      traits: [.opens],
      disabled: { TreeCommands.reasonNotIntoLine($0) }
    ) { state, _ in TreeScreen.goIntoLine(&state) },
    Command(
      .rowOut, "close", "collapse, or go to the parent", keys: ["h", "Left"], needs: .rows,
      traits: [.usesKeyOnly],
      disabled: { TreeCommands.reasonTreeFolded($0) }
    ) { state, _ in TreeScreen.goOutOfLine(&state) },
  ]

  private static let folding: [Command] = [
    Command(
      .foldToggle, "expand", "expand / collapse", keys: ["za"], needs: .rows,
      traits: [.usesKeyOnly],
      disabled: { TreeCommands.reasonLineNotToggled($0) }
    ) { state, _ in TreeScreen.toggleLine(&state) },
    Command(
      .foldOpen, "expand", "expand", keys: ["zo"], needs: .rows, traits: [.usesKeyOnly],
      disabled: { TreeCommands.reasonLineNotExpanded($0) }
    ) {
      state, _ in
      TreeScreen.expandLine(&state)
    },
    Command(
      .foldClose, "collapse", "collapse, or collapse the parent", keys: ["zc"], needs: .rows,
      traits: [.usesKeyOnly],
      disabled: { TreeCommands.reasonTreeFolded($0) }
    ) { state, _ in TreeScreen.collapseLine(&state) },
    Command(
      .foldOpenAll, "expand all", "expand all that is loaded, one level", keys: ["zR"],
      needs: .rows,
      disabled: { TreeCommands.reasonNoneExpanded($0) }
    ) { state, _ in TreeScreen.expandAll(&state) },
    Command(
      .foldCloseAll, "collapse all", "collapse all", keys: ["zM"], needs: .rows,
      disabled: { TreeCommands.reasonNoneCollapsed($0) }
    ) { state, _ in TreeScreen.collapseAll(&state) },
  ]

  private static let writing: [Command] = [
    Command(
      .recordAdd, "add", "add a child", keys: ["a"], needs: .rows, traits: [.opensText],
      disabled: { $0.reasonReadOnly }
    ) {
      state, _ in
      TreeScreen.addChild(&state)
    },
    Command(
      .recordEdit, "edit", "edit the value", keys: ["e", "F2"], needs: .record(.changing),
      traits: [.opensText],
      disabled: { TreeCommands.reasonNoNodeEdited($0) }
    ) { state, _ in TreeScreen.editNode(&state) },
    Command(
      .recordDelete, "delete", "delete the node, or the marked ones…", keys: ["d", "Del"],
      needs: .record(.deleting),
      disabled: { TreeCommands.reasonNoNodeDeleted($0) }
    ) { state, _ in TreeScreen.deleteNodes(&state) },
    Command(
      .sectionMore, "more", "fetch the next page of this node", keys: ["gm"], needs: .rows,
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
  private static func hints(_ state: AppState, _: AtHand) -> [CommandHint] {
    var first: [CommandHint] = []
    if case .failed? = state.tabs.tree.cursorLine, state.database.accounts?.session == .nobody {
      // Who is nobody may be refused for that.
      first = [CommandHint(.accountsOpen, "sign in")]
    }
    return first + [
      CommandHint(.rowIn), CommandHint(.rowOut), CommandHint(.recordEdit), CommandHint(.recordAdd),
      CommandHint(.recordDelete), CommandHint(.sectionMore), CommandHint(.viewNext, "view"),
      CommandHint(.viewClose),
    ]
  }
}
