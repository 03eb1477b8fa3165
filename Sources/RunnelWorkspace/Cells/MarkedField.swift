import RunnelBase
import RunnelStreams
import RunnelTree

/// A field of marked records, as it was when the user began to set it.
struct MarkedField: Hashable, Sendable {
  /// A marked record, and the conditions of the write; none if a value stands where the record or
  /// what is around the field should be.
  struct Target: Hashable, Sendable {
    let path: Path
    let conditions: [WriteCondition]?

    init(_ record: Record, field: Path) {
      path = record.path
      conditions = WriteCondition.keeping(field, in: record.row.node ?? .empty, at: record.path)
    }

    fileprivate init(_ target: Target, following moves: RecordMoves) {
      path = moves.place(target.path)
      conditions = target.conditions?.map { condition in
        var condition = condition
        condition.path = moves.place(condition.path)
        return condition
      }
    }
  }

  let field: Path
  var targets: [Target]
  /// The records that are left as they are, because others changed them or put another value there.
  private(set) var changed: [Path] = []
  /// The records that others removed.
  private(set) var gone: [Path] = []

  init(_ field: Path, of records: [Record]) {
    self.field = field
    targets = records.map { Target($0, field: field) }
  }

  var paths: [Path] { targets.map(\.path) }

  /// The words for the other values that the write replaces; nil if no record has one.
  var replacedWords: String? {
    let count = targets.count { target in
      let place = Path(unchecked: target.path.keys + field.keys)
      return target.conditions?.contains { $0.path == place && $0.value != .null } == true
    }
    if count == 0 { return nil }
    return count == 1 ? "another value" : "other values in \(count)"
  }

  /// Leaves out what is not written: the records that others changed or removed meanwhile as far as
  /// the list in front shows it, and those whose field has the value already.
  ///
  /// Of records that the list does not load, only the conditions of the write can tell it.
  ///
  /// O(records).
  func writing(_ value: JSONValue, in state: AppState) -> MarkedField {
    var result = self
    result.targets = []
    let list = state.tabs.isTree ? nil : state.tabs.front
    let removed = list.map(removed) ?? []
    for target in targets {
      guard let record = list?.records[Record.id(of: target.path)] else {
        if removed.contains(target.path) {
          result.gone.append(target.path)
        } else if target.conditions == nil {
          result.changed.append(target.path)
        } else {
          result.targets.append(target)
        }
        continue
      }
      let node = record.row.node ?? .empty
      let isThere = WriteCondition.keeping(field, in: node, at: target.path) != nil
      if isThere, node[field].exportJSON == value { continue }
      if isThere, target.isMet(by: node) {
        result.targets.append(target)
      } else {
        result.changed.append(target.path)
      }
    }
    return result
  }

  /// The records that others removed, as far as the list shows it: it has lost their rows, and where not
  /// all rows are loaded also their marks, which it keeps of rows that it unloads.
  private func removed(from list: ListScreen) -> Set<Path> {
    if list.filter != nil { return [] }
    let rows = targets.map { (path: $0.path, id: Record.id(of: $0.path)) }
      .filter { $0.path.parent == list.definition.source.path }
    let isMarked = rows.contains { list.marks.contains($0.id) }
    let gone = rows.filter { row in
      list.records[row.id] == nil
        && (list.isComplete || isMarked && !list.marks.contains(row.id))
    }
    return Set(gone.map(\.path))
  }

  /// Leaves out the records that others removed meanwhile.
  ///
  /// O(records).
  mutating func leaveGone(from list: ListScreen) {
    let removed = removed(from: list)
    if removed.isEmpty { return }
    gone += targets.map(\.path).filter(removed.contains)
    targets.removeAll { removed.contains($0.path) }
  }

  /// Leaves out the record whose condition a refusal names: the list in front does not show what became of
  /// it.
  mutating func leave(namedBy refusal: Refusal) {
    guard refusal.cause == .outdated else { return }
    let refused = targets.filter { target in
      (target.conditions ?? []).contains { refusal.message.hasPrefix("\($0.path) was changed") }
    }.map(\.path)
    targets.removeAll { refused.contains($0.path) }
    changed += refused
  }

  /// The number of records that are left as they are.
  var leftCount: Int { changed.count + gone.count }

  /// Words about the records that are left as they are; empty if there are none.
  var wordsOnLeft: String {
    let changed =
      changed.isEmpty ? "" : " · others changed \(MarkedField.names(changed)): still marked"
    return changed + (gone.isEmpty ? "" : " · others removed \(MarkedField.names(gone))")
  }

  /// The keys of the first records, and how many more there are.
  static func names(_ paths: [Path]) -> String {
    let named = paths.prefix(3).map { $0.lastKey?.text ?? "/" }.joined(separator: ", ")
    return paths.count > 3 ? "\(named) and \(paths.count - 3) more" : named
  }

  /// The conditions of the write, by record.
  var conditions: [Path: [WriteCondition]] {
    Dictionary(targets.map { ($0.path, $0.conditions ?? []) }) { first, _ in first }
  }
}

extension MarkedField: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    targets = targets.map { Target($0, following: moves) }
    (changed, gone) = (changed.map(moves.place), gone.map(moves.place))
  }
}

extension MarkedField.Target {
  /// Whether a record that is shown meets the conditions.
  fileprivate func isMet(by node: RunnelTree.Node) -> Bool {
    guard let conditions else { return false }
    return conditions.allSatisfy { condition in
      guard let place = condition.path.relative(to: path) else { return false }
      let present = node[place]
      return condition.isAnyObject
        ? present.leaf == nil && !present.isEmpty : present.json == condition.value
    }
  }
}
