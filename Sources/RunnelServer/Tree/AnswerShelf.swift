import RunnelSync
import RunnelTree

/// What was computed of whole places and holds until something is written there: their hashes, and the
/// encoded answers to those who listen to them.
///
/// Terms. A *ticket* is for a computation that takes a while: its result is kept only if nothing was
/// written to the place since the ticket was given.
///
/// Invariants:
/// - I1. What is kept is what the tree holds, after all writes of which `forget` was told.
/// - I2. At most `countMax` places and `bytesMax` bytes are kept; the oldest go first.
///
/// Isolation: a value of the tree's thread.
struct AnswerShelf {
  static let countMax = 1000
  static let bytesMax = 33_554_432
  /// The bytes of memory of a place besides those of its keys and its answer, about.
  private static let placeBytes = 256

  private struct Entry: Sendable {
    var hash: String?
    var push: EncodedPush?
    var ticket: Int?
    let keyBytes: Int

    var bytes: Int { AnswerShelf.placeBytes + keyBytes + (push?.byteCount ?? 0) }
  }

  private var entries = PathTree<Entry>()
  /// The places that are kept, the oldest first.
  private var places: [Path] = []
  private(set) var bytes = 0
  private var lastTicket = 0

  /// The number of places that are kept.
  var count: Int { places.count }

  /// The hash of what is at a place; nil if it is not kept.
  func hash(of place: Path) -> String? { entries[place]?.hash }

  /// The answer to a listen to all of a place by one who has nothing of it; nil if it is not kept.
  func push(of place: Path) -> EncodedPush? { entries[place]?.push }

  /// Keeps the hash of what is at a place.
  mutating func keep(hash: String, of place: Path) { change(place) { $0.hash = hash } }

  /// Begins a computation on what is at a place now; returns its ticket.
  mutating func begin(_ place: Path) -> Int {
    lastTicket += 1
    let ticket = lastTicket
    change(place) { $0.ticket = ticket }
    return ticket
  }

  /// Keeps the result of a computation, unless the place was written meanwhile; nil leaves what is kept.
  mutating func keep(hash: String?, push: EncodedPush?, of place: Path, ticket: Int) {
    guard entries[place]?.ticket == ticket else { return }
    change(place) { entry in
      entry.ticket = nil
      if let hash { entry.hash = hash }
      if let push { entry.push = push }
    }
  }

  /// Forgets what a write to a place may have changed: the place, and those above and below it.
  ///
  /// Complexity: O(depth), and O(n) in the places that are kept if one of them is forgotten.
  mutating func forget(around place: Path) {
    guard entries.hasValues(around: place) else { return }
    var gone = Set(entries.paths(at: place))
    for depth in 0..<place.keys.count {
      let above = Path(unchecked: Array(place.keys[..<depth]))
      if entries[above] != nil { gone.insert(above) }
    }
    remove(gone)
  }

  /// Forgets everything.
  mutating func forgetAll() {
    let ticket = lastTicket
    self = AnswerShelf()
    lastTicket = ticket
  }

  /// Forgets the encoded answers, which take the most memory.
  mutating func forgetPushes() {
    for place in places where entries[place]?.push != nil { change(place) { $0.push = nil } }
  }

  private mutating func change(_ place: Path, _ body: (inout Entry) -> Void) {
    let old = entries[place]
    var entry =
      old ?? Entry(keyBytes: place.keys.reduce(0) { $0 + $1.text.utf8.count + 16 })
    body(&entry)
    entries[place] = entry
    bytes += entry.bytes - (old?.bytes ?? 0)
    if old == nil { places.append(place) }
    var excess = 0
    var rest = bytes
    while excess < places.count,
      rest > AnswerShelf.bytesMax || places.count - excess > AnswerShelf.countMax
    {
      rest -= entries[places[excess]]?.bytes ?? 0
      excess += 1
    }
    if excess > 0 { remove(Set(places.prefix(excess))) }
  }

  private mutating func remove(_ gone: Set<Path>) {
    for place in gone {
      bytes -= entries[place]?.bytes ?? 0
      entries[place] = nil
    }
    places.removeAll(where: gone.contains)
  }
}
