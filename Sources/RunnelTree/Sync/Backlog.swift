/// The writes that wait at a new connection for the answers of queries, so that conflicts show.
///
/// A write waits for the queries asked at the connection at its places, above them and below them, and
/// for the writes before it that wait and share a place with it. All others pass.
///
/// Source: tree semantics, section 13.
struct Backlog: Sendable {
  /// The queries asked at the connection that are not answered, with their places.
  private var awaited: [AskID: Path] = [:]
  /// The ids of the writes that wait, in order.
  private(set) var held: [Int64] = []
  /// Where a write has to wait.
  private var blocked = PathTree<Bool>()
  /// True if something that others waited for is gone.
  private var isReviewDue = false

  /// Nothing waits.
  init() {}

  /// Begins with what was asked at a connection, and with the writes that were not answered before.
  init(awaiting asks: [AskID: Path], holding writes: [Int64]) {
    (awaited, held) = (asks, writes)
    isReviewDue = true
  }

  /// True if nothing at a place has to be waited for.
  func isFree(_ path: Path) -> Bool { !blocked.hasValues(around: path) }

  /// A write that was made now: true if it is to be sent at once, false if it waits.
  mutating func admit(_ id: Int64, _ places: [Path]) -> Bool {
    if places.allSatisfy(isFree) { return true }
    hold(id, places)
    return false
  }

  /// These asks are still not answered.
  mutating func keepWaiting(for open: Set<AskID>) {
    let left = awaited.filter { open.contains($0.key) }
    if left.count == awaited.count { return }
    awaited = left
    isReviewDue = true
  }

  /// Writes have ended that may have waited.
  mutating func review() { isReviewDue = true }

  /// Takes out the writes that need not wait any more, in order.
  ///
  /// `places` gives what a write changes; nil if it is pending no more. O(n) in the writes that wait,
  /// and nothing unless something was answered.
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
