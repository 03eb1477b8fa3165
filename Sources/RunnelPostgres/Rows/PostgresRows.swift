package import RunnelStorage
package import RunnelTree

/// The rows of a namespace's tree in the tables of PostgreSQL: `node`, `split` and `index_entry`.
///
/// Rows and entries are read in pages. Writes are held back until the next read, or until `send`, and
/// are then sent together, each row once. The database checks its pages by itself, so rows have no
/// checksums.
///
/// Terms. A value in `index_entry` is *cut* after 1,024 bytes, because an entry must fit into a third
/// of a page. Entries whose cut values are the same are put in order by the *whole* values, which
/// are those of their rows.
///
/// Rows that were read are remembered, as long as nobody else writes: see `forgetRows`.
///
/// Isolation: used by the thread of the connection, in one transaction after the other.
package final class PostgresRows: RowStore {
  /// The most changes that are held back.
  private static let heldCountMax = 2000
  private static let metCountMax = 1000

  let connection: PostgresConnection
  /// The number of the namespace.
  package let namespace: Int64
  /// The declared indexes, by which whole values are found.
  package var indexes: [StoredIndex]
  /// The number of the next new split node.
  package private(set) var nextSplit: Int64
  private var held = HeldRows()
  private(set) var known = KnownRows()
  private var heads = SplitHeads()
  /// The split nodes that were met in rows, as a guess: others may have changed the rows since.
  private(set) var met: [RowID: Int64] = [:]
  /// The results of statements that were sent before this transaction asked for them.
  private var ahead: [PostgresStatement: PostgresResult] = [:]

  /// Makes the rows of a namespace whose next new split node has this number.
  package init(
    _ connection: PostgresConnection, namespace: Int64, indexes: [StoredIndex], nextSplit: Int64
  ) {
    (self.connection, self.namespace) = (connection, namespace)
    (self.indexes, self.nextSplit) = (indexes, nextSplit)
  }

  /// Begins another transaction, in which split nodes are counted from a number.
  func begin(nextSplit: Int64) {
    self.nextSplit = nextSplit
    heads = SplitHeads()
  }

  /// Takes what was read together with the beginning of a transaction.
  func take(_ expected: ExpectedRows, _ results: some Collection<PostgresResult>) throws {
    ahead = [:]
    var results = results[...]
    if !expected.fetched.isEmpty, let result = results.popFirst() {
      try note(expected.fetched, result)
    }
    let statements = expected.statements.suffix(results.count)
    ahead = Dictionary(zip(statements, results)) { first, _ in first }
  }

  /// Ends a transaction: what was read for it is not true any more.
  func end() { ahead = [:] }

  /// Forgets the held-back writes, after the transaction failed.
  func rollBack() {
    held = HeldRows()
    known = KnownRows()
    heads = SplitHeads()
    end()
  }

  /// Forgets the rows that were read, because others have written.
  func forgetRows() { known = KnownRows() }

  /// Sends the held-back writes.
  ///
  /// - Throws: `PostgresError`; the transaction must then be rolled back.
  package func send() throws {
    if held.isEmpty { return }
    let statements = held.statements(namespace: namespace)
    held = HeldRows()
    ahead = [:]
    try connection.perform(statements)
  }

  /// Takes the statements of the held-back writes, to be sent with others.
  package func takeStatements() -> [PostgresStatement] {
    let statements = held.statements(namespace: namespace)
    held = HeldRows()
    return statements
  }

  /// The result of a reading statement, whose first parameter is the namespace.
  func read(_ text: String, _ values: [PostgresValue]) throws -> PostgresResult {
    try read(reading(text, values))
  }

  func reading(_ text: String, _ values: [PostgresValue]) -> PostgresStatement {
    PostgresStatement(text, values: [.integer(namespace)] + values)
  }

  func read(_ statement: PostgresStatement) throws -> PostgresResult {
    try send()
    if let result = ahead[statement] { return result }
    guard let result = try connection.perform([statement]).first else {
      throw PostgresError(.unsuitable, "The database gave no answer to a statement.")
    }
    return result
  }

  private func number(_ text: String, _ values: PostgresValue...) throws -> Int64? {
    let result = try read(text, values)
    return result.count == 0 ? nil : try result.integer(0, 0)
  }
}

