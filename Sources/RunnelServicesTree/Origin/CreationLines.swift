import RunnelTree

/// The creations of each service, in the order in which they were written.
///
/// A creation leaves after those before it, so that a chat keeps its lines. One of unknown outcome is passed:
/// it may wait for the user. A write of several records stands in no line: it goes on one after the other.
struct CreationLines: Sendable {
  /// What a creation is to those behind it.
  enum State {
    /// It is done, or was given up.
    case gone
    /// It has left, or nobody knows what became of it.
    case passed
    /// It comes first.
    case open
  }

  /// A line.
  private struct Line: Sendable {
    /// The creations, the oldest first.
    var places: [(id: Int64, record: RecordID)] = []
    /// The number of those that are gone: the first ones.
    var goneCount = 0
    /// The records that are to be examined once they come first.
    var held: Set<RecordID> = []
    /// True if one leaves only after those before it are answered.
    var isAlone = false

    /// Returns the first creation that others wait for.
    ///
    /// O(k) in those under way and of unknown outcome.
    mutating func first(_ state: (Int64, RecordID) -> State) -> (id: Int64, record: RecordID)? {
      while goneCount < places.count,
        case .gone = state(places[goneCount].id, places[goneCount].record)
      {
        goneCount += 1
      }
      // The room is given up when they are half of all.
      if goneCount > 0, goneCount * 2 >= places.count {
        places.removeFirst(goneCount)
        goneCount = 0
      }
      return places[goneCount...].first { place in
        if case .open = state(place.id, place.record) { true } else { false }
      }
    }
  }

  private var lines: [Key: Line] = [:]
  /// The services with held creations.
  private var waiting: Set<Key> = []

  /// Adds a creation, mostly as the last one.
  mutating func add(_ id: Int64, _ record: RecordID) {
    var place = lines[record.service]?.places.count ?? 0
    let first = lines[record.service]?.goneCount ?? 0
    while place > first, let before = lines[record.service]?.places[place - 1], before.id > id {
      place -= 1
    }
    lines[record.service, default: Line()].places.insert((id, record), at: place)
  }

  /// True if no creation before this one comes first.
  mutating func isNext(
    _ service: Key, _ id: Int64, _ state: (Int64, RecordID) -> State
  ) -> Bool {
    guard let first = lines[service]?.first(state) else { return true }
    return first.id >= id
  }

  /// Has a creation wait until it comes first.
  mutating func hold(_ record: RecordID, isAlone: Bool) {
    lines[record.service]?.held.insert(record)
    lines[record.service]?.isAlone = isAlone
    waiting.insert(record.service)
  }

  /// Takes a held creation that comes first now; nil if there is none.
  mutating func takeHeld(_ state: (Int64, RecordID, Bool) -> State) -> RecordID? {
    for service in waiting.sorted() {
      let isAlone = lines[service]?.isAlone == true
      let first = lines[service]?.first { state($0, $1, isAlone) }
      // What was held and is gone is not examined any more.
      if first == nil { lines[service]?.held = [] }
      let taken = first.flatMap { lines[service]?.held.remove($0.record) }
      if lines[service]?.held.isEmpty != false { waiting.remove(service) }
      if let taken { return taken }
    }
    return nil
  }
}
