import RunnelStorage
import RunnelTree

/// Writes to the rows of a namespace that are held back, so that a statement names each row once.
struct HeldRows {
  /// The most bytes that are held back.
  static let byteCountMax = 4 << 20
  /// The most bytes of a value in `index_entry`.
  static let valueBytesMax = 1024
  /// The most rows of a table that are deleted or counted by a statement each.
  ///
  /// More of them are joined with arrays, one of which is the namespace's number for each row: beside a
  /// namespace that is a constant, the planner reads all rows of one that it has not analyzed yet.
  private static let singlesMax = 64

  private enum Head {
    case written(SplitHead)
    /// The number of children changed, and nothing else.
    case counted(Int)
  }

  /// What became of the entry with a cut value.
  private struct EntryChange {
    /// The whole values that were inserted and not deleted afterwards: one, or none.
    var inserted: Set<[UInt8]> = []
  }

  /// The changed rows by parent; nil for a deleted row.
  private var rows: [Int64: [[UInt8]: StoredRow?]] = [:]
  private var heads: [Int64: Head] = [:]
  /// The changed entries by parent and number of the order; values are cut.
  private var entries: [Int64: [Int64: [RowEntry: EntryChange]]] = [:]
  private var deletedSplits: Set<Int64> = []
  /// The number of changes, at most.
  private(set) var count = 0
  /// The bytes of the records.
  private(set) var byteCount = 0

  var isEmpty: Bool { count == 0 }

  /// The part of a value that is stored.
  static func cut(_ value: [UInt8]) -> [UInt8] {
    value.count <= valueBytesMax ? value : Array(value[..<valueBytesMax])
  }

  // MARK: Holding

  mutating func put(_ stored: StoredRow?, in row: RowID) {
    count += 1
    if case .record(let bytes)? = stored { byteCount += bytes.count }
    rows[row.parent, default: [:]][row.key] = .some(stored)
  }

  mutating func put(_ head: SplitHead, of split: Int64) {
    count += 1
    heads[split] = .written(head)
  }

  mutating func addChildren(_ difference: Int, to split: Int64) {
    count += 1
    switch heads[split] {
    case .written(var head):
      head.children += difference
      heads[split] = .written(head)
    case .counted(let before): heads[split] = .counted(before + difference)
    case nil: heads[split] = .counted(difference)
    }
  }

  /// What was written below the node before goes with it.
  mutating func deleteSplit(_ split: Int64) {
    count += 1
    rows[split] = nil
    heads[split] = nil
    entries[split] = nil
    deletedSplits.insert(split)
  }

  mutating func change(
    _ entry: RowEntry, of split: Int64, in order: EntryOrder, isThere: Bool
  ) {
    count += 1
    let stored = RowEntry(value: HeldRows.cut(entry.value), key: entry.key)
    var change = entries[split]?[order.definition]?[stored] ?? EntryChange()
    // Two long values may be stored the same: the new one stays when the old one is deleted.
    if isThere { change.inserted.insert(entry.value) } else { change.inserted.remove(entry.value) }
    entries[split, default: [:]][order.definition, default: [:]][stored] = change
  }

  // MARK: Statements

  /// The statements that carry out all of it, in order.
  func statements(namespace: Int64) -> [PostgresStatement] {
    deletions(namespace) + rowStatements(namespace) + headStatements(namespace)
      + entryStatements(namespace)
  }

  private static func each(_ namespace: Int64, _ count: Int) -> PostgresValue {
    .integers(Array(repeating: namespace, count: count))
  }

  private func deletions(_ namespace: Int64) -> [PostgresStatement] {
    if deletedSplits.isEmpty { return [] }
    let splits = PostgresValue.integers(deletedSplits.sorted())
    return [
      "DELETE FROM node WHERE ns = $1 AND parent = ANY ($2)",
      "DELETE FROM index_entry WHERE ns = $1 AND parent = ANY ($2)",
      "DELETE FROM split WHERE ns = $1 AND id = ANY ($2)",
    ].map { PostgresStatement($0, .integer(namespace), splits) }
  }

