import RunnelBase
import RunnelDatabase
import RunnelTree

// What is said where an order is by a field that no record has, or a test of one, as by a mistyped one.

extension DatabaseSession {
  /// The words for an order by a field that no child has; nil if one has it, or if the order is by no field.
  ///
  /// Only where the rows that were found lack the field is another one read, the last in its order: O(n) in
  /// the children without an index.
  func wordsOnMissingField(
    at path: Path, _ order: QueryIndex, _ rows: [TreeRow]
  ) throws -> String? {
    let found = rows.compactMap(\.node)
    guard found.count == rows.count else { return nil }
    for field in order.childPaths {
      if found.contains(where: { !$0[field].isEmpty }) { continue }
      let last = try self.rows(
        Query(path).ordered(by: .child(field)).limited(to: 1, from: .last), detail: .full)
      guard let node = last.first?.node, node[field].isEmpty else { continue }
      return MissingField(field, node.children.map(\.key.text)).words("No record at \(path) has")
    }
    return nil
  }
}

extension DatabaseSession {
  /// The number of names among which that of a missing place is looked for.
  private static let namesMax = 1000

  /// The words for a place where nothing stands, if a name in it looks mistyped; nil otherwise.
  ///
  /// Ids and numbers are like others without being mistyped. O(depth log n), and O(n) in the first names
  /// beside a missing one.
  func wordsOnMissingPlace(_ path: Path) throws -> String? {
    if path.isInfo { return nil }
    for (depth, key) in path.keys.enumerated() {
      let place = Path(unchecked: Array(path.keys[...depth]))
      guard try summary(at: place).kind == .empty else { continue }
      let isWord = key.text.count > 3 && key.text.allSatisfy { $0.isLetter || $0 == "_" }
      guard isWord, let parent = place.parent else { return nil }
      let beside = try Query(parent).limited(to: DatabaseSession.namesMax, from: .first)
      let names = try rows(beside, detail: .shallow).map(\.key.text)
      guard let near = Spelling.nearest(to: key.text, among: names) else { return nil }
      let meant = Path(unchecked: parent.keys + [Key(unchecked: near)])
      return ControlCharacters.escapedLine("Nothing stands at \(place): did you mean \(meant)?")
    }
    return nil
  }
}

/// A field that no record has, and the one that was probably meant.
struct MissingField {
  private let field: Path
  private let near: String?

  /// Looks for a name like the field's among those of the fields that are there.
  init(_ field: Path, _ names: [String]) {
    self.field = field
    near = field.keys.first.flatMap { key in
      names.first { $0.lowercased() == key.text.lowercased() }
        ?? Spelling.nearest(to: key.text, among: names)
    }
  }

  /// Looks at a sample of the records at a place: the first of the fields that none of them has; nil if
  /// each is there, or there is no record.
  ///
  /// O(fields x records).
  init?(among fields: [RowField], in sample: [TreeRow]) {
    let nodes = sample.compactMap(\.node).filter { $0.leaf == nil && !$0.isEmpty }
    if nodes.isEmpty { return nil }
    for case .child(let field) in fields where nodes.allSatisfy({ $0[field].isEmpty }) {
      self.init(field, Set(nodes.flatMap { $0.children.map(\.key.text) }).sorted())
      return
    }
    return nil
  }

  /// The sentence that begins with who lacks the field.
  func words(_ start: String) -> String {
    let name = field.keys.map(\.text).joined(separator: "/")
    return ControlCharacters.escapedLine(
      "\(start) a field \(name)" + (near.map { ": did you mean \($0)?" } ?? "."))
  }
}

extension QueryIndex {
  /// The fields of records by which the order goes.
  fileprivate var childPaths: [Path] {
    switch self {
    case .child(let path): [path]
    case .compound(let order):
      order.parts.compactMap { if case .child(let path) = $0.field { path } else { nil } }
    case .key, .value, .priority: []
    }
  }
}
