import RunnelStreams
import RunnelTree

// Steps whose writes were merged with what others wrote while they waited for the origin.

extension UndoHistory {
  /// Takes note of what an operation's write has replaced, so that its undo brings that back; of plain writes,
  /// the history in the file knows it.
  ///
  /// O(steps).
  mutating func learn(_ conflict: Conflict) {
    changeNewestStep { step in
      for index in step.parts.indices.reversed() {
        guard case .operation(var entry) = step.parts[index], entry.learn(conflict) else {
          continue
        }
        step.parts[index] = .operation(entry)
        return true
      }
      return false
    }
  }
}

extension ActionLogEntry {
  /// Puts both sides of a conflict in place of what was known when the record was changed; returns false if
  /// the conflict is not about this change.
  fileprivate mutating func learn(_ conflict: Conflict) -> Bool {
    guard !isCut, let below = conflict.path.relative(to: path),
      let before = try? RunnelTree.Node(json: old), let after = try? RunnelTree.Node(json: new),
      before[below] == conflict.base
    else { return false }
    old = before.replacing(below, with: conflict.theirs).exportJSON
    new = after.replacing(below, with: conflict.mine).exportJSON
    return true
  }
}
