/// The columns that rows show, and their widths: found once for all rows of one format.
///
/// It belongs to the thread that draws, and to one value of `RowText`, whatever its time.
package final class RowColumns {
  private var shown: [RowText.ShownColumn]?
  /// The widths for what they depend on besides the format.
  private var widths: [(room: Int, isTransient: Bool, widths: [Int])] = []

  /// Creates a value that has found nothing yet.
  package init() {}

  /// Returns the columns that are shown, from the left.
  func shown(by rows: RowText) -> [RowText.ShownColumn] {
    if let shown { return shown }
    let found = rows.shownColumns
    shown = found
    return found
  }

  /// Returns the widths of the shown columns in so many columns of the screen.
  func widths(in room: Int, _ state: RowText.State, by rows: RowText) -> [Int] {
    let isTransient = state.isTransient
    if let known = widths.first(where: { $0.room == room && $0.isTransient == isTransient }) {
      return known.widths
    }
    let found = rows.widths(of: shown(by: rows).map(\.column), in: room, state)
    // The names of people beside rows may take many rooms.
    if widths.count >= 8 { widths = [] }
    widths.append((room, isTransient, found))
    return found
  }
}
