import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

/// Puts what a repair cannot leave where it is in a place of its own: below `/recovered/repair-N`.
///
/// These are rows that are not what was written, and rows to which nothing leads from the root. Nothing
/// is deleted that holds data: of a row that holds no value any more, the bytes are kept. Each becomes a
/// node with `place` (where it was, as far as that is known), `why`, and its `value`, `text` or `bytes`.
///
/// First `collect` takes them out of the tables; when the counts are right again, `place` puts them in.
/// Entries of indexes are the caller's to make anew.
struct Recovery {
  /// What is left of a row.
  private enum Content {
    case node(Node)
    case split(Int64)
    case bytes([UInt8])
    case nothing
  }

  private struct Entry {
    var place: String
    var why: String
    var content: Content
  }

  private let db: GRDB.Database
  private let damage: TreeDamage
  private let tree: StoredTree
  private var entries: [Entry] = []
  /// The row that names each split node.
  private var names: [Int64: RowID] = [:]
  private var splits: Set<Int64> = []
  /// Split nodes without a row of their own that stay where they are.
  private var headless: Set<Int64> = []

  init(db: GRDB.Database, damage: TreeDamage) {
    self.db = db
    self.damage = damage
    var tree = StoredTree(SQLiteRows(db, StatementCache()), indexes: [])
    tree.isMending = true
    self.tree = tree
  }

  // MARK: Taking out

  /// Takes out of the tables what cannot stay where it is; every row of `split` is then named once, and
  /// has children.
  mutating func collect() throws {
    for row in damage.rows { try setAside(row) }
    try makeMissingHeads()
    for split in damage.priorities { try dropPriority(of: split) }
    try readNames()
    claimNamed()
    try openCircles()
    try dropEmptySplits()
    for split in splits.sorted() where names[split] == nil && !isClaimed(split) {
      add("split node \(split)", "nothing led to it", .split(split))
    }
  }

  private mutating func add(_ place: String, _ why: String, _ content: Content) {
    entries.append(Entry(place: place, why: why, content: content))
  }

  private func isClaimed(_ split: Int64) -> Bool {
    entries.contains { if case .split(split) = $0.content { true } else { false } }
  }

  private mutating func setAside(_ row: TreeDamage.BadRow) throws {
    // It may be on the list for two reasons.
    guard let (stored, place) = try find(row) else { return }
    // What is damaged there stands in the list; it is kept as it is.
    let split = try? stored.integerOrNil("split")
    if let split, let root = row.root, try hasChildren(split) {
      // Nothing else can be the tree, so it is not the name that was damaged.
      return try tree.rowStore.put(.split(split), in: root)
    }
    if let split, row.isHeadMissing, try hasChildren(split), headless.insert(split).inserted {
      // Its children are there: their head is made anew.
      return
    }
    try place.delete(db)
    let record = Recovery.content(stored["json"])
    guard let split else { return add(row.place, row.why, record) }
    add(row.place, row.why, .split(split))
    // It was both, and which of them was written is not known.
    if case .nothing = record { return }
    add(row.place, row.why, record)
  }

  /// Where a damaged row stands in its table.
  private struct Place {
    var condition = "parent IS ? AND key IS ?"
    var arguments: StatementArguments

    func delete(_ db: GRDB.Database) throws {
      try db.execute(sql: "DELETE FROM node WHERE " + condition, arguments: arguments)
    }
  }

  /// What a damaged row holds, and where it stands; nil if it is there no more.
  private func find(_ row: TreeDamage.BadRow) throws -> (stored: Row, place: Place)? {
    var place = Place(arguments: [row.parent, row.key])
    // A key that became a text may hold zeros, at which a text ends for its reader: such rows are
    // taken one after the other, by their bytes.
    if case .string = row.key.storage {
      let bytes = try Row.fetchOne(
        db,
        sql: "SELECT CAST(key AS BLOB) FROM node WHERE parent IS ? AND typeof(key) = 'text'",
        arguments: [row.parent])
      guard let bytes else { return nil }
      place = Place(
        condition: "parent IS ? AND typeof(key) = 'text' AND CAST(key AS BLOB) IS ?",
        arguments: [row.parent, bytes[0] as DatabaseValue])
    }
    let stored = try Row.fetchOne(
      db, sql: "SELECT json, split FROM node WHERE " + place.condition, arguments: place.arguments)
    return stored.map { ($0, place) }
  }

