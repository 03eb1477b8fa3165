import RunnelStorage
import RunnelTree

/// The comparison of all rows of a namespace with each other: counts, names, entries and the feed.
///
/// It reads one state, in a transaction that the database keeps for so long; nobody waits for it.
package struct StoreCheck {
  /// What was found.
  package struct Report {
    /// The first faults, in words: where, and what.
    package fileprivate(set) var faults: [String] = []
    /// The number of faults.
    package fileprivate(set) var faultCount = 0
    /// The number of rows that belong to a place.
    package fileprivate(set) var rowCount = 0
    /// The number of entries of indexes.
    package fileprivate(set) var entryCount = 0

    /// True if nothing is wrong.
    package var isSound: Bool { faultCount == 0 }

    fileprivate mutating func note(_ fault: String) {
      faultCount += 1
      if faults.count < StoreCheck.faultsMax { faults.append(fault) }
    }
  }

  private static let faultsMax = 100

  private let rows: PostgresRows
  private let tree: StoredTree
  private var report = Report()
  /// The split nodes that were reached.
  private var reached: Set<Int64> = []

  private init(_ rows: PostgresRows) {
    self.rows = rows
    tree = StoredTree(rows, indexes: rows.indexes)
  }

  /// Checks a namespace.
  ///
  /// O(n) in its rows; memory is that of a page of rows, and of the numbers of its split nodes.
  ///
  /// - Throws: `PostgresError` if it cannot be read.
  package static func run(
    on namespace: PostgresStore.Namespace, of store: PostgresStore
  ) throws -> Report {
    let connection = store.connection
    try connection.perform([PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")])
    defer {
      // A transaction that only read may end in any way.
      if connection.isOpen { _ = try? connection.perform([PostgresStatement("ROLLBACK")]) }
    }
    let rows = PostgresRows(
      connection, namespace: namespace.number, indexes: try store.indexes(of: namespace.number),
      nextSplit: namespace.nextSplit)
    var check = StoreCheck(rows)
    try check.checkTree()
    try check.checkFeed()
    return check.report
  }

  // MARK: The tree

  private mutating func checkTree() throws {
    try noting(at: "/") { check in
      guard let stored = try check.rows.row(.root) else { return }
      check.report.rowCount += 1
      switch stored {
      case .record(let bytes): _ = try RecordCoding.node(bytes)
      case .split(let split): try check.checkSplit(split, place: [])
      }
    }
    let counts: [(table: String, found: Int)] = [
      ("node", report.rowCount), ("split", reached.count), ("index_entry", report.entryCount),
    ]
    for (table, found) in counts {
      let all = try rows.read("SELECT count(*) FROM \(table) WHERE ns = $1", [])
      let rest = Int(try all.integer(0, 0) ?? 0) - found
      if rest != 0 { report.note("\(table): \(rest) rows belong to no place") }
    }
  }

  /// Runs `body`; damage is noted.
  private mutating func noting(
    at place: String, _ body: (inout StoreCheck) throws -> Void
  ) throws {
    do {
      try body(&self)
    } catch let damage as Damage {
      let told = tree.inWords(damage)
      if case .words(let words)? = told.place {
        report.note("\(words): \(told.what)")
      } else {
        report.note("\(place): \(told.what)")
      }
    } catch let error as TreeError {
      report.note("\(place): \(error.message)")
    }
  }

  private mutating func checkSplit(_ split: Int64, place: [Key]) throws {
    let words = Path(unchecked: place).description
    guard reached.insert(split).inserted else {
      throw Damage("its children are stored for another node too", at: .words(words))
    }
    var below: [(key: Key, split: Int64)] = []
    var count = 0
    var priorityCount = 0
    try rows.forEachRow(of: split, in: .all, isDescending: false) { bytes, content in
      count += 1
      try Damage.locating(.row(RowID(parent: split, key: Array(bytes)))) {
        let key = try StoredTree.key(bytes)
        switch content {
        case .record(let json):
          if try RecordCoding.node(json).priority != nil { priorityCount += 1 }
        case .split(let number):
          below.append((key, number))
          if try rows.head(of: number)?.priority != nil { priorityCount += 1 }
        }
      }
      return true
    }
    report.rowCount += count
    guard let head = try rows.head(of: split) else {
      throw Damage("the row that says how many children it has is missing", at: .words(words))
    }
    if head.children != count {
      report.note("\(words): \(Damage.count(head.children, count, of: split).what)")
    }
    try checkEntries(of: split, in: .priority, by: .priority, count: priorityCount, words)
    for index in rows.indexes where index.covers(place) {
      try checkEntries(of: split, in: .index(index.id), by: index.order, count: count, words)
    }
    for (key, number) in below {
      try noting(at: Path(unchecked: place + [key]).description) { check in
        try check.checkSplit(number, place: place + [key])
      }
    }
  }

  /// Compares the entries of an order with the rows.
  private mutating func checkEntries(
    of split: Int64, in order: EntryOrder, by index: QueryIndex, count: Int, _ words: String
  ) throws {
    var found = 0
    var wrong = 0
    try rows.forEachEntry(of: split, in: order, range: .all, isDescending: false) {
      entry, content in
      found += 1
      guard let content else {
        wrong += 1
        return true
      }
      let value = OrderedBytes.value(try tree.indexValue(of: content.stored, index))
      if !value.elementsEqual(entry.value) { wrong += 1 }
      return true
    }
    report.entryCount += found
    let name = order == .priority ? "priority" : "\(index)"
    if found != count {
      report.note("\(words): it has \(found) entries by \(name), and \(count) are expected")
    }
    if wrong > 0 {
      report.note("\(words): \(wrong) entries by \(name) are not those of their rows")
    }
  }

  // MARK: The feed

  private mutating func checkFeed() throws {
    let state = try rows.read("SELECT head, floor FROM namespace WHERE ns = $1", [])
    let feed = try rows.read("SELECT count(*), min(seq), max(seq) FROM feed WHERE ns = $1", [])
    guard state.count == 1, let head = try state.integer(0, 0), let floor = try state.integer(0, 1)
    else { return report.note("namespace: it is not there any more") }
    let count = try feed.integer(0, 0) ?? 0
    let (first, last) = (try feed.integer(0, 1) ?? floor + 1, try feed.integer(0, 2) ?? head)
    if count != head - floor || first != floor + 1 || last != head {
      report.note(
        "feed: it has \(count) changes from \(first) to \(last), and those after \(floor) up to \(head) "
          + "are expected")
    }
  }
}
