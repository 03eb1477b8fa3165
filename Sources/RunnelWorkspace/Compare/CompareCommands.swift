import RunnelBase
import RunnelTerminal

/// The commands of a comparison of three versions.
package enum CompareCommands {
  package static let table = CommandTable(
    .compare, "With this field", over: .belowPage, takesCounts: true, hints: hints
  ) {
    fields
    all
    conflicts
    Command(
      .rowOpen, "in full", "show the versions of the field in full, or no longer",
      keys: ["Enter", "l", "Right"], needs: .nothing,
      disabled: { CompareCommands.comparedRow($0) == nil ? CompareCommands.noField : nil }
    ) { state, _ in
      let (columns, height) = (state.size.columns, state.height)
      CompareScreen.changeComparison(&state) { $0.toggleWhole(columns: columns, height: height) }
    }
    Command(
      .conflictWrite, "write", "write the result", keys: ["C-s"], needs: .nothing,
      disabled: { CompareCommands.reasonChoicesNotWritten($0) }
    ) { state, _ in CompareScreen.writeChoices(&state) }
    GlobalCommands.stepBack.inner("later", "decide later", keys: ["h", "Left"]) { state, _ in
      CompareScreen.decideLater(&state)
    }
    SharedCommands.searchingBesideWriting
  }

  private static let fields: [Command] = [
    side(.mine, .conflictMine, "mine", "keep what you wrote", keys: ["m"]),
    side(.theirs, .conflictTheirs, "theirs", "take what stands there now", keys: ["t"]),
    side(.base, .conflictBase, "base", "take what was there before", keys: ["b"]),
    Command(
      .conflictEdit, "type", "type another value", keys: ["e"], needs: .nothing,
      disabled: { CompareCommands.reasonNoChoiceTyped($0) }
    ) { state, _ in CompareScreen.editChoice(&state) },
  ]

  /// The command that chooses a version by its name in a comparison after a refused write; the hints name
  /// it as the rows do.
  private static func side(
    _ name: ThreeWay.Side, _ id: ActionID, _ title: String, _ help: String, keys: [String]
  ) -> Command {
    Command(
      id, title, help, keys: keys, needs: .nothing,
      disabled: { CompareCommands.reasonNotChosen($0, name) }
    ) {
      state, _ in
      CompareScreen.changeComparison(&state) { screen in
        let side = screen.draft.side(chosenAs: name)
        if let index = screen.cursorIndex { screen.model.choose(.side(side), at: index) }
      }
    }
  }

  private static let all: [Command] = [
    all(.mine, .conflictAllMine, "what you wrote, for every conflict", keys: ["M"]),
    all(.theirs, .conflictAllTheirs, "what stands there now, for every conflict", keys: ["T"]),
    all(.base, .conflictAllBase, "what was there before, for every conflict", keys: ["B"]),
  ]

  private static func all(
    _ name: ThreeWay.Side, _ id: ActionID, _ help: String, keys: [String]
  ) -> Command {
    Command(
      id, help, help, keys: keys, needs: .nothing,
      disabled: { CompareCommands.reasonNotAllChosen($0, name) }
    ) { state, _ in
      CompareScreen.changeComparison(&state) { screen in
        screen.model.chooseAll(screen.draft.side(chosenAs: name))
      }
    }
  }

  private static let conflicts: [Command] = [
    Command(
      .changeNext, "next", "next conflict", keys: ["]c"], needs: .rows,
      disabled: { CompareCommands.reasonNoOtherConflict($0) }
    ) { state, _ in CompareScreen.goToConflict(&state, by: 1) },
    Command(
      .changePrevious, "previous", "previous conflict", keys: ["[c"], needs: .rows,
      disabled: { CompareCommands.reasonNoOtherConflict($0) }
    ) { state, _ in CompareScreen.goToConflict(&state, by: -1) },
  ]

  @Sendable
  private static func hints(_ state: AppState, _: AtHand) -> [CommandHint] {
    func named(_ id: ActionID, _ name: ThreeWay.Side) -> CommandHint {
      CommandHint(id, comparison(state).map { $0.draft.label(of: $0.draft.side(chosenAs: name)) })
    }
    return [
      named(.conflictMine, .mine), named(.conflictTheirs, .theirs), named(.conflictBase, .base),
      CommandHint(.conflictEdit), CommandHint(.changeNext), CommandHint(.conflictWrite),
      CommandHint(.stepBack), CommandHint(.rowOpen),
    ]
  }
}

// MARK: - Disabled reasons

extension CompareCommands {
  private static func comparison(_ state: AppState) -> CompareScreen? {
    if case .compare(let screen)? = state.layers.last { screen } else { nil }
  }

  /// The field under the cursor of the comparison.
  private static func comparedRow(_ state: AppState) -> ThreeWay.Row? {
    comparison(state).flatMap { screen in screen.cursorIndex.map { screen.model.rows[$0] } }
  }

  private static let noField = "move to a field to choose for it"

  static func reasonNotChosen(_ state: AppState, _ name: ThreeWay.Side) -> String? {
    guard let screen = comparison(state), let row = comparedRow(state) else { return noField }
    if row.isSame { return "nobody changed it" }
    let side = screen.draft.side(chosenAs: name)
    return row.choice == .side(side) ? "that is what is kept" : nil
  }

  static func reasonNoChoiceTyped(_ state: AppState) -> String? {
    guard let row = comparedRow(state) else { return noField }
    return LineEditor.isTooLong(FieldKind.text(of: row.value ?? row.mine))
      ? "too long to be edited here: choose a version" : nil
  }

  static func reasonNotAllChosen(_ state: AppState, _ name: ThreeWay.Side) -> String? {
    guard let screen = comparison(state) else { return nil }
    var model = screen.model
    model.chooseAll(screen.draft.side(chosenAs: name))
    if model != screen.model { return nil }
    return model.rows.contains(where: \.isConflict)
      ? "that is what is kept" : reasonAllMerged(state)
  }

  static func reasonNoOtherConflict(_ state: AppState) -> String? {
    guard let screen = comparison(state) else { return nil }
    var other = screen
    if !other.moveToConflict(by: 1, height: state.height) { return reasonAllMerged(state) }
    return other.list == screen.list ? "this is the only field that needs a choice" : nil
  }

  static func reasonChoicesNotWritten(_ state: AppState) -> String? {
    if let reason = state.reasonReadOnly { return reason }
    guard let screen = comparison(state) else { return nil }
    // If several fields need a choice, the key goes to the next one, so it is not disabled.
    var other = screen
    guard screen.model.undecidedCount > 0, other.moveToConflict(by: 1, height: state.height),
      other.list == screen.list
    else { return nil }
    return CompareScreen.words(undecided: screen.model.undecidedCount)
  }

  private static func reasonAllMerged(_ state: AppState) -> String {
    "nothing needs a choice: \(state.phrase("all is merged", .conflictWrite, "writes it"))"
  }
}
