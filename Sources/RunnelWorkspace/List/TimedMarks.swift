/// Marks on rows that end by themselves, each at its own time.
///
/// New marks are expected to end after older ones, as times of a clock ascend; if the clock is set
/// back, marks only stay longer. So the marks that end are at the front of a queue, and the cost is
/// O(1) per mark.
package struct TimedMarks: Hashable, Sendable {
  private struct Entry: Hashable {
    var id: String
    var until: Int64
  }

  private var ends: [String: Int64] = [:]
  /// The marks in the order in which they were made; those before `first` have ended.
  private var queue: [Entry] = []
  private var first = 0

  /// Whether no row is marked.
  package var isEmpty: Bool { ends.isEmpty }

  /// The ids of the marked rows.
  var ids: Set<String> { Set(ends.keys) }

  /// The time when the mark of a row ends, in milliseconds since 1970; nil if the row is not
  /// marked.
  subscript(id: String) -> Int64? { ends[id] }

  /// The time when the next mark ends, or nil if there is none.
  ///
  /// It may be the end of a mark that was renewed since.
  var nextEnd: Int64? { first < queue.count ? queue[first].until : nil }

  /// Marks a row until a time, in milliseconds since 1970.
  package mutating func mark(_ id: String, until: Int64) {
    ends[id] = until
    queue.append(Entry(id: id, until: until))
  }

  /// Ends the marks whose time has come.
  ///
  /// O(1) for each mark.
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
