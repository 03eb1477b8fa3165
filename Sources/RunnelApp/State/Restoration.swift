import RunnelBase
import RunnelStreams
import RunnelTree

/// What is put back by taking writes back or doing them again: rows that come of it are the user's own,
/// no news, and the cursor goes to the first of them.
struct Restoration: Hashable, Sendable {
  /// How long what is written takes at most to show; later rows are news.
  static let milliseconds: Int64 = 10_000

  /// Where something is put back.
  var places: Set<Path>
  /// Until when rows that arrive there are those that are put back, in milliseconds since 1970.
  var until: Int64
  /// Whether the cursor goes along: until the user does something else.
  var takesCursor = true
  /// The first of the rows that are back, in the list that they are in.
  var firstRow: String?

  /// True for a record that stands at one of the places, or below one.
  ///
  /// O(depth).
  func covers(_ path: Path) -> Bool {
    if places.contains(.root) { return true }
    return path.keys.indices.contains { places.contains(Path(unchecked: Array(path.keys[...$0]))) }
  }
}

extension AppState {
  /// What is written from now on puts back what stood at places.
  mutating func beginRestoration(of places: Set<Path>) {
    restoration = Restoration(places: places, until: now + Restoration.milliseconds)
  }

  /// What began since goes on with what was put back before, by the same key.
  ///
  /// - Parameter before: what was put back before; nil if the user did something else meanwhile.
  mutating func goOnWithRestoration(_ before: Restoration?) {
    restoration?.places.formUnion(before?.places ?? [])
    restoration?.takesCursor = before?.takesCursor ?? false
    restoration?.firstRow = before?.firstRow
  }

  /// The user did something: what is put back from now on leaves the cursor where it is.
  mutating func leaveRestoration() {
    guard restoration != nil else { return }
    let isUnderWay = undoing.reversal != nil || requests.writes.values.contains { $0 == .undo }
    if isUnderWay { restoration?.takesCursor = false } else { restoration = nil }
  }

  /// The new rows of a change that were put back.
  ///
  /// O(new rows).
  func restoredRows(of change: ListChange) -> Set<String> {
    guard let restoration, now < restoration.until else { return [] }
    return change.newRows.filter { id in
      change.records[id].map { restoration.covers($0.path) } ?? false
    }
  }

  /// The cursor goes to the first row that was put back.
  mutating func goToRestored(_ rows: Set<String>) {
    guard let restoration, restoration.takesCursor, !rows.isEmpty else { return }
    let content = lists[active].content
    let candidates = rows.union(restoration.firstRow.map { [$0] } ?? [])
    let first = candidates.compactMap { id in content.indexPath(ofRow: id).map { (id, $0) } }
      .min { $0.1 < $1.1 }
    guard let first else { return }
    self.restoration?.firstRow = first.0
    lists[active].list.moveTo(.row(first.0), in: content, height: height)
  }
}

extension WriteRequest {
  /// The place that it writes, if it is known before.
  var place: Path? {
    switch self {
    case .set(let path, _), .update(let path, _), .remove(let path): path
    case .guarded(let request, _): request.place
    case .undo(let entry): entry.path
    case .push, .operation, .append, .undoWrite: nil
    }
  }
}

extension UndoHistory.Step {
  /// Where something stands again when it is taken back, or done again.
  var restoredPlaces: Set<Path> {
    places.union(
      parts.compactMap { part in
        if case .operation(let entry) = part { entry.path } else { nil }
      })
  }
}
