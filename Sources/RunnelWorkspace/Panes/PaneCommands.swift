import RunnelTerminal

/// The commands of the pane of views and bookmarks.
package enum ViewsCommands {
  package static let table = CommandTable(
    .views, "Among views and bookmarks", over: .belowPage, takesCounts: true, hints: hints
  ) {
    pane
    SharedCommands.places
    GlobalCommands.stepBack.inner { state, _ in Panes.focusPane(&state, .list) }
  }

  private static let pane: [Command] = [
    Command(
      .rowOpen, "go there", "go to the view, the section or the bookmark",
      keys: ["Enter", "l", "Right"], needs: .rows, traits: [.opens]
    ) { state, _ in Panes.openInViews(&state) },
    Command(.rowOut, "back", "back to the list", keys: ["h", "Left"], needs: .rows) { state, _ in
      Panes.focusPane(&state, .list)
    },
    Command(
      .bookmarkDelete, "forget", "forget the bookmark", keys: ["d", "Del"], needs: .nothing,
      disabled: { Panes.reasonNoBookmark($0) }
    ) { state, _ in Panes.forgetBookmark(&state) },
    Command(.foldToggle, "fold", "fold / unfold", keys: ["za"], needs: .rows) { state, _ in
      Panes.toggleViewsFold(&state)
    },
  ]

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.rowOpen), CommandHint(.paneNext, "next pane"), CommandHint(.bookmarkDelete),
      CommandHint(.paneGrow, "wider"), CommandHint(.viewClose, "leave"),
    ]
  }
}

/// The commands of the detail pane: the keys that move through a list scroll the pane.
package enum DetailCommands {
  package static let table = CommandTable(
    .detail, "In the detail", over: .belowPane, takesCounts: true
  ) {
    lines
    pages
    ends
    GlobalCommands.stepBack.inner { state, _ in Panes.focusPane(&state, .list) }
    Command(.rowOut, "back", "back to the list", needs: .rows) { state, _ in
      Panes.focusPane(&state, .list)
    }.keepingAwaitedRow
  }

  private static let lines: [Command] = [
    MovingCommands.down.inner { Panes.scrollDetail(&$0, by: $1 ?? 1) },
    MovingCommands.scrollDown.inner { Panes.scrollDetail(&$0, by: $1 ?? 1) },
    MovingCommands.up.inner { Panes.scrollDetail(&$0, by: -($1 ?? 1)) },
    MovingCommands.scrollUp.inner { Panes.scrollDetail(&$0, by: -($1 ?? 1)) },
  ].keepingAwaitedRow

  private static let pages: [Command] = [
    MovingCommands.halfDown.inner { state, _ in
      Panes.scrollDetail(&state, by: state.layout.detail.height / 2)
    },
    MovingCommands.halfUp.inner { state, _ in
      Panes.scrollDetail(&state, by: -state.layout.detail.height / 2)
    },
    MovingCommands.pageDown.inner { state, count in
      Panes.scrollDetail(&state, by: (state.layout.detail.height - 1) * (count ?? 1))
    },
    MovingCommands.pageUp.inner { state, count in
      Panes.scrollDetail(&state, by: -(state.layout.detail.height - 1) * (count ?? 1))
    },
  ].keepingAwaitedRow

  private static let ends: [Command] = [
    MovingCommands.first.inner { state, _ in
      Panes.scrollDetail(&state, by: -Panes.detailLineCount(state))
    },
    MovingCommands.last.inner { state, _ in
      Panes.scrollDetail(&state, by: Panes.detailLineCount(state))
    },
  ].keepingAwaitedRow
}