  private func rowStatements(_ namespace: Int64) -> [PostgresStatement] {
    var deleted: (parents: [Int64?], keys: [[UInt8]?]) = ([], [])
    var written: (parents: [Int64?], keys: [[UInt8]?], json: [[UInt8]?], splits: [Int64?]) =
      ([], [], [], [])
    for (parent, changes) in rows.sorted(by: { $0.key < $1.key }) {
      for (key, row) in changes.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        guard let row else {
          deleted.parents.append(parent)
          deleted.keys.append(key)
          continue
        }
        written.parents.append(parent)
        written.keys.append(key)
        switch row {
        case .record(let bytes):
          written.json.append(bytes)
          written.splits.append(nil)
        case .split(let split):
          written.json.append(nil)
          written.splits.append(split)
        }
      }
    }
    var statements: [PostgresStatement] = []
    if deleted.keys.count <= HeldRows.singlesMax {
      for case (let parent?, let key) in zip(deleted.parents, deleted.keys) {
        statements.append(
          PostgresStatement(
            "DELETE FROM node WHERE ns = $1 AND parent = $2 AND key = $3", .integer(namespace),
            .integer(parent), .bytes(key)))
      }
    } else {
      statements.append(
        PostgresStatement(
          """
          DELETE FROM node n USING unnest($1, $2, $3) d(n, p, k)
          WHERE n.ns = d.n AND n.parent = d.p AND n.key = d.k
          """, HeldRows.each(namespace, deleted.keys.count), .integers(deleted.parents),
          .byteStrings(deleted.keys)))
    }
    if !written.keys.isEmpty {
      statements.append(
        PostgresStatement(
          """
          INSERT INTO node (ns, parent, key, json, split)
          SELECT $1, d.p, d.k, d.j, d.s FROM unnest($2, $3, $4, $5) d(p, k, j, s)
          ON CONFLICT (ns, parent, key) DO UPDATE SET json = excluded.json, split = excluded.split
          """, .integer(namespace), .integers(written.parents), .byteStrings(written.keys),
          .byteStrings(written.json), .integers(written.splits)))
    }
    return statements
  }

  private func headStatements(_ namespace: Int64) -> [PostgresStatement] {
    var counted: (splits: [Int64?], counts: [Int64?]) = ([], [])
    var written: (splits: [Int64?], counts: [Int64?], priorities: [[UInt8]?]) = ([], [], [])
    for (split, head) in heads.sorted(by: { $0.key < $1.key }) {
      switch head {
      case .counted(0): break
      case .counted(let count):
        counted.splits.append(split)
        counted.counts.append(Int64(count))
      case .written(let head):
        written.splits.append(split)
        written.counts.append(Int64(head.children))
        written.priorities.append(RecordCoding.bytes(head.priority))
      }
    }
    var statements: [PostgresStatement] = []
    if counted.splits.count <= HeldRows.singlesMax {
      for case (let split?, let count?) in zip(counted.splits, counted.counts) {
        statements.append(
          PostgresStatement(
            "UPDATE split SET children = children + $3 WHERE ns = $1 AND id = $2",
            .integer(namespace), .integer(split), .integer(count)))
      }
    } else {
      statements.append(
        PostgresStatement(
          """
          UPDATE split s SET children = s.children + d.c FROM unnest($1, $2, $3) d(n, i, c)
          WHERE s.ns = d.n AND s.id = d.i
          """, HeldRows.each(namespace, counted.splits.count), .integers(counted.splits),
          .integers(counted.counts)))
    }
    if !written.splits.isEmpty {
      statements.append(
        PostgresStatement(
          """
          INSERT INTO split (ns, id, children, priority)
          SELECT $1, d.i, d.c, d.p FROM unnest($2, $3, $4) d(i, c, p)
          ON CONFLICT (ns, id) DO UPDATE
          SET children = excluded.children, priority = excluded.priority
          """, .integer(namespace), .integers(written.splits), .integers(written.counts),
          .byteStrings(written.priorities)))
    }
    return statements
  }

  private func entryStatements(_ namespace: Int64) -> [PostgresStatement] {
    var deleted = EntryColumns()
    var inserted = EntryColumns()
    for (split, orders) in entries.sorted(by: { $0.key < $1.key }) {
      for (definition, changes) in orders.sorted(by: { $0.key < $1.key }) {
        for (entry, change) in changes.sorted(by: { $0.key.precedes($1.key) }) {
          if change.inserted.isEmpty {
            deleted.add(entry, split, definition)
          } else {
            inserted.add(entry, split, definition)
          }
        }
      }
    }
    var statements: [PostgresStatement] = []
    if deleted.keys.count <= HeldRows.singlesMax {
      statements += deleted.each.map { values in
        PostgresStatement(
          """
          DELETE FROM index_entry
          WHERE ns = $1 AND parent = $2 AND definition = $3 AND value = $4 AND key = $5
          """, values: [.integer(namespace)] + values)
      }
    } else {
      statements.append(
        PostgresStatement(
          """
          DELETE FROM index_entry e USING unnest($1, $2, $3, $4, $5) d(n, p, o, v, k)
          WHERE e.ns = d.n AND e.parent = d.p AND e.definition = d.o AND e.value = d.v AND e.key = d.k
          """, values: [HeldRows.each(namespace, deleted.keys.count)] + deleted.values))
    }
    if !inserted.keys.isEmpty {
      statements.append(
        PostgresStatement(
          """
          INSERT INTO index_entry (ns, parent, definition, value, key)
          SELECT $1, d.p, d.o, d.v, d.k FROM unnest($2, $3, $4, $5) d(p, o, v, k)
          ON CONFLICT (ns, parent, definition, value, key) DO NOTHING
          """, values: [.integer(namespace)] + inserted.values))
    }
    return statements
  }

  /// The columns of entries, as parameters.
  private struct EntryColumns {
    var splits: [Int64?] = []
    var definitions: [Int64?] = []
    var entryValues: [[UInt8]?] = []
    var keys: [[UInt8]?] = []

    mutating func add(_ entry: RowEntry, _ split: Int64, _ definition: Int64) {
      splits.append(split)
      definitions.append(definition)
      entryValues.append(entry.value)
      keys.append(entry.key)
    }

    /// The columns of each entry.
    var each: [[PostgresValue]] {
      keys.indices.map { index in
        [
          .integer(splits[index] ?? 0), .integer(definitions[index] ?? 0),
          .bytes(entryValues[index]), .bytes(keys[index]),
        ]
      }
    }

    var values: [PostgresValue] {
      [.integers(splits), .integers(definitions), .byteStrings(entryValues), .byteStrings(keys)]
    }
  }
}
