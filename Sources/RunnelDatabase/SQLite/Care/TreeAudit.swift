import GRDB
import RunnelStorage
import RunnelTree

/// Walks through every stored row, and checks it together with the data that follows from it, or
/// makes that data anew.
///
/// Memory holds one row at a time, and the map of the split nodes. `FORMAT.md` specifies the
/// invariants.
final class TreeAudit {
  private static let rowsBetweenReports = 5000

  private let db: GRDB.Database
  private let statements = StatementCache()
  private let tree: StoredTree
  private(set) var report: DatabaseReport
  /// True if the entries of rows are inserted instead of looked up.
  let isRebuilding: Bool
  private let progress: CareProgress
  private var map = SplitMap()
  private var isRootFound = false
  /// The number of entries that must exist.
  private var priorityCount = 0
  private var indexCount = 0
  /// A row of `split` that does not fit its checksum.
  private struct BadHead {
    var priority: [UInt8]?
    var checksum: Int64?
  }

  private var badHeads: [Int64: BadHead] = [:]
  /// The damage that a repair must set aside.
  private(set) var damage = TreeDamage()

  init(
    db: GRDB.Database, indexes: [StoredIndex], report: DatabaseReport, isRebuilding: Bool = false,
    progress: CareProgress
  ) {
    self.db = db
    tree = StoredTree(SQLiteRows(db, statements), indexes: indexes)
    self.report = report
    self.isRebuilding = isRebuilding
    self.progress = progress
  }

  func run() throws {
    try readSplits()
    try readNames()
    try readRows()
    if isRebuilding { return }
    try checkRoot()
    checkSplits()
    try checkSurplus()
    try FeedAudit(db: db).run(into: &report)
  }

  private func fault(
    _ place: String, _ what: String, _ remedy: DatabaseFault.Remedy = .none
  ) {
    report.add(DatabaseFault(place: place, what: what, remedy: remedy))
  }

