import RunnelTerminal

/// The commands of the view of the last actions.
package enum LastActionsCommands {
  package static let table = CommandTable(
    .debug, "In the last actions", over: .belowPage, takesCounts: true, hints: hints, helpHint: nil
  ) {
    SharedCommands.searching
    GlobalCommands.lastActions.inner(disabled: { _ in "these are the last actions" })
    GlobalCommands.stepBack.inner("close")
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.rowDown), CommandHint(.stepBack)]
  }
}
