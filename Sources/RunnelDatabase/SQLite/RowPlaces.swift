import GRDB
import RunnelStorage

/// Finds rows that stand at a wrong place in the file, as when pages of it are exchanged.
///
/// A table is a search tree of pages. A search in a wrong page finds nothing, or the rows of another place,
/// and each of these is sound by itself. But a search for such a row leads elsewhere. So where nothing is
/// found, or a range of rows ends, the two rows around that place are looked for themselves: each must be
/// found, with the other one beside it.
struct RowPlaces {
  /// A table whose rows are looked for.
  enum Table {
    case rows
    case priorities
    case entries

    init(_ order: EntryOrder) {
      switch order {
      case .priority: self = .priorities
      case .index: self = .entries
      }
    }
  }

  /// The values of a row's primary key.
  typealias Position = [FastStatement.Value]

  /// Two rows with none between them; nil stands for an end of the table.
  struct Gap {
    var before: Position?
    var after: Position?

    /// Whether a place is between rows of `node`.
    func contains(_ id: RowID) -> Bool {
      let isAfter = before.map { RowPlaces.isInOrder($0, RowPlaces.position(of: id)) } ?? true
      return isAfter && after.map { RowPlaces.isInOrder(RowPlaces.position(of: id), $0) } ?? true
    }
  }

  let table: Table
  let statement: (_ sql: StaticString) throws -> FastStatement

  /// Checks the rows around a place where no row is.
  @discardableResult
  func checkGap(at place: Position) throws -> Gap {
    let before = try pair(from: place, isUp: false).first
    let after = try pair(from: place, isUp: true).first
    // A row at the place itself was found.
    if let before, before == after { return Gap(before: before, after: after) }
    if let after, try pair(from: after, isUp: false) != [after, before].compactMap(\.self) {
      throw RowPlaces.damage
    }
    if let before, try pair(from: before, isUp: true) != [before, after].compactMap(\.self) {
      throw RowPlaces.damage
    }
    return Gap(before: before, after: after)
  }

  /// Checks that a row which was read first of a range is found, and that the row beside it in a direction,
  /// if there is one, is outside of the range and found too.
  func checkEnd(
    at row: Position, isUp: Bool, isOutside: (_ position: Position) -> Bool
  ) throws {
    let found = try pair(from: row, isUp: isUp)
    guard found.first == row else { throw RowPlaces.damage }
    guard let outside = found.dropFirst().first else { return }
    guard isOutside(outside), try pair(from: outside, isUp: !isUp) == [outside, row] else {
      throw RowPlaces.damage
    }
  }

  /// Checks that a row which was read is found.
  func check(_ row: Position) throws {
    guard try pair(from: row, isUp: true).first == row else { throw RowPlaces.damage }
  }

  /// The position of a row of `node`.
  static func position(of id: RowID) -> Position { [.integer(id.parent), .bytes(id.key)] }

  /// Whether a row of `node` comes before another one.
  private static func isInOrder(_ row: Position, _ next: Position) -> Bool {
    guard case .integer(let parent) = row[0], case .bytes(let key) = row[1],
      case .integer(let nextParent) = next[0], case .bytes(let nextKey) = next[1]
    else { return false }
    return parent == nextParent ? key.lexicographicallyPrecedes(nextKey) : parent < nextParent
  }

  private static var damage: Damage {
    Damage("rows do not stand where they belong in the file, so that some are not found")
  }

  /// The row at a place, if there is one, and those after it in a direction: two at most.
  private func pair(from place: Position, isUp: Bool) throws -> [Position] {
    var found: [Position] = []
    try statement(sql(isUp)).forEach(place) { row in
      found.append(try position(in: row))
      return found.count < 2
    }
    return found
  }

  private func sql(_ isUp: Bool) -> StaticString {
    switch (table, isUp) {
    case (.rows, true):
      """
      SELECT parent, key FROM node WHERE (parent, key) >= (?, ?)
      ORDER BY parent, key LIMIT 2
      """
    case (.rows, false):
      """
      SELECT parent, key FROM node WHERE (parent, key) <= (?, ?)
      ORDER BY parent DESC, key DESC LIMIT 2
      """
    case (.priorities, true):
      """
      SELECT parent, value, key FROM priority_entry WHERE (parent, value, key) >= (?, ?, ?)
      ORDER BY parent, value, key LIMIT 2
      """
    case (.priorities, false):
      """
      SELECT parent, value, key FROM priority_entry WHERE (parent, value, key) <= (?, ?, ?)
      ORDER BY parent DESC, value DESC, key DESC LIMIT 2
      """
    case (.entries, true):
      """
      SELECT parent, definition, value, key FROM index_entry
      WHERE (parent, definition, value, key) >= (?, ?, ?, ?)
      ORDER BY parent, definition, value, key LIMIT 2
      """
    case (.entries, false):
      """
      SELECT parent, definition, value, key FROM index_entry
      WHERE (parent, definition, value, key) <= (?, ?, ?, ?)
      ORDER BY parent DESC, definition DESC, value DESC, key DESC LIMIT 2
      """
    }
  }

