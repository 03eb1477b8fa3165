package import RunnelBase
package import RunnelTree

/// Three states of one place - as it was, as it is here, as others made it - and what is to become of
/// them, place by place.
///
/// What only one side changed is merged by itself; where both did, somebody has to choose. Pure: it
/// knows JSON without priorities, and nothing of records or screens.
package struct ThreeWay: Hashable, Sendable {
  /// One of the three states.
  package enum Side: Hashable, Sendable, CaseIterable {
    case base
    case mine
    case theirs
  }

  /// What is kept at a place.
  package enum Choice: Hashable, Sendable {
    case side(Side)
    case typed(JSONValue)
  }

  /// A place within, at which the three are compared as a whole; null stands for nothing.
  package struct Row: Hashable, Sendable {
    /// Where it is; the root for all of it.
    package var place: Path
    package var base: JSONValue
    var mine: JSONValue
    var theirs: JSONValue
    /// What is kept; nil while it is not decided.
    package var choice: Choice?

    package init(
      place: Path, base: JSONValue, mine: JSONValue, theirs: JSONValue, choice: Choice? = nil
    ) {
      self.place = place
      self.base = base
      self.mine = mine
      self.theirs = theirs
      self.choice = choice
    }

    /// True if all three are the same.
    var isSame: Bool { base == mine && mine == theirs }

    /// True if both sides changed it, each into something else.
    var isConflict: Bool { mine != base && theirs != base && mine != theirs }

    /// What is kept; nil while it is not decided.
    package var value: JSONValue? {
      switch choice {
      case .side(let side): self[side]
      case .typed(let json): json
      case nil: nil
      }
    }

    /// What stands there in one of the states.
    subscript(side: Side) -> JSONValue {
      switch side {
      case .base: base
      case .mine: mine
      case .theirs: theirs
      }
    }
  }

  /// The places, in the order of their keys; together they are all that stands in any of the states.
  package private(set) var rows: [Row]

  /// Compares three states; what needs no choice is decided.
  init(base: JSONValue, mine: JSONValue, theirs: JSONValue) {
    rows = ThreeWay.rows(
      ThreeWay.plain(base), ThreeWay.plain(mine), ThreeWay.plain(theirs), at: .root)
  }

  /// How many places are not decided.
  var undecidedCount: Int { rows.count { $0.choice == nil } }

  /// Their version, as a whole.
  var theirs: JSONValue { ThreeWay.joined(rows.map { ($0.place, $0.theirs) }) }

  /// The base version, or the version here, as a whole.
  subscript(side: Side) -> JSONValue { ThreeWay.joined(rows.map { ($0.place, $0[side]) }) }

  /// What comes of the choices; where nothing is decided, what others made of it.
  var result: JSONValue { ThreeWay.joined(rows.map { ($0.place, $0.value ?? $0.theirs) }) }

  /// Decides one place.
  mutating func choose(_ choice: Choice, at index: Int) { rows[index].choice = choice }

  /// Decides all places that both sides changed.
  mutating func chooseAll(_ side: Side) {
    for index in rows.indices where rows[index].isConflict { rows[index].choice = .side(side) }
  }

  /// JSON in the order of keys, without priorities.
  private static func plain(_ json: JSONValue) -> JSONValue {
    // What no tree could hold is compared as it is.
    (try? Node(json: json).json) ?? json
  }

  private static func rows(
    _ base: JSONValue, _ mine: JSONValue, _ theirs: JSONValue, at place: Path
  ) -> [Row] {
    let row = Row(place: place, base: base, mine: mine, theirs: theirs)
    // What one side removed is not looked into: half of a record is none. Nor is what was a value: it
    // could not be kept beside parts of what it gave way to.
    let isWhole = names(mine).isEmpty || names(theirs).isEmpty
    if row.isSame || isWhole || (base != .null && names(base).isEmpty) { return [decided(row)] }
    let all = Set(names(base) + names(mine) + names(theirs)).map { Key(unchecked: $0) }.sorted()
    return all.flatMap { key in
      rows(
        base[key.text] ?? .null, mine[key.text] ?? .null, theirs[key.text] ?? .null,
        at: Path(unchecked: place.keys + [key]))
    }
  }

  private static func decided(_ row: Row) -> Row {
    var row = row
    if row.mine == row.base || row.mine == row.theirs {
      row.choice = .side(.theirs)
    } else if row.theirs == row.base {
      row.choice = .side(.mine)
    }
    return row
  }

  private static func names(_ json: JSONValue) -> [String] {
    if case .object(let members) = json { members.map(\.name) } else { [] }
  }

  private static func joined(_ values: [(place: Path, json: JSONValue)]) -> JSONValue {
    if values.count == 1, values[0].place.isRoot { return values[0].json }
    var node = Node.empty
    for (place, json) in values {
      // What was compared as it is stands at the root; all else was a node before.
      guard let value = try? Node(json: json) else { continue }
      node = node.replacing(place, with: value)
    }
    return node.json
  }
}
