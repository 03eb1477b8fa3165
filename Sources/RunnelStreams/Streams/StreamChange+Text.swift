import RunnelBase

// Changes as text for people and for logs.

extension ChangeSet: CustomStringConvertible {
  /// The ids of the rows that changed: `inserted a, b; updated c`; `reload` if all are to be read
  /// again.
  ///
  /// O(n) in the changes.
  public var description: String {
    if batch.isReload { return "reload" }
    let kinds = [("removed", removedIDs), ("inserted", insertedIDs), ("updated", updatedIDs)]
    let told = kinds.filter { !$0.1.isEmpty }
      .map { "\($0.0) \($0.1.joined(separator: ", "))" }
    if !told.isEmpty { return told.joined(separator: "; ") }
    return isEmpty ? "no row changed" : "rows moved"
  }
}

extension StreamChange: CustomStringConvertible {
  /// The load state, the changes, and the rows: `loaded, inserted b: [a, b]`.
  ///
  /// O(n) in the rows.
  public var description: String {
    let rows = items.map { "\($0)" }.joined(separator: ", ")
    return "\(loadState), \(changes): [\(rows)]"
  }
}