  private func hasChildren(_ split: Int64) throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 FROM node WHERE parent = ?)", arguments: [split]) ?? false
  }

  private static func content(_ json: DatabaseValue) -> Content {
    let bytes: [UInt8]
    switch json.storage {
    case .null: return .nothing
    case .blob(let data): bytes = Array(data)
    case .string(let text): bytes = Array(text.utf8)
    case .int64(let number): bytes = Array(String(number).utf8)
    case .double(let number): bytes = Array(String(number).utf8)
    }
    // What cannot be read is kept as the bytes that it is.
    return (try? RecordCoding.node(bytes)).map { .node($0) } ?? .bytes(bytes)
  }

  /// Rows are stored whose split node has lost its own row: they are its children all the same.
  private func makeMissingHeads() throws {
    try db.execute(
      sql: """
        INSERT INTO split (id, children)
        SELECT DISTINCT parent, 0 FROM node
        WHERE parent > 0 AND parent NOT IN (SELECT id FROM split)
        """)
  }

  private mutating func dropPriority(of split: Int64) throws {
    let priority = try Row.fetchOne(
      db, sql: "SELECT priority FROM split WHERE id = ?", arguments: [split])
    add(
      "the priority of split node \(split)", "it is not the priority that was written",
      Recovery.content(priority?["priority"] ?? .null))
    try db.execute(sql: "UPDATE split SET priority = NULL WHERE id = ?", arguments: [split])
  }

  private mutating func readNames() throws {
    splits = try Set(Int64.fetchAll(db, sql: "SELECT id FROM split"))
    let cursor = try Row.fetchCursor(
      db, sql: "SELECT parent, key, split FROM node WHERE split IS NOT NULL")
    while let row = try cursor.next() {
      guard let split = try row.integerOrNil("split") else { continue }
      names[split] = RowID(parent: try row.integerOrNil("parent") ?? 0, key: row.bytes("key"))
    }
  }

  /// Leaves a row that was set aside its split node, unless that is elsewhere, too.
  private mutating func claimNamed() {
    var claimed: Set<Int64> = []
    for (index, entry) in entries.enumerated() {
      guard case .split(let split) = entry.content else { continue }
      if splits.contains(split), names[split] == nil, claimed.insert(split).inserted { continue }
      entries[index].content = .nothing
    }
  }

  /// Takes the smallest split node out of each circle in which nodes contain each other.
  private mutating func openCircles() throws {
    for split in splits.sorted() {
      var seen: [Int64] = []
      var next = split
      while let name = names[next], name.parent != 0 {
        if let start = seen.firstIndex(of: next) {
          let least = seen[start...].min() ?? next
          if let row = names.removeValue(forKey: least) { try tree.rowStore.deleteRow(row) }
          break
        }
        seen.append(next)
        next = name.parent
      }
    }
  }

  /// Removes split nodes of which no child is stored, and those that have none without them.
  private mutating func dropEmptySplits() throws {
    let sql = "SELECT id FROM split WHERE NOT EXISTS (SELECT 1 FROM node WHERE parent = split.id)"
    while case let empty = try Int64.fetchAll(db, sql: sql), !empty.isEmpty {
      for split in empty {
        if let row = names.removeValue(forKey: split) {
          add(words(for: row), "none of its children was stored", .nothing)
          try tree.rowStore.deleteRow(row)
        }
        for (index, entry) in entries.enumerated() {
          if case .split(split) = entry.content { entries[index].content = .nothing }
        }
        splits.remove(split)
        try db.execute(sql: "DELETE FROM split WHERE id = ?", arguments: [split])
      }
    }
  }

  private func words(for row: RowID) -> String {
    if row.parent == 0 { return "/" }
    guard let key = OrderedBytes.key(from: row.key) else { return "split node \(row.parent)" }
    let above = names[row.parent].map(words) ?? "split node \(row.parent)"
    return (above == "/" ? "" : above) + "/" + key.text
  }

  // MARK: Putting in

  /// Puts into the tree what was taken out, and says where.
  ///
  /// - Precondition: the counts of split nodes are right.
  mutating func place(into repair: inout DatabaseRepair) throws {
    if entries.isEmpty { return }
    try makeRoom()
    let folder = try emptyFolder()
    for (index, entry) in entries.enumerated() {
      let path = try folder.child(Key("row-\(index + 1)"))
      try tree.carryOut(Assignment(path: path, target: .node(try Recovery.node(entry))))
      if case .split(let split) = entry.content {
        try tree.rowStore.put(.split(split), in: .detached)
        try tree.attach(.detached, at: path.child(Key("value")))
      }
      repair.add(RecoveredRow(path: path, place: entry.place, why: entry.why))
    }
  }

  /// A leaf has no children: one that is the whole tree is set aside, too.
  private mutating func makeRoom() throws {
    guard case .record(let bytes)? = try tree.row(.root) else { return }
    let node = try RecordCoding.node(bytes)
    guard node.children.isEmpty else { return }
    add("/", "what was recovered could not stand beside it", .node(node))
    try tree.rowStore.deleteRow(.root)
  }

  /// A place where nothing stands.
  private func emptyFolder() throws -> Path {
    var folder = try Path("recovered")
    var number = 1
    // A value that somebody has there stays.
    while case .leaf = try tree.storedSummary(at: folder).kind {
      folder = try Path("recovered-\(number)")
      number += 1
    }
    number = 1
    while try tree.storedSummary(at: folder.child(Key("repair-\(number)"))).kind != .empty {
      number += 1
    }
    return try folder.child(Key("repair-\(number)"))
  }

  private static func node(_ entry: Entry) throws -> Node {
    var children = [
      Child(key: try Key("place"), node: Node(.string(entry.place))),
      Child(key: try Key("why"), node: Node(.string(entry.why))),
    ]
    switch entry.content {
    case .node(let node): children.insert(Child(key: try Key("value"), node: node), at: 1)
    case .bytes(let bytes): children.insert(try child(of: bytes), at: bytes.isText ? 1 : 0)
    case .split, .nothing: break
    }
    return Node(children: children)
  }

  /// Bytes that are no value: as text if they are one, else as hexadecimal digits.
  private static func child(of bytes: [UInt8]) throws -> Child {
    if bytes.isText {
      return Child(
        key: try Key("text"), node: Node(.string(String(decoding: bytes, as: UTF8.self))))
    }
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return Child(key: try Key("bytes"), node: Node(.string(digits)))
  }
}

extension [UInt8] {
  /// True if the bytes are UTF-8.
  fileprivate var isText: Bool { String(validating: self, as: UTF8.self) != nil }
}

extension TreeDamage.BadRow {
  /// The tree of the file that the row is the root of; nil if it is below one.
  fileprivate var root: RowID? {
    guard case .int64(0) = parent.storage, case .blob(let bytes) = key.storage else { return nil }
    return [RowID.root, .server].first { $0.key == Array(bytes) }
  }
}
