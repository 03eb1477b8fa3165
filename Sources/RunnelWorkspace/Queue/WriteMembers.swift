import RunnelBase
import RunnelTree

// What a kept write wrote, and upon what.

extension PendingWrite {
  /// The values of the write, with their places; nil if it writes priorities, or takes them from other places.
  var members: [(path: Path, value: JSONValue)]? {
    switch write {
    case .set(let path, let value): return [(path, value)]
    case .update(let path, let updated):
      var members: [(path: Path, value: JSONValue)] = []
      for member in updated {
        // The name of a priority is no path.
        guard let name = try? Path(member.name) else { return nil }
        members.append((Path(unchecked: path.keys + name.keys), member.value))
      }
      return members
    case .copy, .move: return nil
    }
  }

  /// The node upon which the write was made at one of its places; nil if it is not known.
  func base(of path: Path) -> RunnelTree.Node? {
    if let index = parts.firstIndex(where: { $0.path == path }), bases.indices.contains(index),
      let base = bases[index]
    {
      return base
    }
    // What the origin compares is kept once, for all places of the write.
    guard let seen, let below = path.relative(to: seen.path),
      !seen.estimates.contains(where: { $0.contains(path) || path.contains($0) })
    else { return nil }
    return seen.node[below]
  }

  /// The conditions under which the write replaces only what it was made upon.
  ///
  /// A value that the origin computes, such as an increment, is an operation: it has none. Nor has a place of
  /// which nothing was known.
  var conditions: [WriteCondition] {
    var conditions: [WriteCondition] = []
    var known: Set<WriteCondition> = []
    for member in members ?? [] where member.value[ReservedName.serverValue] == nil {
      guard let base = base(of: member.path) else { continue }
      var added = [WriteCondition(member.path, base.exportJSON)]
      if base.isEmpty, let seen, let field = member.path.relative(to: seen.path), !field.isRoot,
        let kept = WriteCondition.keeping(field, in: seen.node, at: seen.path)
      {
        // A new field is not to make half a record where the record is gone.
        added = kept
      }
      conditions += added.filter { known.insert($0).inserted }
    }
    return conditions
  }
}
