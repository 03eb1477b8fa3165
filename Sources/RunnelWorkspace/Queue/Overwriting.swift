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
  /// - Returns: comparisons of what was written with what stood there before.
  static func drafts(of writes: [PendingWrite], before: [PendingWrite]) -> [CompareDraft] {
    // An answer changes the number of writes, and merges none.
    guard writes.count == before.count, writes.count <= writesMax else { return [] }
    var drafts: [CompareDraft] = []
    for (new, old) in zip(writes, before) where new.id == old.id && new.bases != old.bases {
      guard new.parts.count == old.parts.count, new.bases.count == old.bases.count else { continue }
      for index in new.bases.indices where new.parts.indices.contains(index) {
        guard let theirs = new.bases[index], let base = old.bases[index],
          case .node(let mine) = old.parts[index].target,
          case .node(let written) = new.parts[index].target,
          replaces(base: base, mine: mine, theirs: theirs)
        else { continue }
        drafts.append(
          CompareDraft(
            path: new.parts[index].path, base: written.json, mine: theirs.json, isUndo: true))
      }
    }
    return drafts
  }

  /// Returns whether both sides changed the same value to different ones.
  private static func replaces(
    base: RunnelTree.Node, mine: RunnelTree.Node, theirs: RunnelTree.Node
  ) -> Bool {
    if mine == base || mine == theirs || theirs == base { return false }
    if mine.leaf != nil || theirs.leaf != nil || mine.isEmpty || theirs.isEmpty { return true }
    let keys = Set(mine.children.map(\.key)).union(theirs.children.map(\.key))
    return keys.contains { replaces(base: base[$0], mine: mine[$0], theirs: theirs[$0]) }
  }

  /// Tells the user what was replaced, and offers the comparisons.
  static func tell(_ state: inout AppState, _ drafts: [CompareDraft]) {
    guard let first = drafts.first else { return }
    state.writes.comparable = Array((drafts + state.writes.comparable).prefix(draftsMax))
    let more = drafts.count == 1 ? "" : " and \(drafts.count - 1) other places"
    let words = "your write to \(first.path)\(more) replaces what others wrote since"
    state.say(.warning, state.phrase(words, .recordCompare, "compares"))
  }
}
