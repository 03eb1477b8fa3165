import RunnelBase
import RunnelTerminal

/// Draws a calendar over the middle of the screen: a month, and the date under the cursor in words.
///
/// If there is little room, only the weeks around the cursor are drawn, and at least the date in
/// words.
struct CalendarDrawing {
  private static let weekCount = 6
  /// The columns of a day, with a blank on each side.
  private static let dayWidth = 4
  private static let width = 7 * dayWidth
  /// The lines of a calendar: the names of the days, the weeks, and the date in words.
  private static let height = weekCount + 2

  private let screen: CalendarScreen
  private let today: Int

  init(_ screen: CalendarScreen, today: Int) {
    self.screen = screen
    self.today = today
  }

  func draw(into canvas: inout Canvas, area: Rect) {
    let (width, height) = (CalendarDrawing.width, CalendarDrawing.height)
    canvas.cursor = nil
    let isFramed = area.height >= height + 2 && area.width >= width + 4
    let box = area.centered(
      height: min(height + (isFramed ? 2 : 0), area.height),
      width: min(width + (isFramed ? 4 : 0), area.width))
    if isFramed {
      let zone = screen.date.isZoned ? " · local time" : ""
      canvas.box(
        box, title: "\(screen.civil.monthText) \(screen.civil.year)\(zone)", role: .dialog)
    } else {
      canvas.fill(box)
    }
    let (words, rest) = (isFramed ? box.inset(rows: 1, columns: 2) : box).splitBottom(1)
    let isToday = screen.day == today
    canvas.put(
      screen.civil.longDateText + (isToday ? " · today" : ""), at: words.origin,
      width: words.width, role: .strong)
    guard rest.width >= width else { return }
    let hasNames = rest.height > CalendarDrawing.weekCount
    let (names, weeks) = rest.splitTop(hasNames ? 1 : 0)
    if hasNames { drawNames(into: &canvas, names) }
    drawWeeks(into: &canvas, weeks)
  }

  private func drawNames(into canvas: inout Canvas, _ line: Rect) {
    for index in 0..<7 {
      let name = CivilTime(dayNumber: screen.firstDay + index).weekdayText.prefix(2)
      let place = line.splitLeft(index * CalendarDrawing.dayWidth + 1).rest
      canvas.put(String(name), at: place.origin, width: 2, role: .muted)
    }
  }

  private func drawWeeks(into canvas: inout Canvas, _ area: Rect) {
    let cursorWeek = (screen.day - screen.firstDay) / 7
    let first = max(cursorWeek - area.height + 1, 0)
    for week in first..<min(first + area.height, CalendarDrawing.weekCount) {
      for weekday in 0..<7 {
        let line = area.line(week - first)
        let place = line.splitLeft(weekday * CalendarDrawing.dayWidth).rest
          .splitLeft(CalendarDrawing.dayWidth).left
        drawDay(screen.firstDay + week * 7 + weekday, into: &canvas, place)
      }
    }
  }

  private func drawDay(_ day: Int, into canvas: inout Canvas, _ place: Rect) {
    let civil = CivilTime(dayNumber: day)
    let inMonth = civil.month == screen.civil.month
    let role: StyleRole = day == today ? .strong : inMonth ? .text : .muted
    let digits = civil.day < 10 ? " \(civil.day)" : "\(civil.day)"
    let isCursor = day == screen.day
    canvas.put(isCursor ? "[\(digits)]" : " \(digits) ", at: place.origin, width: 4, role: role)
    if isCursor { canvas.highlightRow(place) }
  }
}
