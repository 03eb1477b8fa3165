import RunnelBase
import RunnelTerminal

/// The commands where three versions are compared.
enum CompareCommands {
  static let table = CommandTable(.compare, "With this field", takesCounts: true, hints: hints) {
    fields
    all
    conflicts
    Command(
      .conflictWrite, "write", "write the result", keys: ["C-s"],
      disabled: { $0.reasonChoicesNotWritten }
    ) { state, _ in state.writeChoices() }
    GlobalCommands.stepBack.inner("later", "decide later", keys: ["h", "Left"]) { state, _ in
      state.decideLater()
    }
    SharedCommands.searchingBesideWriting
  }

  private static let fields: [Command] = [
    side(.mine, .conflictMine, "mine", "keep mine", keys: ["m"]),
    side(.theirs, .conflictTheirs, "theirs", "take theirs", keys: ["t"]),
    side(.base, .conflictBase, "base", "take what was there before", keys: ["b"]),
    Command(
      .conflictEdit, "type", "type another value", keys: ["e"],
      disabled: { $0.reasonNoChoiceTyped }
    ) { state, _ in state.editChoice() },
  ]

  private static func side(
    _ side: ThreeWay.Side, _ id: ActionID, _ title: String, _ help: String, keys: [String]
  ) -> Command {
    Command(id, title, help, keys: keys, disabled: { $0.reasonNotChosen(side) }) { state, _ in
      state.changeComparison { screen in
        if let index = screen.cursorIndex { screen.model.choose(.side(side), at: index) }
      }
    }
  }

  private static let all: [Command] = [
    all(.mine, .conflictAllMine, "mine for every conflict", keys: ["M"]),
    all(.theirs, .conflictAllTheirs, "theirs for every conflict", keys: ["T"]),
  ]

  private static func all(
    _ side: ThreeWay.Side, _ id: ActionID, _ help: String, keys: [String]
  ) -> Command {
    Command(id, help, help, keys: keys, disabled: { $0.reasonNotAllChosen(side) }) { state, _ in
      state.changeComparison { $0.model.chooseAll(side) }
    }
  }

  private static let conflicts: [Command] = [
    Command(
      .changeNext, "next", "next conflict", keys: ["]c"], disabled: { $0.reasonNoOtherConflict }
    ) { state, _ in state.goToConflict(by: 1) },
    Command(
      .changePrevious, "previous", "previous conflict", keys: ["[c"],
      disabled: { $0.reasonNoOtherConflict }
    ) { state, _ in state.goToConflict(by: -1) },
  ]

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.conflictMine), CommandHint(.conflictTheirs), CommandHint(.conflictBase),
      CommandHint(.conflictEdit), CommandHint(.changeNext), CommandHint(.conflictWrite),
      CommandHint(.stepBack),
    ]
  }
}

// MARK: - Disabled reasons

extension AppState {
  private var comparison: CompareScreen? {
    if case .compare(let screen)? = layers.last { screen } else { nil }
  }

  /// The field under the cursor of the comparison.
  private var comparedRow: ThreeWay.Row? {
    comparison.flatMap { screen in screen.cursorIndex.map { screen.model.rows[$0] } }
  }

  private static let noField = "move to a field to choose for it"

  func reasonNotChosen(_ side: ThreeWay.Side) -> String? {
    guard let row = comparedRow else { return AppState.noField }
    if row.isSame { return "nobody changed it" }
    return row.choice == .side(side) ? "that is what is kept" : nil
  }

  var reasonNoChoiceTyped: String? {
    guard let row = comparedRow else { return AppState.noField }
    return LineEditor.isTooLong(FieldKind.text(of: row.value ?? row.mine))
      ? "too long to be edited here: choose a version" : nil
  }

  func reasonNotAllChosen(_ side: ThreeWay.Side) -> String? {
    guard let screen = comparison else { return nil }
    var model = screen.model
    model.chooseAll(side)
    if model != screen.model { return nil }
    return model.rows.contains(where: \.isConflict) ? "that is what is kept" : reasonAllMerged
  }

  var reasonNoOtherConflict: String? {
    guard let screen = comparison else { return nil }
    var other = screen
    if !other.moveToConflict(by: 1, height: height) { return reasonAllMerged }
    return other.list == screen.list ? "this is the only field that needs a choice" : nil
  }

  var reasonChoicesNotWritten: String? {
    if let reason = reasonReadOnly { return reason }
    guard let screen = comparison else { return nil }
    // With several to choose the key goes to the next one.
    var other = screen
    guard screen.model.undecidedCount > 0, other.moveToConflict(by: 1, height: height),
      other.list == screen.list
    else { return nil }
    return CompareScreen.words(undecided: screen.model.undecidedCount)
  }

  private var reasonAllMerged: String {
    "nothing needs a choice: \(phrase("all is merged", .conflictWrite, "writes it"))"
  }
}
