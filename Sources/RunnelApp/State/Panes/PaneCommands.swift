import RunnelTerminal

/// The commands of the pane of views and bookmarks.
enum ViewsCommands {
  static let table = CommandTable(
    .views, "Among views and bookmarks", takesCounts: true, hints: hints
  ) {
    pane
    SharedCommands.places
    GlobalCommands.stepBack.inner { state, _ in state.focusPane(.list) }
  }

  private static let pane: [Command] = [
    Command(
      .rowOpen, "go there", "go to the view or the bookmark", keys: ["Enter", "l", "Right"]
    ) { state, _ in state.openInViews() },
    Command(.rowOut, "back", "back to the list", keys: ["h", "Left"]) { state, _ in
      state.focusPane(.list)
    },
    Command(
      .bookmarkDelete, "forget", "forget the bookmark", keys: ["d", "Del"],
      disabled: { $0.reasonNoBookmark }
    ) { state, _ in state.forgetBookmark() },
    Command(.foldToggle, "fold", "fold / unfold", keys: ["za"]) { state, _ in
      state.toggleViewsFold()
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

/// The commands of the pane with the record under the cursor: what moves through a list scrolls it.
enum DetailCommands {
  static let table = CommandTable(.detail, "In the detail", takesCounts: true) {
    lines
    pages
    ends
    GlobalCommands.stepBack.inner { state, _ in state.focusPane(.list) }
    Command(.rowOut, "back", "back to the list") { state, _ in
      state.focusPane(.list)
    }.keepingAwaitedRow
  }

  private static let lines: [Command] = [
    MovingCommands.down.inner { $0.scrollDetail(by: $1 ?? 1) },
    MovingCommands.scrollDown.inner { $0.scrollDetail(by: $1 ?? 1) },
    MovingCommands.up.inner { $0.scrollDetail(by: -($1 ?? 1)) },
    MovingCommands.scrollUp.inner { $0.scrollDetail(by: -($1 ?? 1)) },
  ].keepingAwaitedRow

  private static let pages: [Command] = [
    MovingCommands.halfDown.inner { state, _ in
      state.scrollDetail(by: state.layout.detail.height / 2)
    },
    MovingCommands.halfUp.inner { state, _ in
      state.scrollDetail(by: -state.layout.detail.height / 2)
    },
    MovingCommands.pageDown.inner { state, count in
      state.scrollDetail(by: (state.layout.detail.height - 1) * (count ?? 1))
    },
    MovingCommands.pageUp.inner { state, count in
      state.scrollDetail(by: -(state.layout.detail.height - 1) * (count ?? 1))
    },
  ].keepingAwaitedRow

  private static let ends: [Command] = [
    MovingCommands.first.inner { state, _ in state.scrollDetail(by: -state.detailLineCount) },
    MovingCommands.last.inner { state, _ in state.scrollDetail(by: state.detailLineCount) },
  ].keepingAwaitedRow
}
