// What others wrote while a write waited, and that the write replaces.

extension PendingWrite {
  /// What the write replaces that it did not know when it was made.
  ///
  /// O(n) in the values of the write.
  ///
  /// - Parameter old: the same write before the origin was heard.
  /// - Returns: the places where both sides changed the same value to different ones; `mine` is what is written.
  package func replaced(since old: PendingWrite) -> [Conflict] {
    guard id == old.id, bases != old.bases, parts.count == old.parts.count,
      bases.count == old.bases.count
    else { return [] }
    var conflicts: [Conflict] = []
    for index in bases.indices where parts.indices.contains(index) {
      guard let theirs = bases[index], let base = old.bases[index],
        case .node(let mine) = old.parts[index].target,
        case .node(let written) = parts[index].target,
        PendingWrite.replaces(base: base, mine: mine, theirs: theirs)
      else { continue }
      conflicts.append(
        Conflict(path: parts[index].path, base: base, mine: written, theirs: theirs))
    }
    return conflicts
  }

  /// What the newer of some waiting writes replace that they did not know before.
  ///
  /// O(n) in the values of the writes.
  package static func replaced(
    by writes: [PendingWrite], since before: [PendingWrite]
  ) -> [Conflict] {
    let old = Dictionary(before.map { ($0.id, $0) }) { first, _ in first }
    return writes.flatMap { write in old[write.id].map { write.replaced(since: $0) } ?? [] }
  }

  /// Returns whether both sides changed the same value to different ones.
  private static func replaces(base: Node, mine: Node, theirs: Node) -> Bool {
    if mine == base || mine == theirs || theirs == base { return false }
    if mine.leaf != nil || theirs.leaf != nil || mine.isEmpty || theirs.isEmpty { return true }
    let keys = Set(mine.children.map(\.key)).union(theirs.children.map(\.key))
    return keys.contains { replaces(base: base[$0], mine: mine[$0], theirs: theirs[$0]) }
  }
}