// MARK: Rows

extension PostgresRows {
  package func row(_ id: RowID) throws -> StoredRow? {
    if let row = known[id] { return row }
    let result = try read(
      "SELECT json, split FROM node WHERE ns = $1 AND parent = $2 AND key = $3",
      [.integer(id.parent), .bytes(id.key)])
    let row = try Damage.locating(.row(id)) {
      result.count == 0 ? nil : try result.content(0, from: 0).stored
    }
    note(row, in: id)
    return row
  }

  private func note(_ row: StoredRow?, in id: RowID) {
    known.note(row, in: id)
    guard case .split(let split)? = row else {
      met[id] = nil
      return
    }
    if met.count >= PostgresRows.metCountMax { met = [:] }
    met[id] = split
  }

  /// Reads the rows on the ways to places, so that each way needs no round trips of its own.
  ///
  /// A round trip for each level of split nodes.
  package func prefetch(_ paths: [Path]) throws {
    var ways = paths.map { (row: RowID.root, rest: $0.keys[...]) }
    while !ways.isEmpty {
      try fetch(Set(ways.map(\.row)).filter { known[$0] == nil })
      ways = ways.compactMap { way in
        guard let key = way.rest.first, case .split(let split)?? = known[way.row] else {
          return nil
        }
        return (RowID(parent: split, key), way.rest.dropFirst())
      }
    }
  }

  private func fetch(_ ids: Set<RowID>) throws {
    if ids.isEmpty { return }
    try note(ids, try read(fetching(ids)))
  }

  func fetching(_ ids: Set<RowID>) -> PostgresStatement {
    reading(
      """
      SELECT d.p, d.k, n.json, n.split FROM unnest($2, $3) d(p, k)
      CROSS JOIN LATERAL (SELECT r.json, r.split FROM node r
        WHERE r.ns = $1 AND r.parent = d.p AND r.key = d.k LIMIT 1) n
      """, [.integers(ids.map(\.parent)), .byteStrings(ids.map(\.key))])
  }

  private func note(_ ids: Set<RowID>, _ result: PostgresResult) throws {
    for id in ids { known.note(nil, in: id) }
    for row in 0..<result.count {
      let id = RowID(parent: try result.integer(row, 0) ?? 0, key: result.bytes(row, 1) ?? [])
      note(try Damage.locating(.row(id)) { try result.content(row, from: 2).stored }, in: id)
    }
  }

