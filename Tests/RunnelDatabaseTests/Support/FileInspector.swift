import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

@testable import RunnelDatabase

/// Reads a database file by plain SQL, and says which of the invariants of `Schema` do not hold.
///
/// It uses the storage's own coding of keys and values, and nothing else of it.
final class FileInspector {
  private let queue: DatabaseQueue

  init(_ file: String) throws {
    var configuration = Configuration()
    configuration.readonly = true
    queue = try DatabaseQueue(path: file, configuration: configuration)
  }

  /// What the file holds, and what is wrong with it.
  struct Report {
    var root = Node.empty
    var faults: [String] = []
    var splitCount = 0
    var priorityEntries: Set<[DatabaseValue]> = []
    var indexEntries: Set<[DatabaseValue]> = []
    var visited: Set<Int64> = []
  }

  func report() throws -> Report {
    try queue.read { db in
      var report = Report()
      let indexes = try StoreTransaction.storedIndexes(db)
      let roots = try Row.fetchAll(db, sql: "SELECT key, json, split FROM node WHERE parent <= 0")
      if roots.count > 1 { report.faults.append("There are \(roots.count) rows above all.") }
      if let root = roots.first {
        if !root.bytes("key").isEmpty { report.faults.append("The root has a key.") }
        report.root = try FileInspector.node(root, at: [], db, indexes, &report)
      }
      report.splitCount = report.visited.count
      try FileInspector.checkTables(db, &report)
      return report
    }
  }

  private static func node(
    _ row: Row, at place: [RunnelTree.Key], _ db: GRDB.Database, _ indexes: [StoredIndex],
    _ report: inout Report
  ) throws -> Node {
    let (json, split) = (row.bytesOrNil("json"), row["split"] as Int64?)
    guard let split else {
      let bytes = json ?? []
      let node = try RecordCoding.node(bytes)
      if node.isEmpty { report.faults.append("I2: an empty record at \(place).") }
      if Array(RecordWriter().record(node)) != bytes {
        report.faults.append("A record is not canonical.")
      }
      if bytes.count > RecordCoding.bytesMax, node.leaf == nil {
        report.faults.append("A record of \(bytes.count) bytes at \(place).")
      }
      return node
    }
    if json != nil { report.faults.append("A row is both a record and split.") }
    if !report.visited.insert(split).inserted { report.faults.append("I1: \(split) twice.") }
    guard let head = try Row.fetchOne(db, sql: "SELECT * FROM split WHERE id = \(split)") else {
      report.faults.append("I1: \(split) has no head.")
      return .empty
    }
    let rows = try Row.fetchAll(
      db, sql: "SELECT key, json, split FROM node WHERE parent = \(split) ORDER BY key")
    if rows.isEmpty { report.faults.append("I2: \(split) has no children.") }
    let told: Int = head["children"]
    if rows.count != told {
      report.faults.append("I1: \(split) has \(rows.count) children and says \(told).")
    }
    return try children(rows, of: split, head, at: place, db, indexes, &report)
  }

  private static func children(
    _ rows: [Row], of split: Int64, _ head: Row, at place: [RunnelTree.Key], _ db: GRDB.Database,
    _ indexes: [StoredIndex], _ report: inout Report
  ) throws -> Node {
    var children: [Child] = []
    for row in rows {
      let bytes = row.bytes("key")
      guard let key = OrderedBytes.key(from: bytes), OrderedBytes.key(key) == bytes else {
        report.faults.append("A key is no key: \(bytes).")
        continue
      }
      if let last = children.last, !(last.key < key) {
        report.faults.append("\(key) is misplaced.")
      }
      let child = try node(row, at: place + [key], db, indexes, &report)
      children.append(Child(key: key, node: child))
      if let priority = child.priority {
        let value = OrderedBytes.value(.leaf(priority))
        report.priorityEntries.insert(
          [split.databaseValue, value.databaseValue, bytes.databaseValue])
      }
      for index in indexes where index.covers(place) {
        let value = OrderedBytes.value(index.order.value(of: child))
        report.indexEntries.insert([
          split.databaseValue, index.id.databaseValue, value.databaseValue, bytes.databaseValue,
        ])
      }
    }
    return Node(
      children: children, priority: try RecordCoding.priority(head.bytesOrNil("priority")))
  }

  private static func checkTables(_ db: GRDB.Database, _ report: inout Report) throws {
    let splits = try Set(Int64.fetchAll(db, sql: "SELECT id FROM split"))
    if splits != report.visited { report.faults.append("I1: splits without a row: \(splits).") }
    let parents = try Set(Int64.fetchAll(db, sql: "SELECT DISTINCT parent FROM node"))
    if !parents.subtracting([0]).isSubset(of: splits) {
      report.faults.append("I1: rows without a parent: \(parents) of \(splits).")
    }
    let priorities = try entries(db, "SELECT parent, value, key FROM priority_entry")
    if priorities != report.priorityEntries { report.faults.append("I3: priority entries.") }
    let indexed = try entries(db, "SELECT parent, definition, value, key FROM index_entry")
    if indexed != report.indexEntries { report.faults.append("I3: index entries.") }
  }

  private static func entries(
    _ db: GRDB.Database, _ sql: String
  ) throws -> Set<[DatabaseValue]> {
    Set(try Row.fetchAll(db, sql: sql).map { Array($0.databaseValues) })
  }

  /// One number of the file, by SQL.
  func number(_ sql: String) throws -> Int {
    try queue.read { try Int.fetchOne($0, sql: sql) ?? 0 }
  }

  /// One text of the file, by SQL.
  func text(_ sql: String) throws -> String? {
    try queue.read { try String.fetchOne($0, sql: sql) }
  }
}

extension [UInt8] {
  fileprivate var databaseValue: DatabaseValue { databaseBlob.databaseValue }
}
