import RunnelBase

/// How lists write how long ago something was.
package enum TimeStyle: String, Hashable, Sendable, CaseIterable {
  /// `5m`.
  case age
  /// `09:09`, or before today the date.
  case clock
  /// `2026-08-24 09:09`.
  case full

  /// The style after this one.
  package var next: TimeStyle {
    switch self {
    case .age: .clock
    case .clock: .full
    case .full: .age
    }
  }

  /// What the style is called.
  package var name: String {
    switch self {
    case .age: "ages"
    case .clock: "clock times"
    case .full: "dates and times"
    }
  }

  /// The columns that a time takes at least; 0 if those of the column are enough.
  package var width: Int {
    switch self {
    case .age: 0
    case .clock: 6
    case .full: 16
    }
  }

  /// A time, in milliseconds since 1970.
  package func text(of time: Int64, now: Int64, local: LocalTime) -> String {
    let civil = local.civil(time)
    switch self {
    case .age: return Age.text(of: time, now: now)
    case .clock:
      let today = local.civil(now)
      if civil.dayNumber == today.dayNumber { return local.timeText(time) }
      return civil.year == today.year
        ? "\(civil.day) \(civil.monthText)" : "\(civil.monthText) \(civil.year % 100)"
    case .full: return "\(civil.dateText) \(local.timeText(time))"
    }
  }
}
