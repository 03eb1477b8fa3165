import RunnelStorage

// Whether rows stand where their keys lead. SQLite searches a table downwards by keys, and then reads
// on from page to page. If two pages were exchanged, or one was written to the place of another, a
// search ends on a page that is not the one it looks for, and a range looks shorter than it is.
//
// So both ends of a range are compared with what stands beyond them: a row and its neighbor must be
// found next to each other from both sides. A row on a page that is not in its place is not found by
// its key.

/// A place in the order of a table: the numbers of its primary key, and then the bytes.
struct TablePlace: Equatable {
  var numbers: [Int64]
  var bytes: [[UInt8]]

  /// True if this place comes before another.
  func precedes(_ other: TablePlace) -> Bool {
    for (one, two) in zip(numbers, other.numbers) where one != two { return one < two }
    for (one, two) in zip(bytes, other.bytes) where one != two {
      return one.lexicographicallyPrecedes(two)
    }
    return false
  }
}

extension TablePlace {
  /// The place of a row in `node`.
  init(_ row: RowID) { self.init(numbers: [row.parent], bytes: [row.key]) }

  /// The place of an entry in the table of its order.
  init(_ entry: RowEntry, of split: Int64, in order: EntryOrder) {
    let numbers = if case .index(let id) = order { [split, id] } else { [split] }
    self.init(numbers: numbers, bytes: [entry.value, entry.key])
  }
}

/// A read of a part of a table.
struct TableRead {
  enum Table: Int {
    case node, priorityEntry, indexEntry
  }

  let table: Table
  let isDescending: Bool
  /// A place in the range, before everything that it may contain.
  let start: TablePlace
  /// Whether a place is in the range.
  let contains: (TablePlace) -> Bool
  /// The first and the last place that were read; nil if there was none.
  var ends: (first: TablePlace, last: TablePlace)?
  /// True if the reader wanted no more.
  var isCut = false
}

extension SQLiteRows {
  /// Checks that a read missed nothing at its ends.
  ///
  /// It costs four searches at most.
  ///
  /// - Throws: `Damage` without a place if rows are not where their keys lead.
  func checkEnds(of read: TableRead) throws {
    guard let (first, last) = read.ends else { return try checkIsEmpty(read) }
    let (low, high) = read.isDescending ? (last, first) : (first, last)
    for isAfter in [false, true] {
      let place = isAfter ? high : low
      if read.isCut, isAfter != read.isDescending {
        // More of the range follows here.
        guard try places(read.table, from: place, isDescending: false).first == place else {
          throw Damage.outOfPlace
        }
      } else if let next = try neighbor(read.table, of: place, isAfter: isAfter),
        read.contains(next)
      {
        throw Damage.outOfPlace
      }
    }
  }

  /// Checks that there is nothing in a range in which nothing was found.
  func checkIsEmpty(_ read: TableRead) throws {
    let (before, after): (TablePlace?, TablePlace?)
    if let next = try places(read.table, from: read.start, isDescending: false).first {
      (before, after) = (try neighbor(read.table, of: next, isAfter: false), next)
    } else if let last = try places(read.table, from: read.start, isDescending: true).first {
      (before, after) = (last, try neighbor(read.table, of: last, isAfter: true))
    } else {
      return
    }
    let isBeforeSound = before.map { !read.contains($0) && !read.start.precedes($0) } ?? true
    let isAfterSound = after.map { !read.contains($0) && !$0.precedes(read.start) } ?? true
    guard isBeforeSound, isAfterSound else { throw Damage.outOfPlace }
  }

  /// The place next to one, in the whole table; nil at its end.
  ///
  /// - Throws: `Damage` if the two are not found next to each other from both sides.
  private func neighbor(
    _ table: TableRead.Table, of place: TablePlace, isAfter: Bool
  ) throws -> TablePlace? {
    let near = try places(table, from: place, isDescending: !isAfter)
    guard near.first == place else { throw Damage.outOfPlace }
    guard near.count == 2 else { return nil }
    let next = near[1]
    guard isAfter ? place.precedes(next) : next.precedes(place),
      try places(table, from: next, isDescending: isAfter) == [next, place]
    else { throw Damage.outOfPlace }
    return next
  }

  /// The first two places from one on, itself included.
  private func places(
    _ table: TableRead.Table, from place: TablePlace, isDescending: Bool
  ) throws -> [TablePlace] {
    let values =
      place.numbers.map(FastStatement.Value.integer) + place.bytes.map(FastStatement.Value.bytes)
    var found: [TablePlace] = []
    try builtStatement(SQLiteRows.searches[table.rawValue][isDescending ? 1 : 0])
      .forEach(values) { row in
        let numberCount = place.numbers.count
        found.append(
          TablePlace(
            numbers: try (0..<numberCount).map { try row.integer(Int32($0), "a number") ?? -1 },
            bytes: place.bytes.indices.map { Array(row.rawBytes(Int32(numberCount + $0))) }))
        return true
      }
    return found
  }

  /// The searches in each table, upwards and downwards.
  private static let searches = [
    ("node", ["parent", "key"]), ("priority_entry", ["parent", "value", "key"]),
    ("index_entry", ["parent", "definition", "value", "key"]),
  ].map { table, columns in
    [(">=", ""), ("<=", " DESC")].map { side, direction in
      """
      SELECT \(columns.joined(separator: ", ")) FROM \(table)
      WHERE (\(columns.joined(separator: ", "))) \(side) \
      (\(columns.map { _ in "?" }.joined(separator: ", ")))
      ORDER BY \(columns.map { $0 + direction }.joined(separator: ", ")) LIMIT 2
      """
    }
  }
}

extension Damage {
  /// Rows that are not found by their keys.
  static var outOfPlace: Damage {
    Damage("rows are not where their keys lead, so that some of its children may not be found")
  }
}

// MARK: Ranges

extension TableRead {
  /// A read of rows.
  init(rowsOf split: Int64, in range: KeyRange, isDescending: Bool) {
    var start = range.lower?.key ?? []
    if range.lower?.isInclusive == false { start.append(0) }
    self.init(
      table: .node, isDescending: isDescending,
      start: TablePlace(numbers: [split], bytes: [start])
    ) { $0.numbers == [split] && range.contains($0.bytes[0]) }
  }

  /// A read of entries.
  init(
    entriesOf split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool
  ) {
    // A key never begins with this byte: a place with it is after all entries of its value.
    let afterAllKeys: UInt8 = 0xFF
    var start = RowEntry(value: [], key: [])
    switch range.lower {
    case .value(let value, let isIncluded):
      start = RowEntry(value: value, key: isIncluded ? [] : [afterAllKeys])
    case .entry(let entry, let isIncluded):
      start = RowEntry(value: entry.value, key: isIncluded ? entry.key : entry.key + [0])
    case nil: break
    }
    let place = TablePlace(start, of: split, in: order)
    let table: Table = if case .index = order { .indexEntry } else { .priorityEntry }
    self.init(table: table, isDescending: isDescending, start: place) {
      $0.numbers == place.numbers
        && range.contains(RowEntry(value: $0.bytes[0], key: $0.bytes[1]))
    }
  }
}