  package func forEachRow(
    of split: Int64, in range: KeyRange, isDescending: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ content: RowContent) throws -> Bool
  ) throws {
    var range = range
    var size = PageSize(range.wantedCount)
    while true {
      let page = try read(pageStatement(split, range, isDescending, size.next()))
      try meetSplits(page, 2)
      for row in 0..<page.count {
        let key = page.rawBytes(row, 0)
        let content = try Damage.locating(.row(RowID(parent: split, key: Array(key)))) {
          try page.content(row, from: 1)
        }
        if try !body(key, content) { return }
      }
      if page.count < size.current { return }
      let end = KeyRange.Bound(key: page.bytes(page.count - 1, 0) ?? [], isInclusive: false)
      if isDescending { range.upper = end } else { range.lower = end }
    }
  }

  func pageStatement(
    _ split: Int64, _ range: KeyRange, _ isDescending: Bool, _ size: Int
  ) -> PostgresStatement {
    var text = "SELECT key, json, split FROM node WHERE ns = $1 AND parent = $2"
    var values: [PostgresValue] = [.integer(split)]
    for (bound, side) in [(range.lower, ">"), (range.upper, "<")] {
      guard let bound else { continue }
      values.append(.bytes(bound.key))
      text += " AND key \(side)\(bound.isInclusive ? "=" : "") $\(values.count + 1)"
    }
    text += " ORDER BY key\(isDescending ? " DESC" : "") LIMIT \(size)"
    return reading(text, values)
  }

  package func splitRows(of split: Int64) throws -> [RowID] {
    let result = try read(
      "SELECT key FROM node WHERE ns = $1 AND parent = $2 AND split IS NOT NULL ORDER BY key",
      [.integer(split)])
    return (0..<result.count).map { RowID(parent: split, key: result.bytes($0, 0) ?? []) }
  }

  package func rowCount(of split: Int64) throws -> Int {
    Int(
      try number("SELECT count(*) FROM node WHERE ns = $1 AND parent = $2", .integer(split)) ?? 0)
  }

  package func put(_ stored: StoredRow, in row: RowID) throws {
    held.put(stored, in: row)
    note(stored, in: row)
    try sendIfMany()
  }

  package func deleteRow(_ id: RowID) throws {
    held.put(nil, in: id)
    known.note(nil, in: id)
    try sendIfMany()
  }

  /// Sends held-back writes when they are many.
  ///
  /// Only a change of a row leads to this: the changes of the entries of one order belong together.
  private func sendIfMany() throws {
    if held.count >= PostgresRows.heldCountMax || held.byteCount >= HeldRows.byteCountMax {
      try send()
    }
  }
}

// MARK: Split nodes

extension PostgresRows {
  package func head(of split: Int64) throws -> SplitHead? {
    if let head = heads[split] { return head }
    let others = heads.takeMet(with: split)
    if others.count > 1 {
      try noteHeads(others)
      if let head = heads[split] { return head }
    }
    let result = try read(headStatement(split))
    let head = result.count == 0 ? nil : try Damage.locating(.split(split)) { try result.head(0) }
    heads.note(head, of: split)
    return head
  }

  /// Notes the split nodes in a page of rows, so that their heads are read together if they are asked for.
  func meetSplits(_ page: PostgresResult, _ column: Int) throws {
    for row in 0..<page.count where !page.isNull(row, column) {
      if let split = try page.integer(row, column) { heads.meet(split) }
    }
  }

  private func noteHeads(_ splits: [Int64]) throws {
    let result = try read(
      "SELECT children, priority, id FROM split WHERE ns = $1 AND id = ANY ($2)",
      [.integers(splits)])
    for row in 0..<result.count {
      // A damaged one is asked for by itself, and named then.
      guard let split = try result.integer(row, 2), let head = try? result.head(row) else {
        continue
      }
      heads.note(head, of: split)
    }
  }

  func headStatement(_ split: Int64) -> PostgresStatement {
    reading("SELECT children, priority FROM split WHERE ns = $1 AND id = $2", [.integer(split)])
  }

  package func newSplit() throws -> Int64 {
    defer { nextSplit += 1 }
    return nextSplit
  }

  package func put(_ head: SplitHead, of split: Int64) throws {
    heads.forget(split)
    held.put(head, of: split)
  }

  package func addChildren(_ difference: Int, to split: Int64) throws {
    heads.forget(split)
    held.addChildren(difference, to: split)
  }

  package func deleteSplit(_ split: Int64) throws {
    heads.forget(split)
    held.deleteSplit(split)
    known.forget(split)
  }
}

// MARK: Entries

extension PostgresRows {
  package func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool {
    try read(entriesStatement(split, order)).count > 0
  }

  func entriesStatement(_ split: Int64, _ order: EntryOrder) -> PostgresStatement {
    reading(
      "SELECT 1 FROM index_entry WHERE ns = $1 AND parent = $2 AND definition = $3 LIMIT 1",
      [.integer(split), .integer(order.definition)])
  }