  /// Runs `body`; damage that it finds becomes a fault of the place.
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
      db, sql: "SELECT id, children, priority, checksum FROM split ORDER BY id")
    while let row = try cursor.next() {
      let id = try row.integerOrNil("id") ?? 0
      let priority = row.bytesOrNil("priority")
      var told: Int64?
      try noting("split node \(id)", .recount) {
        told = try row.integerOrNil("children")
        let checksum = try row.integerOrNil("checksum")
        let fits =
          told.map { Checksum.head(id, children: $0, priority: priority) } == checksum
        if checksum == nil || fits { return }
        told = nil
        badHeads[id] = BadHead(priority: priority, checksum: checksum)
      }
      map.add(id, told: told)
      do {
        _ = try RecordCoding.priority(priority)
      } catch let mistake as Damage {
        fault("split node \(id)", mistake.what, .recover)
        damage.addPriority(of: id)
      }
    }
  }

  private func readNames() throws {
    let cursor = try Row.fetchCursor(
      db, sql: "SELECT parent, key, split, checksum FROM node WHERE split IS NOT NULL")
    while let row = try cursor.next() {
      // Invalid numbers and wrong checksums are reported where rows are read.
      guard let parent = try? row.integerOrNil("parent"), let split = try? row.integerOrNil("split")
      else { continue }
      let id = RowID(parent: parent, key: row.bytes("key"))
      guard id.isRoot || row.hasChecksum(id.checksum(split: split)) else { continue }
      let isKnown = map.contains(split)
      if map.name(split, by: id) { continue }
      let what =
        isKnown
        ? "it names split node \(split), which another row names too"
        : "it names split node \(split), which is not there"
      fault(words(for: id), what, .recover)
      damage.add(row, at: words(for: id), what, isHeadMissing: !isKnown)
    }
  }

  /// Checks that the row of the whole tree exists if one was written.
  private func checkRoot() throws {
    if isRootFound { return }
    guard try SQLiteRows(db, statements).isRootNoted() else { return }
    fault("/", "the row of the whole tree is missing", .recover)
    // Without any other row, everything that was written is lost.
    if map.ids.isEmpty { report.lostCount += 1 }
  }

  private func checkSplits() {
    for split in map.ids {
      checkHead(of: split)
      let (told, found) = (map.told(split), map.found(split))
      if let told, told != found {
        let what = "it says that it has \(told) children, and \(found) are stored"
        fault(map.words(for: split), what, .recount)
        report.lostCount += max(0, Int(clamping: told - found))
      }
      if found == 0 { fault(map.words(for: split), "none of its children is stored", .recover) }
      if !map.isNamed(split) { fault("split node \(split)", "it belongs to no place", .recover) }
      if case .tangled(let what) = map.place(of: split) {
        fault("split node \(split)", what, map.isCircular(split) ? .recover : .none)
      }
    }
  }

  /// Reports the change in a row of `split` with a wrong checksum: if the checksum fits the number
  /// of stored children, only the number had changed.
  private func checkHead(of split: Int64) {
    guard let head = badHeads[split] else { return }
    let place = map.words(for: split)
    let counted = Checksum.head(split, children: map.found(split), priority: head.priority)
    if head.checksum == counted {
      return fault(place, "the number of its children was changed", .recount)
    }
    report.doubtfulCount += 1
    guard head.priority != nil else {
      return fault(place, "it does not say any more how many children it had", .recount)
    }
    fault(place, "the number of its children or its priority was changed", .recover)
    damage.addPriority(of: split)
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
      db, sql: "SELECT parent, key, json, split, checksum FROM node ORDER BY parent, key")
    var family: Family?
    while let row = try cursor.next() {
      try step(isRebuilding ? "making entries" : "rows")
      guard let parent = try? row.integerOrNil("parent") else {
        setAside(row, at: "node", "the parent of a row is no number")
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
    let kept = map.isServer(parent) ? [] : tree.indexes.filter { $0.covers(place) }
    return Family(parent: parent, place: place, kept: kept)
  }

  private func end(_ family: Family?) {
    guard let family, family.parent > 0 else { return }
    map.noteChildren(family.count, of: family.parent)
    if map.contains(family.parent) { return }
    fault(
      "node", "\(family.count) rows belong to split node \(family.parent), which is not there",
      .recover)
  }

  /// Reports a faulty row, and notes it for a repair.
  private func setAside(_ row: Row, at place: String, _ what: String) {
    fault(place, what, .recover)
    damage.add(row, at: place, what)
  }

  private func check(_ row: Row, in family: Family) throws {
    let key = row.blob("key")
    let id = RowID(parent: family.parent, key: key ?? [])
    if family.parent == 0, key == RowID.root.key { isRootFound = true }
    if family.parent <= 0 {
      let roots = [RowID.root.key, RowID.server.key]
      if family.parent < 0 || !roots.contains(key ?? [0]) {
        return setAside(row, at: "node", "a row stands above the root")
      }
    } else if key.flatMap({ OrderedBytes.key(from: $0) }).map(OrderedBytes.key) != key || key == nil
    {
      return setAside(row, at: "a child of " + map.words(for: family.parent), "its key is none")
    }
    var indexed: StoredTree.Indexed?
    do {
      indexed = try content(of: row, id)
    } catch let mistake as Damage {
      setAside(row, at: words(for: id), mistake.what)
    }
    guard let indexed, family.place != nil else { return }
    do {
      try checkEntries(of: indexed, id, family.kept)
    } catch is Damage {
      // The node lies deeper, and is reported there.
    }
  }

  /// The content of a row.
  ///
  /// - Throws: `Damage` if it is not valid content.
  private func content(of row: Row, _ id: RowID) throws -> StoredTree.Indexed {
    if try row.integerOrNil("checksum") == nil { report.uncheckedCount += 1 }
    if let split = try row.integerOrNil("split") {
      if !row.hasNull(atColumn: "json") { throw Damage("it is both a record and split") }
      if !row.hasChecksum(id.checksum(split: split)) { throw Damage.checksum }
      return .stored(.split(split))
    }
    guard let bytes = row.blob("json") else { throw Damage("its record is not stored as bytes") }
    if !row.hasChecksum(id.checksum(record: bytes)) { throw Damage.checksum }
    let node = try RecordCoding.node(bytes)
    if !RecordWriter().record(node).elementsEqual(bytes) {
      throw Damage("its record is not as Runnel writes it")
    }
    if bytes.count > RecordCoding.bytesMax, !node.children.isEmpty {
      throw Damage("its record of \(bytes.count) bytes is too large")
    }
    return .node(node)
  }

  // MARK: Entries

  private func checkEntries(
    of indexed: StoredTree.Indexed, _ id: RowID, _ kept: [StoredIndex]
  ) throws {
    let priority = try tree.value(of: indexed, .priority)
    if priority != .null {
      if isRebuilding {
        try tree.insertEntry(of: id, in: .priority, priority)
      } else if try hasEntry(id, in: .priority, priority) {
        priorityCount += 1
      } else {
        fault(words(for: id), "its entry in the order of priorities is missing", .reindex)
      }
    }
    for index in kept {
      let value = try tree.value(of: indexed, index.order)
      if isRebuilding {
        try tree.insertEntry(of: id, in: .index(index.id), value)
      } else if try hasEntry(id, in: .index(index.id), value) {
        indexCount += 1
      } else {
        let name = "\(index.definition.pattern) by \(index.definition.storedOrder)"
        fault(words(for: id), "its entry in the index of \(name) is missing", .reindex)
      }
    }
  }

  /// Finds surplus entries: there are some if there are more entries than were found to belong to
  /// rows.
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
    try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
  }
}

