import GRDB
import RunnelTree

/// Walks every stored row, and checks it with what follows from it, or makes that anew.
///
/// One row at a time is held, and the map of the split nodes. `FORMAT.md` tells the invariants.
final class TreeAudit {
  private static let rowsBetweenReports = 5000

  let store: StoreTransaction
  private(set) var report: DatabaseReport
  /// True if the entries of rows are inserted instead of looked up.
  let isRebuilding: Bool
  private let progress: CareProgress
  private var map = SplitMap()
  /// How many entries there are that have to be there.
  private var priorityCount = 0
  private var indexCount = 0

  init(
    store: StoreTransaction, report: DatabaseReport, isRebuilding: Bool = false,
    progress: CareProgress
  ) {
    self.store = store
    self.report = report
    self.isRebuilding = isRebuilding
    self.progress = progress
  }

  func run() throws {
    try readSplits()
    try readNames()
    try readRows()
    if isRebuilding { return }
    checkSplits()
    try checkSurplus()
    try FeedAudit(db: store.db).run(into: &report)
  }

  private func fault(
    _ place: String, _ what: String, _ remedy: DatabaseFault.Remedy = .none
  ) {
    report.add(DatabaseFault(place: place, what: what, remedy: remedy))
  }

  /// Runs `body`; damage that it finds is a fault of the place.
  private func noting(
    _ place: @autoclosure () -> String, _ remedy: DatabaseFault.Remedy = .none,
    _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let damage as Damage {
      fault(place(), damage.what, remedy)
    }
  }

  private func step(_ words: String) throws {
    report.rowCount += 1
    guard report.rowCount.isMultiple(of: TreeAudit.rowsBetweenReports) else { return }
    if !progress.report(words, report.rowCount) {
      throw DatabaseError(.cancelled, "The work was stopped. Nothing was changed.")
    }
  }

  // MARK: Split nodes

  private func readSplits() throws {
    let cursor = try Row.fetchCursor(
      store.db, sql: "SELECT id, children, priority FROM split ORDER BY id")
    while let row = try cursor.next() {
      let id = try row.integerOrNil("id") ?? 0
      var told: Int64?
      try noting("split node \(id)", .recount) { told = try row.integerOrNil("children") }
      try noting("split node \(id)") { _ = try RecordCoding.priority(row.bytesOrNil("priority")) }
      map.add(id, told: told)
    }
  }

  private func readNames() throws {
    let cursor = try Row.fetchCursor(
      store.db, sql: "SELECT parent, key, split FROM node WHERE split IS NOT NULL")
    while let row = try cursor.next() {
      // A number that is none is told where rows are read.
      guard let parent = try? row.integerOrNil("parent"), let split = try? row.integerOrNil("split")
      else { continue }
      let id = RowID(parent: parent, key: row.bytes("key"))
      let isKnown = map.contains(split)
      if map.name(split, by: id) { continue }
      let what =
        isKnown
        ? "it names split node \(split), which another row names too"
        : "it names split node \(split), which is not there"
      fault(words(for: id), what)
    }
  }

  private func checkSplits() {
    for split in map.ids {
      let (told, found) = (map.told(split), map.found(split))
      if let told, told != found {
        let what = "it says that it has \(told) children, and \(found) are stored"
        fault(map.words(for: split), what, .recount)
      }
      if found == 0 { fault(map.words(for: split), "none of its children is stored") }
      if !map.isNamed(split) { fault("split node \(split)", "it belongs to no place") }
      if case .tangled(let what) = map.place(of: split) { fault("split node \(split)", what) }
    }
  }

  private func words(for id: RowID) -> String {
    if id.parent == 0 { return "/" }
    let above = map.words(for: id.parent)
    guard let key = OrderedBytes.key(from: id.key) else { return "a child of \(above)" }
    return (above == "/" ? "" : above) + "/" + key.text
  }

  // MARK: Rows

  /// The rows of one parent.
  private struct Family {
    var parent: Int64
    var place: [Key]?
    /// The indexes that keep its children.
    var kept: [StoredIndex] = []
    var count: Int64 = 0
  }

  private func readRows() throws {
    let cursor = try Row.fetchCursor(
      store.db, sql: "SELECT parent, key, json, split FROM node ORDER BY parent, key")
    var family: Family?
    while let row = try cursor.next() {
      try step(isRebuilding ? "making entries" : "rows")
      guard let parent = try? row.integerOrNil("parent") else {
        fault("node", "the parent of a row is no number")
        continue
      }
      if parent != family?.parent {
        end(family)
        family = begin(parent)
      }
      family?.count += 1
      if let family { try check(row, in: family) }
    }
    end(family)
  }

