import RunnelBase
import RunnelStreams
package import RunnelTree

/// The rows that an undo or redo brings back: they are the user's own, so they do not count as new,
/// and the cursor goes to the first of them.
package struct Restoration: Hashable, Sendable {
  /// The time in milliseconds within which restored rows arrive; later rows count as new.
  package static let milliseconds: Int64 = 10_000

  /// The places that are restored.
  var places: Set<Path>
  /// The time until which rows that arrive there count as restored, in milliseconds since 1970.
  var until: Int64
  /// Whether the cursor goes to the restored rows; false once the user does something else.
  var takesCursor = true
  /// The first restored row in its list, or nil.
  var firstRow: String?

  /// Returns whether a record stands at one of the places, or below one.
  ///
  /// O(depth).
  func covers(_ path: Path) -> Bool {
    if places.contains(.root) { return true }
    return path.keys.indices.contains { places.contains(Path(unchecked: Array(path.keys[...$0]))) }
  }
}

extension Restoration {
  /// Begins a restoration of places, by the writes that follow.
  static func beginRestoration(_ state: inout AppState, of places: Set<Path>) {
    state.writes.restoration = Restoration(
      places: places, until: state.now + Restoration.milliseconds)
  }

  /// Continues an earlier restoration in the present one, for repeated undos.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - before: the earlier restoration; nil if the user did something else meanwhile.
  static func goOnWithRestoration(_ state: inout AppState, _ before: Restoration?) {
    state.writes.restoration?.places.formUnion(before?.places ?? [])
    state.writes.restoration?.takesCursor = before?.takesCursor ?? false
    state.writes.restoration?.firstRow = before?.firstRow
  }

  /// Notes that the user did something: rows restored from now on do not move the cursor.
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

  /// Returns the new rows of a change that are restored ones.
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

  /// Moves the cursor to the first restored row.
  static func goToRestored(_ state: inout AppState, _ rows: Set<String>) {
    guard let view = state.tabs.front.view else { return }
    guard let restoration = state.writes.restoration, restoration.takesCursor, !rows.isEmpty else {
      return
    }
    let content = state.tabs.lists[view].content
    let candidates = rows.union(restoration.firstRow.map { [$0] } ?? [])
    let first = candidates.compactMap { id in content.indexPath(ofRow: id).map { (id, $0) } }
      .min { $0.1 < $1.1 }
    guard let first else { return }
    state.writes.restoration?.firstRow = first.0
    state.tabs.lists[view].list.moveTo(
      .row(first.0), in: content, height: state.tabs.frontHeight(in: state.height))
  }
}

extension WriteRequest {
  /// The place that the request writes, or nil if it is not known in advance.
  package var place: Path? {
    switch self {
    case .set(let path, _), .update(let path, _), .remove(let path): path
    case .guarded(let request, _), .taking(_, _, let request): request.place
    case .undo(let entry): entry.path
    case .push, .pushAll, .removeAll, .operation, .append, .undoWrite: nil
    }
  }

  /// The places whose values come back when the request is undone or redone, as far as they are
  /// known in advance; for new records, their collection.
  var restoredPlaces: [Path] {
    switch self {
    case .push(let path, _), .pushAll(let path, _): [path]
    case .removeAll(let path, let keys): keys.map { Path(unchecked: path.keys + [$0]) }
    case .guarded(let request, _), .taking(_, _, let request): request.restoredPlaces
    case .set, .update, .remove, .operation, .append, .undo, .undoWrite:
      place.map { [$0] } ?? []
    }
  }

  /// The places that the request removes, as far as they are known in advance.
  var removedPlaces: [Path] {
    switch self {
    case .remove(let path): [path]
    case .removeAll: restoredPlaces
    case .guarded(let request, _), .taking(_, _, let request): request.removedPlaces
    case .set, .update, .push, .pushAll, .operation, .append, .undo, .undoWrite: []
    }
  }

  /// Returns whether the request writes at a place, above it or below it, as far as that is known
  /// in advance.
  ///
  /// O(places).
  func writes(at path: Path) -> Bool {
    if case .removeAll = self { return restoredPlaces.contains { $0.contains(path) } }
    guard let place else { return false }
    return place.contains(path) || path.contains(place)
  }
}

extension UndoHistory.Step {
  /// The places whose values come back when the step is undone or redone.
  var restoredPlaces: Set<Path> {
    places.union(
      parts.compactMap { part in
        if case .operation(let entry) = part { entry.path } else { nil }
      })
  }

  /// The places of records that come back when the step is undone.
  var removedPlaces: Set<Path> {
    removed.union(
      parts.compactMap { part in
        if case .operation(let entry) = part, entry.kind == .destroy { entry.path } else { nil }
      })
  }
}