extension Row {
  /// True if a column is null.
  fileprivate func hasNull(atColumn name: String) -> Bool { (self[name] as DatabaseValue).isNull }

  /// True if the column `checksum` holds this checksum, or none, as in a row of an older program.
  fileprivate func hasChecksum(_ checksum: Int64) -> Bool {
    switch (self["checksum"] as DatabaseValue).storage {
    case .null: true
    case .int64(let stored): stored == checksum
    case .double, .string, .blob: false
    }
  }
}

extension RowID {
  /// True if it is the root row of one of the file's trees.
  var isRoot: Bool { self == .root || self == .server }
}

/// The damage that a check of the tree found and a repair sets aside.
struct TreeDamage {
  /// A row of `node`, identified by its column values.
  struct BadRow {
    var parent: DatabaseValue
    var key: DatabaseValue
    var place: String
    var why: String
    /// True if its only fault is that the split node it names has lost its own row.
    var isHeadMissing: Bool
  }

  var rows: [BadRow] = []
  /// The damaged entries of the history, by their numbers.
  var entries: [(id: Int64, why: String)] = []
  /// The split nodes whose priority is invalid, or may not be the one that was written.
  private(set) var priorities: [Int64] = []

  fileprivate mutating func addPriority(of split: Int64) {
    if priorities.last != split, !priorities.contains(split) { priorities.append(split) }
  }

  fileprivate mutating func add(
    _ row: Row, at place: String, _ why: String, isHeadMissing: Bool = false
  ) {
    rows.append(
      BadRow(
        parent: row["parent"], key: row["key"], place: place, why: why,
        isHeadMissing: isHeadMissing))
  }
}

extension TreeAudit {
  /// True if a row has the entry of a value in an order.
  private func hasEntry(_ row: RowID, in order: EntryOrder, _ value: IndexValue) throws -> Bool {
    let entry = RowEntry(value, row)
    let found: Bool? =
      switch order {
      case .priority:
        try statements.statement(
          "SELECT 1 FROM priority_entry WHERE parent = ? AND value = ? AND key = ?", db
        ).first(.integer(row.parent), .bytes(entry.value), .bytes(entry.key)) { _ in true }
      case .index(let id):
        try statements.statement(
          "SELECT 1 FROM index_entry WHERE parent = ? AND definition = ? AND value = ? AND key = ?",
          db
        ).first(
          .integer(row.parent), .integer(id), .bytes(entry.value), .bytes(entry.key)
        ) { _ in true }
      }
    return found ?? false
  }
}
