import RunnelBase
package import RunnelStreams
package import RunnelTerminal

/// The lines of rows as they were written last, so that a key that moves the cursor writes only the
/// rows that look different since.
///
/// It knows nothing that is not in the state: with or without it, the same is drawn. It belongs to
/// the thread that draws.
package final class RowLineCache {
  /// More lines than any screen has; where there come to be more, all are forgotten.
  private static let linesMax = 1000

  private struct Entry {
    var record: Record
    var state: RowText.State
    /// From when on an age in it reads differently, in milliseconds since 1970.
    var validUntil: Int64
    var line: StyledLine
  }

  /// What the look of rows follows from besides their writing: equal ones mean that no row reads
  /// otherwise, unless the cursor came to it or left it.
  struct Basis: Equatable {
    /// The view.
    var tab: Int
    var revision: RowsRevision
    var search: String?

    /// Nil if the rows may read otherwise for another reason.
    init?(_ state: AppState, _ screen: ListScreen) {
      guard screen.rangeStart == nil, state.writes.queue.refused.isEmpty else { return nil }
      (tab, revision, search) = (state.tabs.index, screen.rowsRevision, state.trail.search)
    }
  }

  private var entries: [String: Entry] = [:]
  private var basis: Basis?
  /// From when on one of the rows asked for since `begin` found them changed may read otherwise.
  private var validUntil = Int64.max
  /// What else lines follow from: how rows are written, but for the time, in how many columns, and
  /// on which day.
  private var writing: RowText?
  private var width = 0
  private var day = 0

  /// The line of a record: as it was written before where that still holds, else written now.
  package func line(
    of id: String, _ record: Record, state: RowText.State, by rows: RowText, width: Int
  ) -> StyledLine {
    if let entry = entries[id], entry.record.isIdentical(to: record), entry.state == state,
      rows.now < entry.validUntil
    {
      validUntil = min(validUntil, entry.validUntil)
      return entry.line
    }
    let line = rows.line(for: record, state: state, width: width)
    if entries.count >= RowLineCache.linesMax { entries = [:] }
    let change = rows.definition.nextAgeChange(of: record, now: rows.now) ?? Int64.max
    entries[id] = Entry(record: record, state: state, validUntil: change, line: line)
    validUntil = min(validUntil, change)
    return line
  }

  /// Forgets all lines if rows come to be written otherwise; to be called once for each frame.
  ///
  /// - Returns: true if the lines that were asked for since it last returned false still hold, but
  ///   for rows that the cursor came to or left.
  func begin(_ rows: RowText, width: Int, basis: Basis?) -> Bool {
    defer { self.basis = basis }
    let isKept = keepLines(of: rows, width: width)
    if isKept, let basis, basis == self.basis, rows.now < validUntil { return true }
    validUntil = .max
    return false
  }

  /// Whether lines made before may be right; if not, they are forgotten.
  private func keepLines(of rows: RowText, width: Int) -> Bool {
    let day = rows.local.civil(rows.now).dayNumber
    var timeless = rows
    timeless.now = 0
    if writing == timeless, self.width == width, self.day == day { return true }
    (writing, self.width, self.day) = (timeless, width, day)
    entries = [:]
    return false
  }
}

/// How often something happened that may make the rows of a list look different.
package struct RowsRevision: Hashable, Sendable {
  private var number = 0

  /// Notes a change.
  mutating func note() { number += 1 }
}
