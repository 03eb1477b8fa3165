package import RunnelBase
package import RunnelTree

/// Three versions of a place - the base, mine and theirs - and the choice between them, field by
/// field.
///
/// A change of only one side is merged automatically; if both sides changed a place, the user has
/// to choose. The type is pure: it handles JSON without priorities, and knows nothing of records or
/// screens.
package struct ThreeWay: Hashable, Sendable {
  /// One of the three versions.
  package enum Side: Hashable, Sendable, CaseIterable {
    case base
    case mine
    case theirs
  }

  /// The choice for a field.
  package enum Choice: Hashable, Sendable {
    case side(Side)
    case typed(JSONValue)
  }

  /// A place that is compared as a whole; null stands for no value.
  package struct Row: Hashable, Sendable {
    /// The path of the place; the root for the whole value.
    package var place: Path
    package var base: JSONValue
    var mine: JSONValue
    var theirs: JSONValue
    /// The choice, or nil while it is not decided.
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

    /// Whether all three versions are equal.
    var isSame: Bool { base == mine && mine == theirs }

    /// Whether both sides changed the place, each to another value.
    var isConflict: Bool { mine != base && theirs != base && mine != theirs }

    /// The chosen value, or nil while it is not decided.
    package var value: JSONValue? {
      switch choice {
      case .side(let side): self[side]
      case .typed(let json): json
      case nil: nil
      }
    }

    /// The value of a version as it is shown: of a whole, the fields that differ come first, since only the
    /// beginning may be seen.
    package func shown(_ side: Side) -> JSONValue {
      guard !isSame, case .object(let members) = self[side] else { return self[side] }
      let wholes = Side.allCases.map { self[$0] }.filter {
        if case .object = $0 { true } else { false }
      }
      let differs = { (member: JSONMember) in
        wholes.contains { ($0[member.name] ?? .null) != member.value }
      }
      return .object(members.filter(differs) + members.filter { !differs($0) })
    }

    /// The value of a version.
    subscript(side: Side) -> JSONValue {
      switch side {
      case .base: base
      case .mine: mine
      case .theirs: theirs
      }
    }
  }

  /// The places in the order of their keys; together they cover all versions.
  package private(set) var rows: [Row]

  /// Compares three versions; places that need no choice are decided.
  init(base: JSONValue, mine: JSONValue, theirs: JSONValue) {
    rows = ThreeWay.rows(
      ThreeWay.plain(base), ThreeWay.plain(mine), ThreeWay.plain(theirs), at: .root)
  }

  /// The number of places that are not decided.
  var undecidedCount: Int { rows.count { $0.choice == nil } }

  /// Their version, as a whole.
  var theirs: JSONValue { ThreeWay.joined(rows.map { ($0.place, $0.theirs) }) }

  /// Returns a version, as a whole.
  subscript(side: Side) -> JSONValue { ThreeWay.joined(rows.map { ($0.place, $0[side]) }) }

  /// The result of the choices; places that are not decided have their version.
  var result: JSONValue { ThreeWay.joined(rows.map { ($0.place, $0.value ?? $0.theirs) }) }

  /// Sets the choice for a place.
  mutating func choose(_ choice: Choice, at index: Int) { rows[index].choice = choice }

  /// Chooses a side for all conflicts.
  mutating func chooseAll(_ side: Side) {
    for index in rows.indices where rows[index].isConflict { rows[index].choice = .side(side) }
  }

  /// Returns JSON in the order of keys, without priorities.
  private static func plain(_ json: JSONValue) -> JSONValue {
    // A value that the tree cannot hold is compared as it is.
    (try? Node(json: json).json) ?? json
  }

  private static func rows(
    _ base: JSONValue, _ mine: JSONValue, _ theirs: JSONValue, at place: Path
  ) -> [Row] {
    let row = Row(place: place, base: base, mine: mine, theirs: theirs)
    // A value that one side removed is compared as a whole, because half of a record is none. So is
    // a place that held a leaf: the leaf could not be kept beside parts of its replacement.
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
      // A value that the tree cannot hold stands at the root; all others were nodes before.
      guard let value = try? Node(json: json) else { continue }
      node = node.replacing(place, with: value)
    }
    return node.json
  }
}
