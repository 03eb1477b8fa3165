import RunnelBase
import RunnelDatabase
import RunnelTree

// What is said where an order is by a field that no record has, as by a mistyped one.

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
      let near = field.keys.first.flatMap { key in
        let names = node.children.map(\.key.text)
        return names.first { $0.lowercased() == key.text.lowercased() }
          ?? Spelling.nearest(to: key.text, among: names)
      }
      let name = field.keys.map(\.text).joined(separator: "/")
      let words =
        "No record at \(path) has a field \(name)" + (near.map { ": did you mean \($0)?" } ?? ".")
      return ControlCharacters.escapedLine(words)
    }
    return nil
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
