import RunnelBase
import RunnelTerminal
import RunnelTree

/// What others wrote while a write waited for the origin, and that the write replaces.
///
/// A waiting write is merged field by field with what others wrote meanwhile; where both wrote a field, the
/// write wins. That is told, and what was replaced can be compared and put back.
enum Overwriting {
  /// The most waiting writes that are looked at; with more, nothing is told.
  private static let writesMax = 1000
  /// The most comparisons that are offered.
  private static let draftsMax = 100

  /// Returns what waiting writes replace that they did not know when they were made.
  ///
  /// O(n) in the values of the writes.
  ///
  /// - Parameters:
  ///   - writes: the waiting writes.
  ///   - before: those before the origin was heard.
  /// - Returns: the places where both sides wrote.
  static func conflicts(of writes: [PendingWrite], before: [PendingWrite]) -> [Conflict] {
    guard writes.count <= writesMax, before.count <= writesMax else { return [] }
    return PendingWrite.replaced(by: writes, since: before)
  }

  /// Tells the user what was replaced, and offers comparisons of what was written with what stood there
  /// before; the undo of the writes brings that back.
  static func tell(_ state: inout AppState, _ conflicts: [Conflict]) {
    for conflict in conflicts { state.writes.undoing.learn(conflict) }
    let drafts = conflicts.map { conflict in
      CompareDraft(
        path: conflict.path, base: conflict.mine.json, mine: conflict.theirs.json, isUndo: true)
    }
    guard let first = drafts.first else { return }
    state.writes.comparable = Array((drafts + state.writes.comparable).prefix(draftsMax))
    let more = drafts.count == 1 ? "" : " and \(drafts.count - 1) other places"
    let words = "your write to \(first.path)\(more) replaces what others wrote since"
    state.say(.warning, state.phrase(words, .recordCompare, "compares"))
  }
}
