import RunnelBase
package import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// Caches the lines of rows, so that a key that moves the cursor formats only rows that changed.
///
/// The cache does not change what is drawn. It belongs to the thread that draws.
package final class RowLineCache {
  /// The greatest number of lines, more than a screen has; if there are more, all are dropped.
  private static let linesMax = 1000

  private struct Entry {
    var record: Record
    var state: RowText.State
    /// The time when an age in the line changes, in milliseconds since 1970.
    var validUntil: Int64
    var lines: [StyledLine]
  }

  /// The inputs of rows besides their formatting.
  ///
  /// If they are equal, no line has changed, except on rows that the cursor left or reached.
  struct Basis: Equatable {
    /// The list.
    var tab: Tab
    var revision: RowsRevision
    var search: String?
    /// The revision of the drafts.
    var drafts: Int
    /// Whether rows beyond the last one may not be known.
    var isCached: Bool

    /// Makes the basis of a list, or nil if its lines can change for other reasons.
    init?(_ state: AppState, _ screen: ListScreen) {
      guard screen.rangeStart == nil, state.writes.queue.refused.isEmpty,
        state.writes.queue.places.isEmpty,
        (state.database.present ?? []).isEmpty
      else { return nil }
      (tab, revision, search) = (state.tabs.front, screen.rowsRevision, state.trail.search)
      drafts = state.writes.drafts.revision
      isCached = state.database.origin?.isCached == true
    }
  }

  private var entries: [String: Entry] = [:]
  private var basis: Basis?
  /// The time when a line requested since the last `begin` that returned false changes.
  private var validUntil = Int64.max
  /// The other inputs of lines: the formatting without the time, the width, and the day.
  private var writing: RowText?
  private var width = 0
  private var day = 0
  /// The columns of the formatting.
  private var columns = RowColumns()
  /// The titles of the columns, and what they were made for; nil if the formatting has changed.
  private var titles: (input: TitlesInput, titles: ColumnTitles)?

  /// What the titles depend on besides the formatting of rows.
  private struct TitlesInput: Equatable {
    var width: Int
    var order: QueryIndex
    var isDescending: Bool
  }

  /// Returns the lines of a record: the cached ones if they are still right, otherwise new ones.
  package func lines(
    of id: String, _ record: Record, state: RowText.State, by rows: RowText, width: Int
  ) -> [StyledLine] {
    if let entry = entries[id], entry.record.isIdentical(to: record), entry.state == state,
      rows.now < entry.validUntil
    {
      validUntil = min(validUntil, entry.validUntil)
      return entry.lines
    }
    let lines = rows.lines(for: record, state: state, width: width, found: columns)
    if entries.count >= RowLineCache.linesMax { entries = [:] }
    let ages = rows.definition.ageFields
    let change = record.nextAgeChange(in: ages, now: rows.now, rows.local) ?? Int64.max
    entries[id] = Entry(record: record, state: state, validUntil: change, lines: lines)
    validUntil = min(validUntil, change)
    return lines
  }

  /// Returns the titles of the columns: the cached ones if they are still right, otherwise new ones.
  ///
  /// `rows` must be the formatter of the last call of `begin`.
  func titles(
    by rows: RowText, width: Int, orderedBy order: QueryIndex, isDescending: Bool
  ) -> ColumnTitles {
    let input = TitlesInput(width: width, order: order, isDescending: isDescending)
    if let titles, titles.input == input { return titles.titles }
    let new = ColumnTitles(rows, width: width, orderedBy: order, isDescending: isDescending)
    titles = (input, new)
    return new
  }

  /// Drops all lines if the formatting of rows has changed; must be called once for each frame.
  ///
  /// - Returns: True if the lines requested since the last call that returned false are still
  ///   right, except on rows that the cursor left or reached.
  func begin(_ rows: RowText, width: Int, basis: Basis?) -> Bool {
    defer { self.basis = basis }
    let isKept = keepLines(of: rows, width: width)
    if isKept, let basis, basis == self.basis, rows.now < validUntil { return true }
    validUntil = .max
    return false
  }

  /// Returns whether cached lines may still be right; if not, drops them.
  private func keepLines(of rows: RowText, width: Int) -> Bool {
    let day = rows.local.civil(rows.now).dayNumber
    var timeless = rows
    timeless.now = 0
    if writing == timeless, self.width == width, self.day == day { return true }
    (writing, self.width, self.day) = (timeless, width, day)
    entries = [:]
    titles = nil
    columns = RowColumns()
    return false
  }
}

/// Counts events that may change how the rows of a list look.
package struct RowsRevision: Hashable, Sendable {
  private var number = 0

  /// Notes a change.
  mutating func note() { number += 1 }
}
