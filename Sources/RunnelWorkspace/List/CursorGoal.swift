import RunnelBase
import RunnelStreams

/// Where the cursor of a list is to go when rows come.
struct CursorGoal: Hashable, Sendable {
  /// A row that the cursor goes to when it is shown.
  private enum Wanted: Hashable, Sendable {
    /// The row of the cursor before the list was filtered or read again.
    case row(String)
    /// The record under the cursor before the list was read in another order, which is read if it is not
    /// among the first rows there.
    indirect case record(Record)
  }

  /// What is being read because the cursor is to go there; a later reading takes the place of an earlier
  /// one.
  private enum Reading: Hashable, Sendable {
    /// The rows around the place of a jump.
    indirect case jump(Jump)
    /// The end where rows arrive.
    case liveEnd
  }

  /// Where the cursor was put before the first page came, and stays until the user moves it; nil if
  /// the first page is there.
  var first: ListItem?
  private var wanted: Wanted?
  private var reading: Reading?
  /// When Enter fetched a page last, as the number of commands until then; nil for never.
  var fetchedAt: Int?

  // MARK: A row

  /// The row that the cursor goes to when it is shown; nil once the user has moved.
  var wantedRow: String? {
    switch wanted {
    case .row(let id): id
    case .record(let record): record.id
    case nil: nil
    }
  }

  /// The record to be read if it is not among the first rows; nil once it was gone to, or the user has
  /// moved.
  var keptRecord: Record? { if case .record(let record)? = wanted { record } else { nil } }

  /// Has the cursor go to a row, or to none.
  mutating func want(row id: String?) {
    if id != wantedRow { wanted = id.map { .row($0) } }
  }

  /// Has the cursor go to the record that was under it, in another order; without one, nothing is read
  /// for it.
  mutating func keep(_ record: Record?) {
    if let record { wanted = .record(record) } else { forgetRecord() }
  }

  /// Reads nothing for the record any more; the cursor still goes to its row.
  mutating func forgetRecord() { wanted = wantedRow.map { .row($0) } }

  // MARK: A reading

  /// The jump whose rows are being read, or nil.
  var jump: Jump? { if case .jump(let jump)? = reading { jump } else { nil } }

  /// Whether the cursor is to go to the end where rows arrive once that end is loaded.
  var wantsLiveEnd: Bool { reading == .liveEnd }

  /// Whether rows are being read because the cursor is to go there.
  var isReading: Bool { reading != nil }

  mutating func read(_ jump: Jump) { reading = .jump(jump) }

  mutating func readLiveEnd() { reading = .liveEnd }

  mutating func endReading() { reading = nil }

  /// Gives up a jump, because the rows are read from the beginning.
  mutating func endJump() { if jump != nil { reading = nil } }
}
