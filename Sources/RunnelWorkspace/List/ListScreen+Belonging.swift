import RunnelBase
import RunnelStreams
import RunnelTree

// Records whose rows the list has lost: others may have removed them, or they only do not belong to it any more.
// Of unloaded rows the list is not told what becomes of them; that is checked when their records are written.

extension ListScreen {
  /// Whether a record whose row was lost does not exist any more; otherwise it may only have left the list.
  var losesOnlyRemovedRows: Bool {
    let source = definition.source
    let isWhole = isComplete || source.order == .key && definition.also.isEmpty
    return isWhole && source.filter == nil && source.equalTo == nil
  }

  /// Returns the conditions under which a record still belongs to the list: the fields that its `where` tests
  /// are as they were; none without a `where`.
  func conditionsOfBelonging(_ node: RunnelTree.Node, at path: Path) -> [WriteCondition] {
    let fields = definition.source.filter?.testedFields ?? []
    return fields.flatMap { field -> [WriteCondition] in
      switch field {
      case .child(let field):
        WriteCondition.keeping(field, in: node, at: path) ?? [WriteCondition(path, node.json)]
      case .value: [WriteCondition(path, node.json)]
      case .key, .priority: []
      }
    }
  }
}

extension Refusal {
  /// Returns the records that others have changed meanwhile.
  ///
  /// O(n) in the records and the places.
  func changed(of records: [Path]) -> [Path] {
    if cause != .outdated || places.isEmpty { return [] }
    let changed = Set(
      places.flatMap { place in (0...place.keys.count).map { place.keys.prefix($0) } })
    return records.filter { changed.contains($0.keys[...]) }
  }
}

extension ChildPredicate {
  /// The fields that the predicate tests.
  fileprivate var testedFields: [RowField] {
    switch self {
    case .compare(let field, _, _), .exists(let field), .matches(let field, _): [field]
    case .all(let parts), .any(let parts): parts.flatMap(\.testedFields)
    case .not(let part): part.testedFields
    }
  }
}
