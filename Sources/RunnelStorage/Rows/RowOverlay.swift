import RunnelTree

/// An overlay over a row store that writes each row once, however often a transaction changes it.
///
/// It shows the other store with the changes applied, and holds writes back until `flush`. So many
/// writes in one transaction count a node's children once, and each of them can be undone
/// completely (`attempt`).
///
/// Complexity: reading costs as much as in the other store, and O(n) in the changes to the same
/// split node.
package final class RowOverlay: RowStore {
  /// The most changes that are held back, outside of `attempt`.
  private static let heldCountMax = 10_000

  private let base: any RowStore
  /// The changes to each split node, and to the rows above the trees.
  private var changes: [Int64: SplitChanges] = [:]
  /// The values of `changes` before the attempt, for the split nodes that the attempt changed.
  private var before: [Int64: SplitChanges?]?
  /// The number of changes since the last flush.
  private var heldCount = 0

  package init(_ base: any RowStore) { self.base = base }

  /// Runs `body`; if it throws, its writes are undone.
  ///
  /// Attempts are not nested.
  package func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    precondition(before == nil, "One write is attempted after the other.")
    before = [:]
    do {
      let result = try body()
      before = nil
      return result
    } catch {
      for (split, old) in before ?? [:] { changes[split] = old }
      before = nil
      throw error
    }
  }

  /// Writes the held-back changes to the other store.
  ///
  /// O(n log n) in the changes.
  ///
  /// - Throws: errors of the storage; the transaction must then be rolled back.
  package func flush() throws {
    precondition(before == nil, "What is only attempted is not written.")
    for (split, change) in changes.sorted(by: { $0.key < $1.key }) {
      try change.write(to: base, split)
    }
    changes = [:]
    heldCount = 0
  }

  private func change(_ split: Int64, _ body: (inout SplitChanges) -> Void) throws {
    if let before, before[split] == nil { self.before?[split] = .some(changes[split]) }
    body(&changes[split, default: SplitChanges()])
    heldCount += 1
    if heldCount > RowOverlay.heldCountMax, before == nil { try flush() }
  }
}

// MARK: Rows

extension RowOverlay {
  package func row(_ id: RowID) throws -> StoredRow? {
    guard let change = changes[id.parent] else { return try base.row(id) }
    if let row = change.rows[id.key] { return row }
    return change.hidesBase ? nil : try base.row(id)
  }

  package func forEachRow(
    of split: Int64, in range: KeyRange, isDescending: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ content: RowContent) throws -> Bool
  ) throws {
    guard let change = changes[split], change.hidesBase || !change.rows.isEmpty else {
      return try base.forEachRow(of: split, in: range, isDescending: isDescending, body)
    }
    var merge = Merge(
      change.rows.filter { range.contains($0.key) }.sorted {
        $0.key.lexicographicallyPrecedes($1.key) != isDescending
      })
    func tell(_ held: (key: [UInt8], value: StoredRow?)) throws -> Bool {
      guard let row = held.value else { return true }
      return try held.key.withUnsafeBytes { key in try row.withContent { try body(key, $0) } }
    }
    var isWanted = true
    if !change.hidesBase {
      try base.forEachRow(of: split, in: range, isDescending: isDescending) { key, content in
        while isWanted,
          let held = merge.next(before: { isDescending ? $0.isAfter(key) : $0.isBefore(key) })
        {
          isWanted = try tell(held)
        }
        guard isWanted else { return false }
        // A changed row is passed on in its new form, when its turn comes.
        if merge.stands(at: { $0.elementsEqual(key) }) { return true }
        isWanted = try body(key, content)
        return isWanted
      }
    }
    while isWanted, let held = merge.next() { isWanted = try tell(held) }
  }

  package func splitRows(of split: Int64) throws -> [RowID] {
    guard let change = changes[split] else { return try base.splitRows(of: split) }
    let stored = change.hidesBase ? [] : try base.splitRows(of: split)
    let changed = change.rows.compactMap { key, row -> RowID? in
      if case .split?? = Optional(row) { RowID(parent: split, key: key) } else { nil }
    }
    return (stored.filter { change.rows[$0.key] == nil } + changed)
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  package func rowCount(of split: Int64) throws -> Int {
    guard let change = changes[split] else { return try base.rowCount(of: split) }
    var count = change.rows.count { $0.value != nil }
    if change.hidesBase { return count }
    count += try base.rowCount(of: split)
    for key in change.rows.keys where try base.row(RowID(parent: split, key: key)) != nil {
      count -= 1
    }
    return count
  }

  package func put(_ stored: StoredRow, in row: RowID) throws {
    try change(row.parent) { $0.rows[row.key] = .some(stored) }
  }

  package func deleteRow(_ id: RowID) throws {
    try change(id.parent) { $0.rows[id.key] = .some(nil) }
  }
}

