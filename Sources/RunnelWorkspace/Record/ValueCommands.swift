import RunnelTerminal

/// The commands of a value that is read in full.
package enum ValueCommands {
  package static let table = CommandTable(
    .value, "In this value", over: .belowPage, takesCounts: true, hints: hints
  ) {
    Command(
      .valueCodePoints, "code points", "the text, or its code points one by one", keys: ["c"],
      needs: .nothing
    ) { state, _ in Reading.toggleCodePoints(&state) }
    RecordCommands.edit.inner(keys: ["e", "F2"]) { state, _ in Reading.editReadField(&state) }
    GlobalCommands.stepBack.inner("back", "back to the record", keys: ["h", "Left"]) { state, _ in
      Reading.closeReading(&state)
    }
    SharedCommands.outside
    scrolling
    MovingCommands.other.map { $0.inner(disabled: { ValueCommands.reasonOneText($0) }) }
    RecordCommands.open.inner(disabled: { ValueCommands.reasonOneText($0) })
  }

  private static let scrolling: [Command] = [
    scroll(MovingCommands.down) { $0 },
    scroll(MovingCommands.scrollDown) { $0 },
    scroll(MovingCommands.up) { -$0 },
    scroll(MovingCommands.scrollUp) { -$0 },
    scrollPages(MovingCommands.pageDown) { $0 },
    scrollPages(MovingCommands.pageUp) { -$0 },
    MovingCommands.halfDown.inner { state, _ in
      Reading.scrollReading(&state, by: max(state.height / 2, 1))
    },
    MovingCommands.halfUp.inner { state, _ in
      Reading.scrollReading(&state, by: -max(state.height / 2, 1))
    },
    MovingCommands.first.inner { state, _ in Reading.scrollReading(&state, by: -Int(Int32.max)) },
    MovingCommands.last.inner { state, _ in Reading.scrollReading(&state, by: Int(Int32.max)) },
  ]

  private static func scroll(
    _ command: Command, _ lines: @escaping @Sendable (_ count: Int) -> Int
  ) -> Command {
    command.inner { state, count in Reading.scrollReading(&state, by: lines(count ?? 1)) }
  }

  private static func scrollPages(
    _ command: Command, _ pages: @escaping @Sendable (_ count: Int) -> Int
  ) -> Command {
    command.inner { state, count in
      Reading.scrollReading(&state, by: max(state.height - 1, 1) * pages(count ?? 1))
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.recordEdit), CommandHint(.stepBack)]
  }
}

extension ValueCommands {
  /// The reason why the cursor cannot move from line to line; never nil.
  fileprivate static func reasonOneText(_ state: AppState) -> String? {
    state.phrase("this is one text", .rowDown, "scrolls it")
  }
}
