import RunnelBase
import RunnelTree

/// The newest places of a feed as a session knew them: by this one names the writes that the database lost.
struct FeedMemory {
  /// A place in the feed, and what was written there.
  struct Entry: Hashable {
    var sequence: Int64
    var writer: FeedPlace.Writer
    /// The paths as an array in JSON.
    var paths: String
  }

  /// The most places that are named in the log.
  private static let namedMax = 20
  /// The most entries, and the most bytes of their paths.
  static let countMax = 1000
  static let bytesMax = 65_536

  private(set) var entries: [Entry] = []
  private var byteCount = 0

  /// Adds what comes at the end of the feed; what was known of these numbers before is replaced.
  mutating func note(_ news: [Entry]) {
    guard let first = news.first else { return }
    while let last = entries.last, last.sequence >= first.sequence {
      byteCount -= last.paths.utf8.count
      entries.removeLast()
    }
    entries += news
    byteCount += news.reduce(0) { $0 + $1.paths.utf8.count }
    if entries.count <= FeedMemory.countMax, byteCount <= FeedMemory.bytesMax { return }
    // Half of them goes at once, so that a write costs little.
    var dropped = 0
    while dropped < entries.count,
      entries.count - dropped > FeedMemory.countMax / 2 || byteCount > FeedMemory.bytesMax / 2
    {
      byteCount -= entries[dropped].paths.utf8.count
      dropped += 1
    }
    entries.removeFirst(dropped)
  }

  /// The statement that reads which of the places are there.
  func statement(_ namespace: Int64) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT seq, server, batch FROM feed WHERE ns = $1 AND seq >= $2
      ORDER BY seq LIMIT \(2 * FeedMemory.countMax)
      """, .integer(namespace), .integer(entries.first?.sequence ?? .max))
  }

  /// The writes that are not in a feed, of which everything up to `floor` was pruned.
  func lost(in rows: PostgresResult, floor: Int64) throws(PostgresError) -> [Entry] {
    var there: [Int64: FeedPlace.Writer] = [:]
    for row in 0..<rows.count {
      there[try rows.integer(row, 0) ?? 0] = FeedPlace.Writer(
        server: PostgresIdentifier(bytes: rows.bytes(row, 1) ?? []),
        batch: try rows.integer(row, 2) ?? 0)
    }
    return entries.filter { $0.sequence > floor && there[$0.sequence] != $0.writer }
  }

  /// Names the places of lost writes; those that `isNamed` refuses are counted only.
  static func words(for lost: [Entry], _ isNamed: (Path) -> Bool) -> String {
    var places: Set<String> = []
    var named: [String] = []
    for entry in lost {
      guard case .array(let elements)? = try? JSONValue(parsing: entry.paths) else { continue }
      for element in elements {
        guard let text = element.string, places.insert(text).inserted else { continue }
        if text == FeedNews.settingsPath {
          named.append("the rules")
        } else if let path = try? Path(text), isNamed(path) {
          named.append(path.description)
        }
      }
    }
    if places.isEmpty { return "Which places they were at is not known any more." }
    // The newest ones are missed first.
    let shown = named.suffix(namedMax)
    let rest = places.count - shown.count
    var list = shown.joined(separator: ", ")
    if rest > 0 {
      let count = rest == 1 ? "1 other place" : "\(rest) other places"
      list += (list.isEmpty ? "" : ", and ") + count
    }
    return "They were at \(list)."
  }
}
