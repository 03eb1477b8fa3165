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
    /// The conditions under which the record still belongs to the list, for when its row is unloaded.
    let belonging: [WriteCondition]
    /// Whether the list does not show what has become of the record.
    fileprivate(set) var isUnseen = false

    init(_ record: Record, field: Path, in list: ListScreen) {
      let node = record.row.node ?? .empty
      path = record.path
      conditions = WriteCondition.keeping(field, in: node, at: path)
      belonging = list.conditionsOfBelonging(node, at: path)
    }

    fileprivate init(_ target: Target, following moves: RecordMoves) {
      let moved = { (condition: WriteCondition) in
        var condition = condition
        condition.path = moves.place(condition.path)
        return condition
      }
      path = moves.place(target.path)
      conditions = target.conditions?.map(moved)
      belonging = target.belonging.map(moved)
      isUnseen = target.isUnseen
    }
  }

  let field: Path
  var targets: [Target]
  /// The records that are left as they are, because others changed them or put another value there.
  private(set) var changed: [Path] = []
  /// The records that others removed, or that have left the list.
  private(set) var gone: [Path] = []
  /// Whether others removed all of them, as far as the list can tell.
  private var areRemoved = true

  init(_ field: Path, of records: [Record], in list: ListScreen) {
    self.field = field
    targets = records.map { Target($0, field: field, in: list) }
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
  /// Of records that the list does not load, only the conditions of the write can tell it; they also say that
  /// its `where` chooses the record as before.
  ///
  /// O(records).
  func writing(_ value: JSONValue, in state: AppState) -> MarkedField {
    var result = self
    result.targets = []
    let list = state.tabs.frontList
    let removed = list.map(removed) ?? []
    if let list, !removed.isEmpty { result.areRemoved = list.losesOnlyRemovedRows }
    for target in targets {
      guard let record = list?.records[Record.id(of: target.path)] else {
        if removed.contains(target.path) {
          result.gone.append(target.path)
        } else if target.conditions == nil {
          result.changed.append(target.path)
        } else {
          var target = target
          target.isUnseen = true
          result.targets.append(target)
        }
        continue
      }
      let node = record.row.node ?? .empty
      let isThere = WriteCondition.keeping(field, in: node, at: target.path) != nil
      if isThere, node[field].exportJSON == value { continue }
      if isThere, target.isMet(by: node) {
        var target = target
        target.isUnseen = false
        result.targets.append(target)
      } else {
        result.changed.append(target.path)
      }
    }
    return result
  }

  /// The records that others removed or took from the list, as far as it shows that: it has lost their rows, and
  /// where not all rows are loaded also their marks, which it keeps of rows that it unloads.
  private func removed(from list: ListScreen) -> Set<Path> {
    if list.filtering.filter != nil { return [] }
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
    areRemoved = list.losesOnlyRemovedRows
    gone += targets.map(\.path).filter(removed.contains)
    targets.removeAll { removed.contains($0.path) }
  }

  /// Leaves out the records whose conditions a refusal names, and returns them: the list in front does not show
  /// what became of them.
  @discardableResult
  mutating func leave(namedBy refusal: Refusal) -> [Path] {
    let refused = refusal.changed(of: paths)
    let left = Set(refused)
    targets.removeAll { left.contains($0.path) }
    changed += refused
    return refused
  }

  /// The number of records that are left as they are.
  var leftCount: Int { changed.count + gone.count }

  /// Words about the records that are left as they are; empty if there are none.
  var wordsOnLeft: String {
    MarkedField.words(onChanged: changed) + MarkedField.words(onGone: gone, areRemoved: areRemoved)
  }

  static func words(onChanged paths: [Path]) -> String {
    paths.isEmpty ? "" : " · others changed \(names(paths)): still marked"
  }

  static func words(onGone paths: [Path], areRemoved: Bool) -> String {
    if paths.isEmpty { return "" }
    return areRemoved
      ? " · others removed \(names(paths))" : " · no longer in this list: \(names(paths))"
  }

  /// The keys of the first records, and how many more there are.
  static func names(_ paths: [Path]) -> String {
    let named = paths.prefix(3).map { $0.lastKey.map { WritableKey.name(of: $0.text) } ?? "/" }
      .joined(separator: ", ")
    return paths.count > 3 ? "\(named) and \(paths.count - 3) more" : named
  }

  /// The conditions of the write, by record.
  var conditions: [Path: [WriteCondition]] {
    let kept = targets.map { ($0.path, ($0.conditions ?? []) + ($0.isUnseen ? $0.belonging : [])) }
    return Dictionary(kept) { first, _ in first }
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
