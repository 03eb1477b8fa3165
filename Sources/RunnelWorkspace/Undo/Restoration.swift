import RunnelBase
import RunnelStreams
package import RunnelTree

/// What is put back by taking writes back or doing them again: rows that come of it are the user's own,
/// no news, and the cursor goes to the first of them.
package struct Restoration: Hashable, Sendable {
  /// How long what is written takes at most to show; later rows are news.
  package static let milliseconds: Int64 = 10_000

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

extension Restoration {
  /// What is written from now on puts back what stood at places.
  static func beginRestoration(_ state: inout AppState, of places: Set<Path>) {
    state.writes.restoration = Restoration(
      places: places, until: state.now + Restoration.milliseconds)
  }

  /// What began since goes on with what was put back before, by the same key.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - before: what was put back before; nil if the user did something else meanwhile.
  static func goOnWithRestoration(_ state: inout AppState, _ before: Restoration?) {
    state.writes.restoration?.places.formUnion(before?.places ?? [])
    state.writes.restoration?.takesCursor = before?.takesCursor ?? false
    state.writes.restoration?.firstRow = before?.firstRow
  }

  /// The user did something: what is put back from now on leaves the cursor where it is.
  static func leaveRestoration(_ state: inout AppState) {
    guard state.writes.restoration != nil else { return }
    let isUnderWay =
      state.writes.undoing.reversal != nil || state.requests.writes.values.contains { $0 == .undo }
    if isUnderWay {
      state.writes.restoration?.takesCursor = false
    } else {
      state.writes.restoration = nil
    }
  }

  /// The new rows of a change that were put back.
  ///
  /// O(new rows).
  static func restoredRows(_ state: AppState, of change: ListChange) -> Set<String> {
    guard let restoration = state.writes.restoration, state.now < restoration.until else {
      return []
    }
    return change.newRows.filter { id in
      change.records[id].map { restoration.covers($0.path) } ?? false
    }
  }

  /// The cursor goes to the first row that was put back.
  static func goToRestored(_ state: inout AppState, _ rows: Set<String>) {
    guard let restoration = state.writes.restoration, restoration.takesCursor, !rows.isEmpty else {
      return
    }
    let content = state.tabs.front.content
    let candidates = rows.union(restoration.firstRow.map { [$0] } ?? [])
    let first = candidates.compactMap { id in content.indexPath(ofRow: id).map { (id, $0) } }
      .min { $0.1 < $1.1 }
    guard let first else { return }
    state.writes.restoration?.firstRow = first.0
    state.tabs.front.list.moveTo(.row(first.0), in: content, height: state.height)
  }
}

extension WriteRequest {
  /// The place that it writes, if it is known before.
  package var place: Path? {
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
