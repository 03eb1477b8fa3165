import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

/// Moves data that a repair cannot leave in place to a place of its own: below
/// `/recovered/repair-N`.
///
/// These are rows whose content was changed by damage, rows that are not reachable from the root,
/// and entries of the history whose content was changed. No data is deleted: if a row holds no value any more, its bytes are kept. Each row becomes
/// a node with `place` (its old place, as far as it is known), `why`, and its `value`, `text` or
/// `bytes`.
///
/// First `collect` takes the rows out of the tables; when the counts are right again, `place`
/// inserts them. The caller makes the entries of indexes anew.
struct Recovery {
  /// The remains of a row.
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
  /// The split nodes without a row of their own that stay in place.
  private var headless: Set<Int64> = []

  init(db: GRDB.Database, damage: TreeDamage) {
    self.db = db
    self.damage = damage
    var tree = StoredTree(SQLiteRows(db, StatementCache()), indexes: [])
    tree.isMending = true
    self.tree = tree
  }

  // MARK: Taking out

  /// Takes rows that cannot stay in place out of the tables; afterwards every row of `split` is
  /// named once, and has children.
  mutating func collect() throws {
    for row in damage.rows { try setAside(row) }
    for entry in damage.entries { try setAside(entry: entry.id, entry.why) }
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
    // The row may be on the list for two reasons.
    guard let (stored, place) = try find(row) else { return }
    // The damaged row stands in the list; it is kept as it is.
    let split = try? stored.integerOrNil("split")
    if let split, let root = row.root, try hasChildren(split) {
      // The tree cannot be anything else, so the damage is not in the name of the split node.
      return try tree.rowStore.put(.split(split), in: root)
    }
    if let split, row.isHeadMissing, try hasChildren(split), headless.insert(split).inserted {
      // Its children are there: its head is made anew.
      return
    }
    try place.delete(db)
    let record = Recovery.content(stored["json"])
    guard let split else { return add(row.place, row.why, record) }
    add(row.place, row.why, .split(split))
    // The row was both; which of them was written is unknown.
    if case .nothing = record { return }
    add(row.place, row.why, record)
  }

  /// Takes an entry out of the history; its change stays in the feed.
  private mutating func setAside(entry id: Int64, _ why: String) throws {
    let row = try Row.fetchOne(
      db, sql: "SELECT parts FROM change WHERE sequence = ?", arguments: [id])
    add("entry \(id) of the history", why, row.map { Recovery.bytes($0["parts"]) } ?? .nothing)
    try db.execute(
      sql: """
        UPDATE change SET at = NULL, author = NULL, undoes = NULL, parts = NULL WHERE sequence = ?
        """, arguments: [id])
  }

  /// The position of a damaged row in its table.
  private struct Place {
    var condition = "parent IS ? AND key IS ?"
    var arguments: StatementArguments

    func delete(_ db: GRDB.Database) throws {
      try db.execute(sql: "DELETE FROM node WHERE " + condition, arguments: arguments)
    }
  }

  /// The content of a damaged row and its position; nil if the row is gone.
  private func find(_ row: TreeDamage.BadRow) throws -> (stored: Row, place: Place)? {
    var place = Place(arguments: [row.parent, row.key])
    // A key that became a text may contain zeros, at which SQLite ends a text: such rows are read
    // one after the other, and compared by their bytes.
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
    let content = bytes(json)
    guard case .bytes(let bytes) = content else { return content }
    // Unreadable content is kept as its bytes.
    return (try? RecordCoding.node(bytes)).map { .node($0) } ?? content
  }

  private static func bytes(_ value: DatabaseValue) -> Content {
    switch value.storage {
    case .null: .nothing
    case .blob(let data): .bytes(Array(data))
    case .string(let text): .bytes(Array(text.utf8))
    case .int64(let number): .bytes(Array(String(number).utf8))
    case .double(let number): .bytes(Array(String(number).utf8))
    }
  }

  /// Makes heads for split nodes that have lost their own row: the stored rows are still their
  /// children.
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

  /// Lets a row that was set aside keep its split node, unless that is named elsewhere, too.
  private mutating func claimNamed() {
    var claimed: Set<Int64> = []
    for (index, entry) in entries.enumerated() {
      guard case .split(let split) = entry.content else { continue }
      if splits.contains(split), names[split] == nil, claimed.insert(split).inserted { continue }
      entries[index].content = .nothing
    }
  }

  /// Takes the smallest split node out of each cycle of nodes that contain each other.
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

  /// Removes split nodes without stored children, and then those that become empty.
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

  /// Inserts the removed rows into the tree, and reports their places.
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

  /// Makes the whole tree a parent: if it is a leaf, which has no children, it is set aside, too.
  private mutating func makeRoom() throws {
    guard case .record(let bytes)? = try tree.row(.root) else { return }
    let node = try RecordCoding.node(bytes)
    guard node.children.isEmpty else { return }
    add("/", "what was recovered could not stand beside it", .node(node))
    try tree.rowStore.deleteRow(.root)
  }

  /// A place that is empty.
  private func emptyFolder() throws -> Path {
    var folder = try Path("recovered")
    var number = 1
    // A value that a user has stored there stays.
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

  /// The node for bytes that are no value: their text if they are UTF-8, else hexadecimal digits.
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
  /// The tree of the file of which the row is the root; nil if the row is below a root.
  fileprivate var root: RowID? {
    guard case .int64(0) = parent.storage, case .blob(let bytes) = key.storage else { return nil }
    return [RowID.root, .server].first { $0.key == Array(bytes) }
  }
}
