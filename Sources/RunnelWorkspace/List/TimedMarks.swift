/// Rows that are marked for a while, each until its own time.
///
/// Times that are given ascend, as those of a clock do; one that was set back only lets marks stay
/// longer. So the marks that end stand at the front of a queue, and a change costs what it marks.
package struct TimedMarks: Hashable, Sendable {
  private struct Entry: Hashable {
    var id: String
    var until: Int64
  }

  private var ends: [String: Int64] = [:]
  /// The marks in the order in which they were made; those before `first` have ended.
  private var queue: [Entry] = []
  private var first = 0

  /// True if no row is marked.
  package var isEmpty: Bool { ends.isEmpty }

  /// The ids of the rows that are marked.
  var ids: Set<String> { Set(ends.keys) }

  /// Until when a row is marked, in milliseconds since 1970; nil if it is not.
  subscript(id: String) -> Int64? { ends[id] }

  /// When the next mark ends; nil if there is none.
  ///
  /// It may be that of a mark that was made anew since.
  var nextEnd: Int64? { first < queue.count ? queue[first].until : nil }

  /// Marks a row until a time.
  package mutating func mark(_ id: String, until: Int64) {
    ends[id] = until
    queue.append(Entry(id: id, until: until))
  }

  /// Ends the marks whose time has come.
  ///
  /// O(1) for each mark, however long it lasted.
  package mutating func end(at now: Int64) {
    while first < queue.count, queue[first].until <= now {
      let entry = queue[first]
      if let until = ends[entry.id], until <= now { ends[entry.id] = nil }
      first += 1
    }
    if first == queue.count {
      (queue, first) = ([], 0)
    } else if first > 1024, first * 2 > queue.count {
      queue.removeFirst(first)
      first = 0
    }
  }
}
