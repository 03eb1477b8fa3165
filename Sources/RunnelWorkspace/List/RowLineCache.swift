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

  private var entries: [String: Entry] = [:]
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
      return entry.line
    }
    let line = rows.line(for: record, state: state, width: width)
    if entries.count >= RowLineCache.linesMax { entries = [:] }
    let change = rows.definition.nextAgeChange(of: record, now: rows.now)
    entries[id] = Entry(
      record: record, state: state, validUntil: change ?? Int64.max, line: line)
    return line
  }

  /// Forgets all lines if rows come to be written otherwise; to be called once for each frame.
  package func begin(_ rows: RowText, width: Int) {
    let day = rows.local.civil(rows.now).dayNumber
    var timeless = rows
    timeless.now = 0
    if writing == timeless, self.width == width, self.day == day { return }
    (writing, self.width, self.day) = (timeless, width, day)
    entries = [:]
  }
}