  package func entryCount(of split: Int64, in order: EntryOrder) throws -> Int {
    let count = try number(
      "SELECT count(*) FROM index_entry WHERE ns = $1 AND parent = $2 AND definition = $3",
      .integer(split), .integer(order.definition))
    return Int(count ?? 0)
  }

  package func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    held.change(entry, of: split, in: order, isThere: true)
  }

  package func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    held.change(entry, of: split, in: order, isThere: false)
  }

  package func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws {
    try EntryReading(rows: self, split: split, order: order, isDescending: isDescending)
      .forEach(in: range, body)
  }

  /// The whole value of a row's entry in an order; the cut one if the row does not belong to it.
  func wholeValue(_ cut: [UInt8], of content: RowContent, in order: EntryOrder) throws -> [UInt8] {
    let index: QueryIndex
    switch order {
    case .priority: index = .priority
    case .index(let id):
      guard let found = indexes.first(where: { $0.id == id }) else { return cut }
      index = found.order
    }
    let tree = StoredTree(self, indexes: indexes)
    let whole = OrderedBytes.value(try tree.indexValue(of: content.stored, index))
    return whole.starts(with: cut) ? whole : cut
  }
}

extension EntryOrder {
  /// The number of the order in `index_entry`: 0 is that of priorities.
  var definition: Int64 {
    switch self {
    case .priority: 0
    case .index(let id): id
    }
  }
}

// MARK: Checks

extension PostgresRows {
  package func checkNeighbors(of id: RowID) throws {}

  package func hasTraces(ofTree root: RowID) throws -> Bool {
    try number("SELECT 1 FROM node WHERE ns = $1 AND parent > 0 LIMIT 1") != nil
  }

  package func name(of split: Int64) throws -> RowID? {
    let result = try read(
      "SELECT parent, key FROM node WHERE ns = $1 AND split = $2 LIMIT 1", [.integer(split)])
    if result.count == 0 { return nil }
    return RowID(parent: try result.integer(0, 0) ?? -1, key: result.bytes(0, 1) ?? [])
  }
}

extension PostgresResult {
  /// The head in a row that begins with the columns `children` and `priority`.
  fileprivate func head(_ row: Int) throws -> SplitHead {
    guard let children = try integer(row, 0), children >= 0 else {
      throw Damage("it does not say how many children it has")
    }
    return SplitHead(
      children: Int(children), priority: try RecordCoding.priority(bytes(row, 1)))
  }

  /// The content of a row with the columns `json` and `split`, from `first` on.
  ///
  /// - Throws: `Damage` if there is none.
  func content(_ row: Int, from first: Int) throws -> RowContent {
    if let split = try integer(row, first + 1) { return .split(split) }
    if isNull(row, first) { throw Damage("nothing is stored where something should be") }
    return .record(rawBytes(row, first).bindMemory(to: UInt8.self))
  }
}

/// The sizes of the pages of a reading: first as many rows as are wanted, or few if that is not known.
struct PageSize {
  private static let sizeMax = 2048
  private static let sizeMin = 128

  private(set) var current: Int
  private var hasBegun = false

  /// Sizes for a reading that ends after so many rows; nil if that is not known.
  init(_ wantedCount: Int?) {
    current = wantedCount.map(PageSize.rounded) ?? PageSize.sizeMin
  }

  /// A size that is an eighth larger at most, or 8: one of few, so that few statements are prepared.
  private static func rounded(_ count: Int) -> Int {
    if count >= sizeMax { return sizeMax }
    var step = 8
    while step * 16 < count { step *= 2 }
    return max((count + step - 1) / step, 1) * step
  }

  /// The size of the next page.
  mutating func next() -> Int {
    if hasBegun { current = min(max(current * 4, PageSize.sizeMin), PageSize.sizeMax) }
    hasBegun = true
    return current
  }
}
