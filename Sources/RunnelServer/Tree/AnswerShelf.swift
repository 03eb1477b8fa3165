import RunnelSync
import RunnelTree

/// What was computed of the results of queries and holds until something is written at their places: their
/// hashes, and the encoded answers to those who listen to them.
///
/// Terms. A *ticket* is for a computation that takes a while: its result is kept only if nothing was
/// written to the place since the ticket was given.
///
/// Invariants:
/// - I1. What is kept is what the tree holds, after all writes of which `forget` was told.
/// - I2. At most `countMax` results and `bytesMax` bytes are kept; the oldest go first.
///
/// Isolation: a value of the tree's thread.
struct AnswerShelf {
  static let countMax = 1000
  static let bytesMax = 33_554_432
  /// The bytes of memory of a result besides those of its keys and its answer, about.
  private static let resultBytes = 256

  private struct Entry: Sendable {
    var hash: String?
    var push: EncodedPush?
    var ticket: Int?
    let keyBytes: Int

    var bytes: Int { AnswerShelf.resultBytes + keyBytes + (push?.byteCount ?? 0) }
  }

  private var entries = PathTree<[Query: Entry]>()
  /// The queries whose results are kept, the oldest first.
  private var queries: [Query] = []
  private(set) var bytes = 0
  private var lastTicket = 0

  /// The number of results that are kept.
  var count: Int { queries.count }

  /// The hash of what a query shows; nil if it is not kept.
  func hash(of query: Query) -> String? { entry(query.kept)?.hash }

  /// The answer to a listen by one who has nothing of what the query shows; nil if it is not kept.
  func push(of query: Query) -> EncodedPush? { entry(query.kept)?.push }

  /// Keeps the hash of what a query shows.
  mutating func keep(hash: String, of query: Query) { change(query.kept) { $0.hash = hash } }

  /// Begins a computation on what a query shows now; returns its ticket.
  mutating func begin(_ query: Query) -> Int {
    lastTicket += 1
    let ticket = lastTicket
    change(query.kept) { $0.ticket = ticket }
    return ticket
  }

  /// Keeps the result of a computation, unless the place was written meanwhile; nil leaves what is kept.
  mutating func keep(hash: String?, push: EncodedPush?, of query: Query, ticket: Int) {
    let query = query.kept
    guard entry(query)?.ticket == ticket else { return }
    change(query) { entry in
      entry.ticket = nil
      if let hash { entry.hash = hash }
      if let push { entry.push = push }
    }
  }

  /// Forgets what a write to a place may have changed: the results at the place, and at those above and
  /// below it.
  ///
  /// Complexity: O(depth), and O(n) in the results that are kept if one of them is forgotten.
  mutating func forget(around place: Path) {
    guard entries.hasValues(around: place) else { return }
    var gone = Set(entries.paths(at: place))
    for depth in 0..<place.keys.count {
      let above = Path(unchecked: Array(place.keys[..<depth]))
      if entries[above] != nil { gone.insert(above) }
    }
    remove(Set(gone.flatMap { entries[$0].map { Array($0.keys) } ?? [] }))
  }

  /// Forgets everything.
  mutating func forgetAll() {
    let ticket = lastTicket
    self = AnswerShelf()
    lastTicket = ticket
  }

  /// Forgets the encoded answers, which take the most memory.
  mutating func forgetPushes() {
    for query in queries where entry(query)?.push != nil { change(query) { $0.push = nil } }
  }

  private func entry(_ query: Query) -> Entry? { entries[query.path]?[query] }

  private mutating func set(_ entry: Entry?, _ query: Query) {
    var place = entries[query.path] ?? [:]
    place[query] = entry
    entries[query.path] = place.isEmpty ? nil : place
  }

  private mutating func change(_ query: Query, _ body: (inout Entry) -> Void) {
    let old = entry(query)
    var entry = old ?? Entry(keyBytes: query.keyBytes)
    body(&entry)
    set(entry, query)
    bytes += entry.bytes - (old?.bytes ?? 0)
    if old == nil { queries.append(query) }
    var excess = 0
    var rest = bytes
    while excess < queries.count,
      rest > AnswerShelf.bytesMax || queries.count - excess > AnswerShelf.countMax
    {
      rest -= self.entry(queries[excess])?.bytes ?? 0
      excess += 1
    }
    if excess > 0 { remove(Set(queries.prefix(excess))) }
  }

  private mutating func remove(_ gone: Set<Query>) {
    for query in gone {
      bytes -= entry(query)?.bytes ?? 0
      set(nil, query)
    }
    queries.removeAll(where: gone.contains)
  }
}

extension Query {
  /// The query under which a result is kept: all orders of all that is at a place are one.
  fileprivate var kept: Query { loadsAllData ? Query(path) : self }

  /// The bytes of memory of the query, about.
  fileprivate var keyBytes: Int {
    var bytes = path.keys.reduce(0) { $0 + $1.text.utf8.count + 16 }
    for bound in [start, end] {
      if case .leaf(.string(let text))? = bound?.position.value { bytes += text.utf8.count }
    }
    return bytes
  }
}
