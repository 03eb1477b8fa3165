package import RunnelTerminal
import RunnelTree

extension KeymapContext {
  /// The context of the page that says why a write was refused.
  package static let why = KeymapContext("why")
}

extension ActionID {
  static let syncWhy = ActionID("sync.why")
}

/// The commands about the reason why a server refused a write.
package enum WhyCommands {
  package static let table = CommandTable(
    .why, "In the reasons", over: .belowPage, takesCounts: true, hints: hints
  ) {
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    SharedCommands.searching
  }

  /// The command that asks why the write at hand was refused.
  static let ask = Command(
    .syncWhy, "why", "say by which rule the server refused this", keys: ["gw"],
    needs: .record(.asking), traits: [.usesKeyOnly],
    disabled: { WhyCommands.reasonNotAsked($0) }
  ) { state, _ in WhyScreen.open(&state) }.keepingAwaitedRow

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] { [CommandHint(.stepBack)] }

  private static func reasonNotAsked(_ state: AppState) -> String? {
    guard WhyScreen.writeAtHand(state) != nil else {
      return "the server refused nothing here"
    }
    guard let origin = state.database.origin else { return "this database has no server" }
    if origin.hasServices { return "a Feathers server has no rules to read" }
    return origin.isDisconnected ? "there is no connection to read the rules" : nil
  }
}
