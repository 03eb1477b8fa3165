import RunnelBase
import RunnelTree

/// A place in the feed of a namespace, and who wrote there: by this one notices that the database lost
/// writes.
struct FeedPlace: Hashable {
  var sequence: Int64
  /// The server and its batch; nil if the row was pruned, or there is none.
  var writer: Writer?

  struct Writer: Hashable {
    var server: PostgresIdentifier
    var batch: Int64
  }
}

/// What a feed has after a place that is known.
///
/// Source: several servers, section 4.
struct FeedNews {
  /// The most changes that are read; more of them touch the whole tree.
  static let countMax = 1000
  /// The most rows that are read: the known place, and one more than is taken.
  private static let rowsMax = countMax + 2
  /// The path that stands for a change of the settings.
  static let settingsPath = "/.settings/rules"

  /// The places that others wrote; the root if not all of them are known.
  var touched: [Path] = []
  /// True if the settings may have changed.
  var touchesSettings = false
  /// The newest place.
  var end: FeedPlace
  /// What was read after the known place.
  private(set) var entries: [FeedMemory.Entry] = []
  /// What is to be logged: the database lost writes that were shown.
  var alarm: String?
  /// The first place that should be there and is not; nil if there is none.
  var missing: Int64?

  /// The statement whose result is read: the row at the known place, and those after it.
  static func statement(_ namespace: Int64, from known: Int64) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT seq, server, batch, paths FROM feed WHERE ns = $1 AND seq >= $2
      ORDER BY seq LIMIT \(rowsMax)
      """, .integer(namespace), .integer(known))
  }

  /// No news at a place.
  init(at head: Int64) { end = FeedPlace(sequence: head, writer: nil) }

  /// Reads the rows of a feed whose newest place is `head`, and whose newest pruned one is `floor`.
  init(
    _ rows: PostgresResult, after known: FeedPlace, head: Int64, floor: Int64
  ) throws(PostgresError) {
    end = FeedPlace(sequence: head, writer: nil)
    var next = known.sequence + 1
    for row in 0..<rows.count {
      let sequence = try rows.integer(row, 0) ?? 0
      let writer = FeedPlace.Writer(
        server: PostgresIdentifier(bytes: rows.bytes(row, 1) ?? []),
        batch: try rows.integer(row, 2) ?? 0)
      if sequence == head { end.writer = writer }
      if sequence == known.sequence {
        if let before = known.writer, before != writer {
          lose(known, head)
          return
        }
        continue
      }
      if sequence != next {
        skip(next, floor)
        return
      }
      next += 1
      let paths = rows.text(row, 3) ?? ""
      entries.append(FeedMemory.Entry(sequence: sequence, writer: writer, paths: paths))
      note(paths)
    }
    if head < known.sequence {
      lose(known, head)
    } else if next <= head {
      // Those that were not read are there.
      rows.count == FeedNews.rowsMax ? readAll() : skip(next, floor)
    }
  }

  private mutating func note(_ paths: String) {
    guard case .array(let elements)? = try? JSONValue(parsing: paths) else {
      return touched.append(.root)
    }
    for element in elements {
      guard case .string(let text) = element else { continue }
      if text == FeedNews.settingsPath {
        touchesSettings = true
      } else {
        touched.append((try? Path(text)) ?? .root)
      }
    }
  }

  /// Everything is read anew: the database has an older state, or another one.
  private mutating func lose(_ known: FeedPlace, _ head: Int64) {
    (touched, touchesSettings) = ([.root], true)
    alarm =
      "The database lost writes that were shown: the feed was known up to \(known.sequence), and ends at "
      + "\(head) now. Clients are shown the older state."
  }

  /// Everything is read anew: the feed has more than is worth a look.
  private mutating func readAll() { (touched, touchesSettings) = ([.root], true) }

  /// Everything is read anew: the places from `next` on are not in the feed any more.
  private mutating func skip(_ next: Int64, _ floor: Int64) {
    readAll()
    if floor < next { missing = next }
  }
}
