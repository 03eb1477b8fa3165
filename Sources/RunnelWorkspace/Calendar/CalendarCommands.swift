import RunnelBase
package import RunnelTerminal

extension KeymapContext {
  /// A calendar.
  package static let calendar = KeymapContext("calendar")
}

extension ActionID {
  static let dateChoose = ActionID("date.choose")
  static let dateNextDay = ActionID("date.nextDay")
  static let dateNextMonth = ActionID("date.nextMonth")
  static let dateNextWeek = ActionID("date.nextWeek")
  static let datePreviousDay = ActionID("date.prevDay")
  static let datePreviousMonth = ActionID("date.prevMonth")
  static let datePreviousWeek = ActionID("date.prevWeek")
  static let dateToday = ActionID("date.today")
}

/// The commands of a calendar, and the command of a field that opens a calendar.
package enum CalendarCommands {
  package static let table = CommandTable(
    .calendar, "In the calendar", over: [], takesCounts: true, hints: hints
  ) {
    TypingCommands.accept.inner("take", "take this day", keys: ["Enter"]) { state, _ in
      CalendarScreen.takeDay(&state)
    }
    TypingCommands.cancel.inner(
      "leave", "leave the field as it is", keys: ["Esc", "C-g", "C-c", "q"]
    ) { state, _ in state.closeLayer() }
    days
    weeks
    months
    Command(.dateToday, "today", "go to today", keys: ["t"], needs: .nothing) { state, _ in
      let today = state.settings.local.civil(state.now).dayNumber
      CalendarScreen.change(&state) { $0.move(to: today) }
    }
    GlobalCommands.help.inner("help", "help", keys: ["?", "F1"])
    GlobalCommands.redraw.inner(keys: ["C-l"])
    GlobalCommands.suspend.inner(keys: ["C-z"])
  }

  /// The command that opens a calendar from a field.
  static let open = Command(
    .dateChoose, "calendar", "choose the date of the field in a calendar", keys: ["F4", "C-x C-d"],
    needs: .nothing,
    disabled: { state in
      CalendarScreen.date(state) == nil ? "this field holds no date" : nil
    }
  ) { state, _ in CalendarScreen.open(&state) }

  /// The hint of the calendar command for a field that holds a date; empty for other fields.
  static func hints(of input: FieldInput) -> [CommandHint] {
    // An empty number may become a date, but is none yet.
    if input.editor.isEmpty, input.rule == nil { return [] }
    // Whether the field holds a date depends on neither the time nor the zone.
    return FieldDate(input, now: 0, .utc) == nil ? [] : [CommandHint(.dateChoose)]
  }

  private static let days = [
    move(.datePreviousDay, "day before", ["h", "Left", "C-b"]) { $0.move(days: -$1) },
    move(.dateNextDay, "day after", ["l", "Right", "C-f"]) { $0.move(days: $1) },
  ]

  private static let weeks = [
    move(.datePreviousWeek, "week before", ["k", "Up", "C-p"]) { $0.move(days: -7 * $1) },
    move(.dateNextWeek, "week after", ["j", "Down", "C-n"]) { $0.move(days: 7 * $1) },
  ]

  private static let months = [
    move(.datePreviousMonth, "month before", ["<", "PgUp", "M-v"]) { $0.move(months: -$1) },
    move(.dateNextMonth, "month after", [">", "PgDn", "C-v"]) { $0.move(months: $1) },
  ]

  private static func move(
    _ id: ActionID, _ title: String, _ keys: [String],
    _ move: @escaping @Sendable (inout CalendarScreen, _ count: Int) -> Void
  ) -> Command {
    Command(id, title, "\(title) (takes a count)", keys: keys, needs: .nothing) { state, count in
      CalendarScreen.change(&state) { move(&$0, count ?? 1) }
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.inputAccept), CommandHint(.inputCancel), CommandHint(.dateToday),
      CommandHint(.datePreviousMonth), CommandHint(.dateNextMonth),
    ]
  }
}

extension CalendarScreen {
  /// The date in the field that has the keys, or nil if it holds none.
  static func date(_ state: AppState) -> FieldDate? {
    guard let input = state.layers.last?.component.fieldInput else { return nil }
    return FieldDate(input, now: state.now, state.settings.local)
  }

  /// Opens a calendar over the field that has the keys.
  static func open(_ state: inout AppState) {
    guard let date = date(state) else { return }
    let today = state.settings.local.civil(state.now).dayNumber
    state.input.matcher.reset()
    state.layers.append(.calendar(CalendarScreen(date, today: today)))
  }

  /// Puts the chosen day into the field below, and closes the calendar.
  static func takeDay(_ state: inout AppState) {
    guard case .calendar(let screen)? = state.layers.last else { return }
    let text = screen.date.text(day: screen.day, state.settings.local)
    state.closeLayer()
    state.changeTop { component, _ in
      component.fieldInput?.editor = LineEditor(text)
      component.fieldInput?.check()
    }
  }

  /// Changes the calendar in front.
  static func change(_ state: inout AppState, _ body: (inout CalendarScreen) -> Void) {
    guard case .calendar(var screen)? = state.layers.last else { return }
    body(&screen)
    state.layers[state.layers.count - 1] = .calendar(screen)
  }
}
