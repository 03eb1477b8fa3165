import RunnelTerminal

/// The commands of the column cursor, which stands on one cell of a list.
package enum CellCommands {
  package static let table = CommandTable(
    .cells, "On a cell", over: .belowPane, takesCounts: true, hints: hints
  ) {
    moving
    Command(
      .cellSort, "sort", "sort by this column: up, down, the view's own order", keys: ["s"],
      needs: .nothing,
      disabled: { $0.tabs.frontList.flatMap(Sorting.reasonNotSorted) }
    ) { state, _ in Cells.sort(&state) }
    Command(
      .cellFilter, "filter", "show only rows with this value", keys: ["="], needs: .rows,
      disabled: { Cells.reasonNoValue($0) }
    ) { state, _ in Cells.filter(&state, isNegated: false) }
    Command(
      .cellFilterOut, "filter out", "hide the rows with this value", keys: ["-"], needs: .rows,
      disabled: { Cells.reasonNoValue($0) }
    ) { state, _ in Cells.filter(&state, isNegated: true) }
    Command(
      .recordEdit, "edit", "edit this cell; with marks, this field of all marked rows",
      keys: ["e", "F2"], needs: .record(.changing), traits: [.opensText],
      disabled: { Cells.reasonNotEdited($0) }
    ) { state, _ in Cells.edit(&state) }
    Command(
      .rowOpen, "edit", "edit this cell; fetch more rows; on a header fold", keys: ["Enter"],
      needs: .record(.opening), traits: [.opens],
      disabled: { Cells.reasonNotOpened($0) }
    ) { state, _ in Cells.open(&state) }
    columns
    GlobalCommands.stepBack.inner("leave", "leave the cells", keys: ["Esc", "C-g", "|"]) {
      state, _ in state.tabs.changeFrontList { $0.look.cell = nil }
    }
  }

  /// The command of a list that puts the column cursor on a cell.
  static let enter = Command(
    .cellEnter, "cells", "go from cell to cell: sort, filter, move, edit", keys: ["|"],
    needs: .nothing,
    disabled: { ListCommands.reasonNoRows($0) }
  ) { state, _ in Cells.enter(&state) }

  private static let moving: [Command] = [
    Command(
      .cellNext, "right", "to the next column", keys: ["l", "Right"], needs: .nothing,
      disabled: { Cells.reasonAtEnd($0, 1) }
    ) { state, count in
      Cells.move(&state, by: count ?? 1)
    },
    Command(
      .cellPrevious, "left", "to the previous column", keys: ["h", "Left"], needs: .nothing,
      disabled: { Cells.reasonAtEnd($0, -1) }
    ) { state, count in
      Cells.move(&state, by: -(count ?? 1))
    },
  ]

  private static let columns: [Command] = [
    Command(
      .columnAdd, "add a column", "add a column beside this one…", keys: ["A"], needs: .nothing,
      disabled: { Columns.reasonNoneToAdd($0) }
    ) { state, _ in Columns.openAddMenu(&state) },
    Command(
      .columnHide, "hide", "hide this column; zw shows it again", keys: ["x"], needs: .nothing,
      disabled: { Cells.reasonNotHidden($0) }
    ) { state, _ in Cells.hide(&state) },
    Command(
      .columnRight, "move right", "move this column to the right", keys: ["L"], needs: .nothing,
      disabled: { Cells.reasonAtEnd($0, 1) }
    ) { state, _ in
      Cells.moveColumn(&state, by: 1)
    },
    Command(
      .columnLeft, "move left", "move this column to the left", keys: ["H"], needs: .nothing,
      disabled: { Cells.reasonAtEnd($0, -1) }
    ) { state, _ in
      Cells.moveColumn(&state, by: -1)
    },
    Command(
      .columnWider, "wider", "make this column wider", keys: [">"], needs: .nothing,
      disabled: { Cells.reasonNoWidth($0) }
    ) { state, count in
      Cells.widen(&state, by: 2 * (count ?? 1))
    },
    Command(
      .columnNarrower, "narrower", "make this column narrower", keys: ["<"], needs: .nothing,
      disabled: { Cells.reasonNoWidth($0) }
    ) { state, count in
      Cells.widen(&state, by: -2 * (count ?? 1))
    },
  ]

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.cellNext), CommandHint(.recordEdit), CommandHint(.cellSort),
      CommandHint(.cellFilter), CommandHint(.columnHide), CommandHint(.columnAdd),
      CommandHint(.columnRight), CommandHint(.columnWider), CommandHint(.stepBack),
    ]
  }
}
