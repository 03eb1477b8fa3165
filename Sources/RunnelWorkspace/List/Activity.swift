import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The action log as a view: its entries can be undone.

extension ResourceBook {
  /// The view of the action log, the newest entry first, or nil if nothing is logged.
  package var activityView: ViewDefinition? {
    guard let log = registry.log else { return nil }
    let (at, by) = (
      Path(unchecked: [Key(unchecked: "at")]), Path(unchecked: [Key(unchecked: "by")])
    )
    return ViewDefinition(
      name: "Activity",
      source: SourceDefinition(path: log, order: .key, anchor: .last, isDescending: true),
      sections: [.day(.path(at))],
      columns: [
        ColumnDefinition(field: .path(at), format: .time, width: 5),
        ColumnDefinition(field: .path(by), width: 10, minimumScreen: 40),
        ColumnDefinition(field: .value, format: .change),
        ColumnDefinition(
          field: .path(at), format: .age, width: 4, minimumScreen: 50, isMuted: true),
      ])
  }
}

/// Undoes entries of the action log.
enum Activity {
  /// The entry of the action log under the cursor, or nil if there is none.
  static func entryAtHand(_ state: AppState) -> RunnelStreams.ActionLogEntry? {
    guard state.layers.isEmpty, let record = state.tabs.frontList?.cursorRecord,
      record.path.parent == state.database.resources.registry.log
    else { return nil }
    return record.row.node.flatMap { RunnelStreams.ActionLogEntry(id: record.row.key, $0) }
  }

  /// Undoes the entry under the cursor, if its result was not changed since.
  static func undoEntry(_ state: inout AppState) {
    guard let entry = entryAtHand(state) else {
      return state.say(.info, "move to an entry to take it back")
    }
    if state.refusesWriting() { return }
    Restoration.beginRestoration(&state, of: [entry.path])
    state.submit(.undo, .undo(entry))
  }
}
