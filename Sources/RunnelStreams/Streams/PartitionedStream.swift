public import RunnelBase

/// The rows of a stream, distributed over sections by a rule.
///
/// Within a section rows stand in the order of the source; the source's own sections do not matter.
/// A row that the rule puts elsewhere after a change is one move. Sections come and go with their
/// rows, except those that are fixed.
///
/// It follows its source as long as it lives, and does not start or stop it.
///
/// Cost of a change: O(t log t) in the rows that it touches, the copying of the sections they are
/// in, and one pass over a number for each row. If the source itself adds, removes or moves
/// sections, everything is distributed anew.
public final class PartitionedStream<Item: KeyedItem, Section: Comparable & Hashable>:
  SectionedStream
{
  /// The sections in the order of `Section`, each with its rows.
  public private(set) var sections: [StreamSection<Item>] = []
  /// How far the source is loaded.
  public private(set) var loadState = LoadState.idle

  private let source: any SectionedStream<Item>
  private let partition: (Item) -> Section
  private let sectionID: (Section) -> String
  private let fixed: Set<Section>
  private let hub = ChangeHub<StreamChange<Item>>()
  private var token: StreamToken?
  /// What each of the sections stands for.
  private var keys: [Section] = []
  /// For each row of the source, in the source's order over all its sections, the section it is in.
  private var assignment: [Int32] = []
  /// How many rows each section of the source has.
  private var sourceCounts: [Int] = []

  /// Makes a partition of a stream, which may have rows already.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - fixed: sections that are shown even if they are empty.
  ///   - sectionID: the id of a section; two sections have two ids.
  ///   - partition: the section of a row. If it looks at more than the row, `repartition` must be
  ///     called when that changes.
  public init(
    _ source: any SectionedStream<Item>, fixed: [Section] = [],
    sectionID: @escaping (Section) -> String, partition: @escaping (Item) -> Section
  ) {
    self.source = source
    self.fixed = Set(fixed)
    self.sectionID = sectionID
    self.partition = partition
    token = source.observe { [weak self] change in self?.follow(change) }
  }

  deinit {
    if let token { source.cancel(token) }
  }
}

// MARK: Reading

extension PartitionedStream {
  /// The row with a key.
  ///
  /// O(n).
  public func item(forKey key: String) -> Item? {
    indexPath(forKey: key).map { sections[$0.section].items[$0.row] }
  }

  /// The place of the row with a key.
  ///
  /// O(n).
  public func indexPath(forKey key: String) -> IndexPath? {
    for (section, content) in sections.enumerated() {
      if let row = content.items.firstIndex(where: { $0.key == key }) {
        return IndexPath(section: section, row: row)
      }
    }
    return nil
  }

  /// What each of the sections stands for, in order.
  public var sectionKeys: [Section] { keys }

  /// Tells the present state and what happens from now on.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }

  /// Applies the rule to every row again, because what it depends on changed.
  ///
  /// O(n).
  public func repartition() {
    hub.perform { [self] in
      let changes = distributeAnew(source.sections)
      return changes.isEmpty ? nil : change(changes)
    }
  }
}

// MARK: Following

extension PartitionedStream {
  private func follow(_ change: StreamChange<Item>) {
    hub.perform { [self] in
      let before = loadState
      loadState = change.loadState
      var changes = distribute(change)
      if changes.isEmpty && before == loadState { return nil }
      if !changes.batch.isReload { changes.arrivedKeys = change.changes.arrivedKeys }
      return self.change(changes)
    }
  }

  private func distribute(_ change: StreamChange<Item>) -> ChangeSet {
    if change.changes.isEmpty { return ChangeSet() }
    guard var walk = SourceWalk(change, oldCounts: sourceCounts) else {
      return distributeAnew(change.sections)
    }
    let newKeys = walk.inserted.map(partition)
    let table = SectionTable(
      zip(keys, sections).map { ($0, $1.items.count) }, adding: newKeys,
      removing: walk.removed.map { Int(assignment[$0]) }, fixed: fixed)
    walk.run(&assignment, newSections: newKeys.map { table.index(of: $0) }, table)
    sourceCounts = change.sections.map(\.items.count)
    return carryOut(walk, table, changed: Set(change.changes.updatedKeys))
  }

  /// Applies to each section what the walk found of it.
  private func carryOut(
    _ walk: SourceWalk<Item>, _ table: SectionTable<Section>, changed: Set<String>
  ) -> ChangeSet {
    var new = table.keys.map { StreamSection<Item>(id: sectionID($0)) }
    var (oldRows, newRows): ([SectionedDiff.Row], [SectionedDiff.Row]) = ([], [])
    for (index, section) in sections.enumerated() {
      oldRows += walk.edits[index].removedRows(of: section.items, section: index)
    }
    for index in new.indices {
      let origin = table.origins[index]
      let edit = origin.map { walk.edits[$0] } ?? walk.newEdits[index]
      new[index].items = (origin.map { sections[$0].items } ?? []).applying(edit)
      newRows += edit.insertedRows(section: index)
    }
    let changes = SectionedDiff.changes(
      from: .init(sections, touched: oldRows), to: .init(new, touched: newRows), changed: changed)
    (sections, keys) = (new, table.keys)
    return changes
  }

  /// Distributes all rows, and finds out what became different.
  private func distributeAnew(_ source: [StreamSection<Item>]) -> ChangeSet {
    let items = source.flatMap(\.items)
    let homes = items.map(partition)
    let table = SectionTable([], adding: homes, removing: [], fixed: fixed)
    var new = table.keys.map { StreamSection<Item>(id: sectionID($0)) }
    assignment = homes.map { Int32(table.index(of: $0)) }
    var rows: [[Item]] = Array(repeating: [], count: new.count)
    for (item, section) in zip(items, assignment) { rows[Int(section)].append(item) }
    for index in new.indices { new[index].items = Rows(rows[index]) }
    sourceCounts = source.map(\.items.count)
    let changes = SectionedDiff.changes(from: sections, to: new)
    (sections, keys) = (new, table.keys)
    return changes
  }
}
