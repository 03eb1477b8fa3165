import RunnelStreams
import RunnelTerminal
import RunnelTree

// A draft that the last session kept may have been stored since: a program that is killed right after
// Enter has no time to keep that the text is no draft any more.

extension ComposeScreen {
  /// Drops the draft that the last session kept of a list, if a record with its text was added after it
  /// was typed; it would otherwise be stored twice.
  ///
  /// Only keys that hold the time of their making tell that a record came after the draft. Without
  /// one among the loaded rows, the draft stays. A record with the same text that was sent before the
  /// draft was typed is not the draft. It is done once, with the first rows: O(rows).
  static func forgetStoredDraft(_ state: inout AppState, inView view: Int) {
    let screen = state.tabs.lists[view]
    guard screen.line.isDraftRestored, screen.reach.phase == .loaded else { return }
    state.tabs.lists[view].line.settle()
    guard let time = screen.line.draftTime, let field = screen.definition.compose else { return }
    let before = screen.line.sentBefore
    let first = firstKey(at: min(time, before.since ?? time))
    let storedCount = screen.records.values.count { record in
      let key = record.row.key
      return !screen.isTransient(record) && PushIDGenerator.isPushID(key) && !(key < first)
        && before.stored.map { $0 < key } ?? true
        && (record.row.node ?? .empty)[field].leaf == .string(screen.line.draft)
    }
    if storedCount <= before.equalCount { return }
    forgetDraft(&state, of: .send(view: view, text: screen.line.draft, attempt: AppRequestID(0)))
    state.say(.info, "what you were typing here was saved: it is no draft any more")
  }

  /// The least key that is made at a time, which is in milliseconds since 1970.
  private static func firstKey(at time: Int64) -> RunnelTree.Key {
    var (keys, random) = (PushIDGenerator(), LeastRandom())
    return keys.next(now: time, random: &random)
  }
}

/// Random numbers that are all 0.
private struct LeastRandom: RandomNumberGenerator {
  mutating func next() -> UInt64 { 0 }
}
