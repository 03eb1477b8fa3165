import RunnelBase
import RunnelTerminal
import RunnelTree

/// The rows of which the user is to be told, and when the user was told last.
struct NoticeState: Equatable, Sendable {
  /// The new rows of a view that was not told of yet.
  struct Waiting: Equatable, Sendable {
    /// The time at which they are told, in milliseconds since 1970.
    var due: Int64
    /// The ids of the rows, at most `Notices.rowsMax`.
    var rows: Set<String> = []
  }

  /// The waiting rows, by view.
  var waiting: [Int: Waiting] = [:]
  /// The time of the last notice of each view, in milliseconds since 1970.
  var last: [Int: Int64] = [:]
  /// Whether the terminal has the focus; nil if it never told.
  var hasFocus: Bool?
}

/// Tells the user of new rows in views that ask for it, unless the view is being looked at.
package enum Notices {
  /// The time in which rows that arrive are told together, in milliseconds; meanwhile it becomes known
  /// which of them the user wrote.
  static let gatherMilliseconds: Int64 = 500
  /// The least time between two notices of a view, in milliseconds.
  static let pauseMilliseconds: Int64 = 5000
  /// The most rows that are counted for a notice.
  static let rowsMax = 1000
  /// The minutes of an hour.
  private static let hourMinutes = 60

  /// Opens the views that ask for notices, so that they listen although nobody looks at them.
  static func openViews(_ state: inout AppState) {
    for index in state.tabs.lists.indices where !state.tabs.lists[index].reach.isOpen {
      if state.tabs.lists[index].definition.notices == .none { continue }
      state.tabs.lists[index].reach.isOpen = true
      state.effects.append(.openView(index))
    }
  }

  /// Notes rows that arrived in a view.
  static func note(_ state: inout AppState, _ rows: Set<String>, inView view: Int) {
    let screen = state.tabs.lists[view]
    guard screen.definition.notices != .none, !isLookedAt(state, view) else { return }
    let new = rows.filter { !screen.isOwn($0, state.database.me) }
    if new.isEmpty { return }
    let pause = state.session.notices.last[view].map { $0 + pauseMilliseconds } ?? .min
    let due = max(state.now + gatherMilliseconds, pause)
    var waiting = state.session.notices.waiting[view] ?? NoticeState.Waiting(due: due)
    waiting.rows.formUnion(new.sorted().suffix(max(rowsMax - waiting.rows.count, 0)))
    state.session.notices.waiting[view] = waiting
  }

  /// Forgets rows that the user wrote in this workspace.
  static func forget(_ state: inout AppState, _ rows: Set<String>, inView view: Int) {
    state.session.notices.waiting[view]?.rows.subtract(rows)
  }

  /// Returns the time of the next notice; nil for none.
  static func noticeDue(_ state: AppState) -> Int64? {
    state.session.notices.waiting.values.map(\.due).min()
  }

  /// Tells the user of the rows that are due, unless it is a quiet hour or they were seen by now.
  static func tell(_ state: inout AppState) {
    let due = state.session.notices.waiting.filter { $0.value.due <= state.now }
    for (view, waiting) in due.sorted(by: { $0.key < $1.key }) {
      state.session.notices.waiting[view] = nil
      guard state.tabs.lists.indices.contains(view), !isLookedAt(state, view), !isQuiet(state),
        let notice = notice(state, of: waiting.rows, inView: view)
      else { continue }
      state.session.notices.last[view] = state.now
      state.effects.append(.notify(notice))
    }
  }

  private static func notice(
    _ state: AppState, of rows: Set<String>, inView view: Int
  ) -> TerminalNotice? {
    let screen = state.tabs.lists[view]
    let ways: [TerminalNotice.Way]
    switch screen.definition.notices {
    case .none: return nil
    case .usual: ways = state.settings.notices.ways
    case .by(let own): ways = own
    }
    // Rows may be gone, or unloaded, by now.
    guard let newest = rows.filter({ screen.hasRow($0) }).max(), !ways.isEmpty else { return nil }
    let text = screen.text(ofRow: newest)
    return TerminalNotice(
      title: screen.definition.name, text: rows.count == 1 ? text : "\(rows.count) new: \(text)",
      by: ways)
  }

  /// Whether the user sees the rows of a view; a terminal that does not tell of the focus has it.
  private static func isLookedAt(_ state: AppState, _ view: Int) -> Bool {
    state.tabs.front == .view(view) && state.session.notices.hasFocus != false
  }

  private static func isQuiet(_ state: AppState) -> Bool {
    let time = state.settings.local.civil(state.now)
    return state.settings.notices.quiet?.contains(minute: time.hour * hourMinutes + time.minute)
      == true
  }
}