// MARK: Split nodes

extension RowOverlay {
  package func head(of split: Int64) throws -> SplitHead? {
    guard let change = changes[split] else { return try base.head(of: split) }
    switch change.head {
    case .written(let head): return head
    case .counted(let difference):
      guard !change.hidesBase, var head = try base.head(of: split) else { return nil }
      head.children += difference
      return head
    }
  }

  package func newSplit() throws -> Int64 {
    let split = try base.newSplit()
    try change(split) { $0.isNew = true }
    return split
  }

  package func put(_ head: SplitHead, of split: Int64) throws {
    try change(split) { $0.head = .written(head) }
  }

  package func addChildren(_ difference: Int, to split: Int64) throws {
    try change(split) { change in
      switch change.head {
      case .written(var head):
        head.children += difference
        change.head = .written(head)
      case .counted(let count): change.head = .counted(count + difference)
      }
    }
  }

  package func deleteSplit(_ split: Int64) throws {
    try change(split) { $0 = SplitChanges(isNew: $0.isNew, isDeleted: true) }
  }
}

// MARK: Entries

extension RowOverlay {
  package func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool {
    guard let change = changes[split] else { return try base.hasEntries(of: split, in: order) }
    let entries = change.entries[order] ?? [:]
    if entries.values.contains(true) { return true }
    if change.hidesBase { return false }
    if entries.isEmpty { return try base.hasEntries(of: split, in: order) }
    var isFound = false
    try base.forEachEntry(of: split, in: order, range: .all, isDescending: false) { entry, _ in
      isFound = entries[RowEntry(entry)] == nil
      return !isFound
    }
    return isFound
  }

  package func entryCount(of split: Int64, in order: EntryOrder) throws -> Int {
    guard let change = changes[split], change.hidesBase || change.entries[order] != nil else {
      return try base.entryCount(of: split, in: order)
    }
    var count = 0
    try forEachEntry(of: split, in: order, range: .all, isDescending: false) { _, _ in
      count += 1
      return true
    }
    return count
  }

  package func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    try change(split) { $0.entries[order, default: [:]][entry] = true }
  }

  package func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    try change(split) { $0.entries[order, default: [:]][entry] = false }
  }

  package func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws {
    guard let change = changes[split] else {
      return try base.forEachEntry(
        of: split, in: order, range: range, isDescending: isDescending, body)
    }
    var merge = Merge(
      (change.entries[order] ?? [:]).filter { range.contains($0.key) }
        .sorted { $0.key.precedes($1.key) != isDescending })
    func tell(_ held: (key: RowEntry, value: Bool)) throws -> Bool {
      guard held.value else { return true }
      return try held.key.withBytes { try tell($0) }
    }
    func tell(_ entry: EntryBytes) throws -> Bool {
      guard let row = try row(RowID(parent: split, key: Array(entry.key))) else {
        return try body(entry, nil)
      }
      return try row.withContent { try body(entry, $0) }
    }
    var isWanted = true
    if !change.hidesBase {
      try base.forEachEntry(of: split, in: order, range: range, isDescending: isDescending) {
        bytes, content in
        let entry = RowEntry(bytes)
        while isWanted,
          let held = merge.next(before: { isDescending ? entry.precedes($0) : $0.precedes(entry) })
        {
          isWanted = try tell(held)
        }
        guard isWanted else { return false }
        if merge.stands(at: { $0 == entry }) { return true }
        let isChanged = change.rows[entry.key] != nil
        isWanted = try isChanged ? tell(bytes) : body(bytes, content)
        return isWanted
      }
    }
    while isWanted, let held = merge.next() { isWanted = try tell(held) }
  }
}

// MARK: Checks

