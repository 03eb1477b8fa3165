package import RunnelBase
import RunnelTerminal

/// A calendar: the month around a day, from which the date of a field is chosen.
package struct CalendarScreen: Hashable, Sendable {
  /// The days that can be chosen, counted from 1970-01-01: those of the years 1 to 9999.
  static let days = -719_162...2_932_896

  /// The date of the field, and how the field writes dates.
  let date: FieldDate
  /// The day under the cursor, counted from 1970-01-01; one of `days`.
  private(set) var day: Int

  /// Opens the calendar at the date of the field, or at today if the field has none.
  init(_ date: FieldDate, today: Int) {
    self.date = date
    day = CalendarScreen.near(date.day ?? today)
  }

  private static func near(_ day: Int) -> Int { min(max(day, days.lowerBound), days.upperBound) }

  /// The date under the cursor.
  package var civil: CivilTime { CivilTime(dayNumber: day) }

  /// The Monday that begins the first week of the shown month.
  var firstDay: Int {
    let first = day - civil.day + 1
    return first - CivilTime(dayNumber: first).weekday + 1
  }

  /// Moves the cursor by a number of days, back if negative; it stays within `days`.
  mutating func move(days count: Int) { day = CalendarScreen.near(day + count) }

  /// Moves the cursor by a number of months, back if negative: to the same day of the month, or to
  /// the last day of a shorter month.
  mutating func move(months count: Int) {
    let months = min(max(civil.year * 12 + civil.month - 1 + count, 12), 9_999 * 12 + 11)
    let (year, month) = (months / 12, months % 12 + 1)
    let day = min(civil.day, CivilTime.dayCount(year: year, month: month))
    if let moved = CivilTime(year: year, month: month, day: day) { self.day = moved.dayNumber }
  }

  /// Moves the cursor to a day, or to the nearest one of `days`.
  mutating func move(to day: Int) { self.day = CalendarScreen.near(day) }
}

extension CalendarScreen: LayerComponent {
  var layer: Layer { .calendar(self) }
  var summary: String { "calendar at \(civil.dateText)" }
  var extent: LayerExtent { .dialog }
  var holdsInput: Bool { true }
  var helpTitle: String? { "Choosing a date" }

  func contexts(about hand: AtHand) -> [KeymapContext] { CalendarCommands.table.contexts }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    let state = screen.state
    CalendarDrawing(self, today: state.settings.local.civil(state.now).dayNumber)
      .draw(into: &canvas, area: screen.layout.overlay)
  }
}