  private func position(in row: FastStatement) throws -> Position {
    let parent = FastStatement.Value.integer(try row.integer(0, "the parent of a row") ?? -1)
    switch table {
    case .rows: return [parent, .bytes(row.bytes(1) ?? [])]
    case .priorities: return [parent, .bytes(row.bytes(1) ?? []), .bytes(row.bytes(2) ?? [])]
    case .entries:
      let definition = try row.integer(1, "the index of an entry") ?? -1
      return [
        parent, .integer(definition), .bytes(row.bytes(2) ?? []), .bytes(row.bytes(3) ?? []),
      ]
    }
  }
}

// MARK: Ranges

extension RowPlaces {
  /// Bytes behind those of all keys and values.
  private static let last: [UInt8] = [0xFF]

  /// Checks the ends of a range of rows that was read.
  ///
  /// `first` is the row that was read first, nil if there was none; `stop` is the row at which the reader
  /// stopped, nil if the range was read to its end.
  func checkEnds(
    of range: KeyRange, of split: Int64, isDescending: Bool, first: [UInt8]?, stop: [UInt8]?
  ) throws {
    // All rows of a node are counted by the reader.
    if range.lower == nil, range.upper == nil, stop == nil { return }
    let (near, far) = isDescending ? (range.upper, range.lower) : (range.lower, range.upper)
    try checkEnds(
      [.integer(split)], first: first.map { [.bytes($0)] }, stop: stop.map { [.bytes($0)] },
      near: RowPlaces.edge(near, isLower: !isDescending),
      far: RowPlaces.edge(far, isLower: isDescending), isDescending: isDescending
    ) { rest in
      guard case .bytes(let key) = rest[0] else { return true }
      return !range.contains(key)
    }
  }

  /// Checks the ends of a range of entries that was read.
  func checkEnds(
    of range: EntryRange, of split: Int64, in order: EntryOrder, isDescending: Bool,
    first: RowEntry?, stop: RowEntry?
  ) throws {
    if range.lower == nil, range.upper == nil, stop == nil { return }
    var head: Position = [.integer(split)]
    if case .index(let id) = order { head.append(.integer(id)) }
    let (near, far) = isDescending ? (range.upper, range.lower) : (range.lower, range.upper)
    try checkEnds(
      head, first: first.map { [.bytes($0.value), .bytes($0.key)] },
      stop: stop.map { [.bytes($0.value), .bytes($0.key)] },
      near: RowPlaces.edge(near, isLower: !isDescending),
      far: RowPlaces.edge(far, isLower: isDescending), isDescending: isDescending
    ) { rest in
      guard case .bytes(let value) = rest[0], case .bytes(let key) = rest[1] else { return true }
      return !range.contains(RowEntry(value: value, key: key))
    }
  }

  /// `head` begins the positions of all rows of the node and order; the other positions are without it.
  private func checkEnds(
    _ head: Position, first: Position?, stop: Position?, near: Position, far: Position,
    isDescending: Bool, isOutside: (_ rest: Position) -> Bool
  ) throws {
    guard let first else {
      let gap = try checkGap(at: head + near)
      // Each child has an entry in an index that is read, so the table has some of the node.
      let isOfNode = [gap.before, gap.after].contains { $0?.starts(with: head) == true }
      if table == .entries, !isOfNode { throw RowPlaces.damage }
      return
    }
    try checkEnd(at: head + first, isUp: isDescending) { position in
      Position(position.prefix(head.count)) != head
        || isOutside(Position(position.dropFirst(head.count)))
    }
    if let stop {
      if stop != first { try check(head + stop) }
    } else {
      try checkGap(at: head + far)
    }
  }

  /// The place of a bound, at which no row is.
  private static func edge(_ bound: KeyRange.Bound?, isLower: Bool) -> Position {
    guard let bound else { return [.bytes(isLower ? [] : last)] }
    // No key begins with the bytes of another one: so this is just behind the key.
    return [.bytes(bound.isInclusive == isLower ? bound.key : bound.key + [0])]
  }

  private static func edge(_ bound: EntryRange.Bound?, isLower: Bool) -> Position {
    switch bound {
    case nil: [.bytes(isLower ? [] : last), .bytes([])]
    case .value(let value, let isIncluded):
      [.bytes(value), .bytes(isIncluded == isLower ? [] : last)]
    case .entry(let entry, let isIncluded):
      [.bytes(entry.value), .bytes(isIncluded == isLower ? entry.key : entry.key + [0])]
    }
  }
}
