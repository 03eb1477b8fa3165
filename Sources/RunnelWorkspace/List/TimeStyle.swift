import RunnelBase

/// The style of times in lists.
package enum TimeStyle: String, Hashable, Sendable, CaseIterable {
  /// An age: `5m`.
  case age
  /// The time of day, `09:09`, or the date for earlier days.
  case clock
  /// The date and time: `2026-08-24 09:09`.
  case full

  /// The next style.
  package var next: TimeStyle {
    switch self {
    case .age: .clock
    case .clock: .full
    case .full: .age
    }
  }

  /// The name of the style.
  package var name: String {
    switch self {
    case .age: "ages"
    case .clock: "clock times"
    case .full: "dates and times"
    }
  }

  /// The least width of a time in columns; 0 if the width of the column is enough.
  package var width: Int {
    switch self {
    case .age: 0
    case .clock: 6
    case .full: 16
    }
  }

  /// Returns the text of a time in milliseconds since 1970; of a day, without a time, if it has none.
  package func text(
    of time: Int64, now: Int64, local: LocalTime, hasTime: Bool = true
  ) -> String {
    let civil = local.civil(time)
    switch self {
    case .age: return Age.text(of: time, now: now)
    case .clock:
      let today = local.civil(now)
      if hasTime, civil.dayNumber == today.dayNumber { return local.timeText(time) }
      return civil.year == today.year
        ? "\(civil.day) \(civil.monthText)" : "\(civil.monthText) \(civil.year % 100)"
    case .full: return hasTime ? "\(civil.dateText) \(local.timeText(time))" : civil.dateText
    }
  }
}
