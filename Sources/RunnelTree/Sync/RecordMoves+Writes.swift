import RunnelBase

// Writes that name records by former places: whoever makes them does not know yet that the records have moved.

extension RecordMoves {
  /// Returns a write, with its conditions, as it is to be made at the places where its records are now.
  ///
  /// What makes a record under a former key stays, and so does what changes a record that was made there anew.
  ///
  /// - Throws: `TreeError` if the tree cannot be read.
  package func followed(
    _ write: Write, if conditions: [WriteCondition] = [], _ reader: any TreeReader
  ) throws(TreeError) -> (write: Write, conditions: [WriteCondition]) {
    if isEmpty { return (write, conditions) }
    // Who expects a record does not make it.
    let expected = Set(
      conditions.filter { $0.isAnyObject || !$0.isAsKnown && $0.value != .null }.map(\.path))
    func now(_ path: Path, makes isMade: Bool) throws(TreeError) -> Path {
      let new = place(path)
      if new == path || isMade && hasMoved(path) && !expected.contains(path) { return path }
      let old = Path(unchecked: path.keys.dropLast(depth(below: path)))
      return try reader.summary(at: old).kind == .empty ? new : path
    }
    var result = write
    switch write {
    case .set(let path, let json): result = .set(try now(path, makes: json != .null), json)
    case .update(let path, let members):
      let newPath = try now(path, makes: false)
      if newPath != path {
        result = .update(newPath, members)
        break
      }
      var newMembers = members
      for (index, member) in members.enumerated() {
        guard let old = try? path.appending(Path(member.name)) else { continue }
        let new = try now(old, makes: member.value != .null)
        guard new != old, let name = new.relative(to: path) else { continue }
        newMembers[index].name = name.keys.map(\.text).joined(separator: "/")
      }
      result = .update(path, newMembers)
    case .copy, .move: break
    }
    var newConditions = conditions
    for (index, condition) in conditions.enumerated() {
      let isNothing = condition.value == .null && !condition.isAnyObject
      newConditions[index].path = try now(condition.path, makes: isNothing)
    }
    return (result, newConditions)
  }

  /// The number of keys of a path below the record that has moved.
  private func depth(below path: Path) -> Int {
    for depth in path.keys.indices where hasMoved(Path(unchecked: Array(path.keys[...depth]))) {
      return path.keys.count - depth - 1
    }
    return 0
  }
}
