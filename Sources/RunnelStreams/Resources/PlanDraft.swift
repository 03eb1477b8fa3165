import RunnelBase
import RunnelTree

/// The writes of a plan, collected while it is made.
///
/// A later value replaces earlier ones at its place and below it. Counts are added up; when the
/// write is made, they are merged into the values at their places or above them.
struct PlanDraft {
  private var puts: [(path: Path, json: JSONValue)] = []
  private var counts: [Path: Int64] = [:]
  /// The initial numbers of counters where no number is stored, by place.
  private var starts: [Path: Int64] = [:]
  /// The records after the plan, by their primary place.
  private(set) var records: [Path: Node] = [:]

  /// Sets JSON at a place; null removes the node there.
  mutating func put(_ json: JSONValue, at path: Path) { puts.append((path, json)) }

  /// Adds to the number at a place.
  mutating func count(_ delta: Int64, at path: Path) { counts[path, default: 0] += delta }

  /// Sets the initial number of a counter, for which no number is stored.
  mutating func start(_ number: Int64, at path: Path) { starts[path] = number }

  /// True if the initial number of a counter was set.
  func hasStart(at path: Path) -> Bool { starts[path] != nil }

  /// Notes the new form of a record.
  mutating func note(_ record: Node, at path: Path) { records[path] = record }

  /// The whole plan as one write; nil if there is nothing to write.
  ///
  /// O(n log n).
  func write() -> Write? {
    var values = merged()
    for (path, delta) in counts where delta != 0 {
      guard let above = path.prefixes.first(where: { values[$0] != nil }) else {
        values[path] =
          starts[path].map { .number(JSONNumber($0 + delta)) }
          ?? [".sv": ["increment": .number(JSONNumber(delta))]]
        continue
      }
      let below = path.keys[above.keys.count...]
      // The same write removes the record with the counter.
      guard let json = values[above], json != .null else { continue }
      let start = starts[path].map { .number(JSONNumber($0)) } ?? json.at(below)
      values[above] = json.replacing(below, with: start.adding(delta))
    }
    if values.isEmpty { return nil }
    let members = values.sorted { $0.key < $1.key }
      .map { JSONMember($0.key.description, $0.value) }
    return .update(.root, members)
  }

  /// The values to set, none of them at a place below another.
  private func merged() -> [Path: JSONValue] {
    let ordered = puts.indices.sorted { left, right in
      puts[left].path == puts[right].path ? left > right : puts[left].path < puts[right].path
    }
    var values: [Path: JSONValue] = [:]
    var open: (path: Path, number: Int)?
    var below: [Int] = []
    for number in ordered {
      let path = puts[number].path
      if let open, open.path.contains(path) {
        // Only values that were set after it still apply.
        if number > open.number, path != open.path { below.append(number) }
        continue
      }
      open = (path, number)
      values[path] = puts[number].json
    }
    for number in below.sorted() {
      let path = puts[number].path
      guard let above = path.prefixes.first(where: { values[$0] != nil }), let json = values[above]
      else { continue }
      let keys = path.keys[above.keys.count...]
      values[above] = json.replacing(keys, with: puts[number].json)
    }
    return values
  }
}

extension Path {
  /// The places on the way here and this one, from the root down.
  fileprivate var prefixes: [Path] {
    (0...keys.count).map { Path(unchecked: Array(keys[..<$0])) }
  }
}

extension JSONValue {
  /// The value at a path of member names; null if there is none.
  fileprivate func at(_ keys: ArraySlice<RunnelTree.Key>) -> JSONValue {
    keys.reduce(self) { json, key in json[key.text] ?? .null }
  }

  /// The same JSON with another value at a path; other values on the way become objects.
  fileprivate func replacing(_ keys: ArraySlice<RunnelTree.Key>, with json: JSONValue) -> JSONValue
  {
    guard let key = keys.first else { return json }
    let child = (self[key.text] ?? .null).replacing(keys.dropFirst(), with: json)
    var members: [JSONMember] = []
    if case .object(let own) = self { members = own }
    if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: key.text) }) {
      members[index].value = child
    } else {
      members.append(JSONMember(key.text, child))
    }
    return .object(members)
  }

  /// The sum of this number and another; any other value counts as 0.
  fileprivate func adding(_ delta: Int64) -> JSONValue {
    guard case .number(let number) = self, let integer = number.integer else {
      return .number(JSONNumber(delta))
    }
    return .number(JSONNumber(integer + delta))
  }
}
