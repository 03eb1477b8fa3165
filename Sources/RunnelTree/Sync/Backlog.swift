/// The writes that wait, after a new connection, for the answers to queries, so that conflicts are
/// found.
///
/// A write waits for the queries that were asked when the connection was made, if they are at one
/// of its places, above or below it; and for earlier waiting writes that share a place with it. All
/// other writes are sent at once.
///
/// Source: tree semantics, section 13.
struct Backlog: Sendable {
  /// The queries asked at the connection that are not answered yet, with their places.
  private var awaited: [AskID: Path] = [:]
  /// The ids of the writes that wait, in order.
  private(set) var held: [Int64] = []
  /// The places at which a write has to wait.
  private var blocked = PathTree<Bool>()
  /// True if something that writes waited for has ended.
  private var isReviewDue = false

  /// Makes a backlog in which nothing waits.
  init() {}

  /// Makes a backlog of the queries asked at a connection and the writes that are pending then.
  init(awaiting asks: [AskID: Path], holding writes: [Int64]) {
    (awaited, held) = (asks, writes)
    isReviewDue = true
  }

  /// True if a write to a place need not wait.
  func isFree(_ path: Path) -> Bool { !blocked.hasValues(around: path) }

  /// Takes a write that was just made; returns true if it is to be sent at once, false if it waits.
  mutating func admit(_ id: Int64, _ places: [Path]) -> Bool {
    if places.allSatisfy(isFree) { return true }
    hold(id, places)
    return false
  }

  /// Goes on waiting only for these asks, which are still not answered.
  mutating func keepWaiting(for open: Set<AskID>) {
    let left = awaited.filter { open.contains($0.key) }
    if left.count == awaited.count { return }
    awaited = left
    isReviewDue = true
  }

  /// Notes that writes have ended which may have been waiting.
  mutating func review() { isReviewDue = true }

  /// Removes and returns the writes that no longer have to wait, in order.
  ///
  /// `places` returns the places that a write changes, or nil if it is no longer pending. O(n) in
  /// the waiting writes; nothing is done unless something was answered.
  mutating func takeReady(_ places: (Int64) -> [Path]?) -> [Int64] {
    guard isReviewDue else { return [] }
    isReviewDue = false
    blocked = PathTree()
    for path in awaited.values { blocked[path] = true }
    let waiting = held
    held = []
    var ready: [Int64] = []
    for id in waiting {
      guard let changed = places(id) else { continue }
      if changed.allSatisfy(isFree) { ready.append(id) } else { hold(id, changed) }
    }
    return ready
  }

  private mutating func hold(_ id: Int64, _ places: [Path]) {
    held.append(id)
    for path in places { blocked[path] = true }
  }
}