extension RowOverlay {
  package func checkNeighbors(of id: RowID) throws {
    if isChanged(id) { return }
    try base.checkNeighbors(of: id)
  }

  package func checkPlace(of id: RowID) throws {
    if isChanged(id) { return }
    try base.checkPlace(of: id)
  }

  /// Whether a row is not as the other store has it, which may still have what is deleted here.
  private func isChanged(_ id: RowID) -> Bool {
    guard let change = changes[id.parent] else { return false }
    return change.hidesBase || change.rows[id.key] != nil
  }

  /// Returns false while changes are held back, because the stored rows may be about to be deleted.
  package func hasTraces(ofTree root: RowID) throws -> Bool {
    try changes.isEmpty && base.hasTraces(ofTree: root)
  }

  package func name(of split: Int64) throws -> RowID? {
    for (parent, change) in changes {
      for (key, row) in change.rows where row == .split(split) {
        return RowID(parent: parent, key: key)
      }
    }
    return try base.name(of: split)
  }
}

// MARK: What is held back

/// The changes to one split node.
private struct SplitChanges {
  enum Head {
    case written(SplitHead)
    /// The number of children changed, and nothing else.
    case counted(Int)
  }

  /// The changed rows, by key; nil for a deleted row.
  var rows: [[UInt8]: StoredRow?] = [:]
  /// The changed entries; true for a written entry, false for a deleted one.
  var entries: [EntryOrder: [RowEntry: Bool]] = [:]
  var head = Head.counted(0)
  /// True if the other store does not have the node.
  var isNew = false
  var isDeleted = false

  /// True if the rows of the other store do not count any more.
  var hidesBase: Bool { isNew || isDeleted }

  func write(to store: any RowStore, _ split: Int64) throws {
    if isDeleted {
      if !isNew { try store.deleteSplit(split) }
      return
    }
    switch head {
    case .written(let head): try store.put(head, of: split)
    case .counted(0): break
    case .counted(let difference): try store.addChildren(difference, to: split)
    }
    for (key, row) in rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let id = RowID(parent: split, key: key)
      if let row { try store.put(row, in: id) } else if !isNew { try store.deleteRow(id) }
    }
    for (order, changed) in entries {
      for (entry, isThere) in changed.sorted(by: { $0.key.precedes($1.key) }) {
        if isThere {
          try store.insertEntry(entry, of: split, in: order)
        } else if !isNew {
          try store.deleteEntry(entry, of: split, in: order)
        }
      }
    }
  }
}

/// The held-back changes of a range, in order, merged into a read of the other store.
private struct Merge<Key: Hashable, Value> {
  private var held: ArraySlice<(key: Key, value: Value)>

  init(_ held: [(key: Key, value: Value)]) { self.held = held[...] }

  /// Takes the next change.
  mutating func next() -> (key: Key, value: Value)? { held.popFirst() }

  /// Takes the next change if it comes before the row that is read.
  mutating func next(before isBefore: (Key) -> Bool) -> (key: Key, value: Value)? {
    guard let first = held.first, isBefore(first.key) else { return nil }
    return held.popFirst()
  }

  /// True if the next change is for the row that is read.
  func stands(at isThere: (Key) -> Bool) -> Bool { held.first.map { isThere($0.key) } ?? false }
}

extension StoredRow {
  /// Runs `body` on the content of the row.
  package func withContent<Result>(_ body: (RowContent) throws -> Result) rethrows -> Result {
    switch self {
    case .record(let bytes): try bytes.withUnsafeBufferPointer { try body(.record($0)) }
    case .split(let split): try body(.split(split))
    }
  }
}

extension RowEntry {
  package init(_ bytes: EntryBytes) { self.init(value: Array(bytes.value), key: Array(bytes.key)) }

  package func withBytes<Result>(_ body: (EntryBytes) throws -> Result) rethrows -> Result {
    try value.withUnsafeBytes { value in
      try key.withUnsafeBytes { try body(EntryBytes(value: value, key: $0)) }
    }
  }
}

extension [UInt8] {
  fileprivate func isBefore(_ other: UnsafeRawBufferPointer) -> Bool {
    lexicographicallyPrecedes(other)
  }

  fileprivate func isAfter(_ other: UnsafeRawBufferPointer) -> Bool {
    other.lexicographicallyPrecedes(self)
  }
}