  private func begin(_ parent: Int64) -> Family {
    guard parent > 0, case .known(let place) = map.place(of: parent) else {
      return Family(parent: parent, place: nil)
    }
    let kept = map.isServer(parent) ? [] : store.indexes.filter { $0.covers(place) }
    return Family(parent: parent, place: place, kept: kept)
  }

  private func end(_ family: Family?) {
    guard let family, family.parent > 0 else { return }
    map.noteChildren(family.count, of: family.parent)
    if map.contains(family.parent) { return }
    fault("node", "\(family.count) rows belong to split node \(family.parent), which is not there")
  }

  private func check(_ row: Row, in family: Family) throws {
    let key = row.blob("key")
    let id = RowID(parent: family.parent, key: key ?? [])
    if family.parent <= 0 {
      let roots = [RowID.root.key, RowID.server.key]
      if family.parent < 0 || !roots.contains(key ?? [0]) {
        fault("node", "a row stands above the root")
      }
    } else if key.flatMap({ OrderedBytes.key(from: $0) }).map(OrderedBytes.key) != key || key == nil
    {
      fault("a child of " + map.words(for: family.parent), "its key is none")
      return
    }
    var indexed: StoreTransaction.Indexed?
    try noting(words(for: id)) { indexed = try TreeAudit.content(of: row) }
    guard let indexed, family.place != nil else { return }
    do {
      try checkEntries(of: indexed, id, family.kept)
    } catch is Damage {
      // It lies deeper, and is told where it lies.
    }
  }

  /// What a row holds.
  ///
  /// - Throws: `Damage` if it is not what is ever stored.
  private static func content(of row: Row) throws -> StoreTransaction.Indexed {
    if let split = try row.integerOrNil("split") {
      if !row.hasNull(atColumn: "json") { throw Damage("it is both a record and split") }
      return .stored(.split(split))
    }
    guard let bytes = row.blob("json") else { throw Damage("its record is not stored as bytes") }
    let node = try RecordCoding.node(bytes)
    if !RecordWriter().record(node).elementsEqual(bytes) {
      throw Damage("its record is not as Runnel writes it")
    }
    if bytes.count > Schema.recordBytesMax, !node.children.isEmpty {
      throw Damage("its record of \(bytes.count) bytes is too large")
    }
    return .node(node)
  }

  // MARK: Entries

  private func checkEntries(
    of indexed: StoreTransaction.Indexed, _ id: RowID, _ kept: [StoredIndex]
  ) throws {
    let priority = try store.value(of: indexed, .priority)
    if priority != .null {
      if isRebuilding {
        try store.insertPriorityEntry(id, priority)
      } else if try store.hasPriorityEntry(id, priority) {
        priorityCount += 1
      } else {
        fault(words(for: id), "its entry in the order of priorities is missing", .reindex)
      }
    }
    for index in kept {
      let value = try store.value(of: indexed, index.order)
      if isRebuilding {
        try store.insertEntry(id, index, value)
      } else if try store.hasEntry(id, index, value) {
        indexCount += 1
      } else {
        let name = "\(index.definition.pattern) by \(index.definition.storedOrder)"
        fault(words(for: id), "its entry in the index of \(name) is missing", .reindex)
      }
    }
  }

  /// Looks for entries that nothing stored gives; there are some if there are more than were found.
  private func checkSurplus() throws {
    let priorities = try count("priority_entry")
    let entries = try count("index_entry")
    report.entryCount = priorities + entries
    if priorities != priorityCount {
      fault("priority_entry", "\(priorities - priorityCount) entries fit no child", .reindex)
    }
    if entries != indexCount {
      fault("index_entry", "\(entries - indexCount) entries fit no child", .reindex)
    }
  }

  private func count(_ table: String) throws -> Int {
    try Int.fetchOne(store.db, sql: "SELECT count(*) FROM \(table)") ?? 0
  }
}

extension Row {
  /// True if a column is null.
  fileprivate func hasNull(atColumn name: String) -> Bool { (self[name] as DatabaseValue).isNull }
}

extension StoreTransaction {
  fileprivate func hasPriorityEntry(_ row: RowID, _ value: IndexValue) throws -> Bool {
    try statement("SELECT 1 FROM priority_entry WHERE parent = ? AND value = ? AND key = ?")
      .first(.integer(row.parent), .bytes(OrderedBytes.value(value)), .bytes(row.key)) { _ in true }
      ?? false
  }

  fileprivate func hasEntry(
    _ row: RowID, _ index: StoredIndex, _ value: IndexValue
  ) throws -> Bool {
    try statement(
      "SELECT 1 FROM index_entry WHERE parent = ? AND definition = ? AND value = ? AND key = ?"
    ).first(
      .integer(row.parent), .integer(index.id), .bytes(OrderedBytes.value(value)), .bytes(row.key)
    ) { _ in true } ?? false
  }
}
