import RunnelStreams
import RunnelTerminal
import RunnelTree

// Without a connection, what a replica does not know is not answered: nothing waits for it.

extension TypeAhead {
  /// The time in milliseconds after which input no longer waits for what the replica seems not to know.
  static let offlineMilliseconds: Int64 = 1000

  /// The time when waiting input is to be dropped for want of a connection, in milliseconds since 1970;
  /// nil if there is none.
  static func offlineDue(_ state: AppState) -> Int64? {
    let waiting = state.input.typeAhead
    guard state.database.origin?.isDisconnected == true, !waiting.isEmpty,
      readings.contains(waiting.reason)
    else { return nil }
    return waiting.since + offlineMilliseconds
  }

  /// Drops the input that waits for what only the server knows, if there is no connection, and gives
  /// up what it waits for.
  ///
  /// What the replica knows is answered sooner. The keys were struck for rows that do not come, so they
  /// must not act on others.
  static func letGoOffline(_ state: inout AppState) {
    guard let due = offlineDue(state), due <= state.now else { return }
    let count = state.input.typeAhead.events.count
    state.input.typeAhead = TypeAhead()
    state.input.matcher.reset()
    state.input.awaited = nil
    giveUpReading(&state)
    let keys =
      count == 1 ? "the key that waited is dropped" : "\(count) keys that waited are dropped"
    state.say(.info, "offline, and not in the replica · \(keys)")
  }

  /// Gives up the jumps and searches of the page in front, and the edit that a record was opened for.
  private static func giveUpReading(_ state: inout AppState) {
    state.tabs.tree.wanted = nil
    state.requests.giveUpCursorReads()
    state.tabs.changeFrontList { list in
      let wantedLiveEnd = list.goal.wantsLiveEnd
      list.goal.endReading()
      if wantedLiveEnd, list.reach.newer == .fetching { list.reach.newer = .more }
    }
    guard case .record(var screen)? = state.layers.last, screen.node == nil else { return }
    screen.giveUpStart()
    state.layers[state.layers.count - 1] = .record(screen)
  }
}
