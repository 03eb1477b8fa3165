import RunnelTree

/// The records of services by their texts, for the fields that were asked about.
///
/// Invariant: once a field of a service was asked about, it is known for each text which records have it;
/// the owner notes each change of a record.
struct RecordTexts: Sendable {
  /// The keys of the records, by service, field and text.
  private var tables: [Key: [Key: [String: Set<Key>]]] = [:]

  /// Makes an index without fields.
  init() {}

  /// The keys of a service's records with a text in a field; `children` are all its records, which are looked
  /// through for a new field.
  mutating func keys(
    of service: Key, with text: String, in field: Key, among children: @autoclosure () -> [Child]
  ) -> Set<Key> {
    if tables[service]?[field] == nil {
      var table: [String: Set<Key>] = [:]
      for child in children() {
        if let text = RecordTexts.text(of: child.node, in: field) {
          table[text, default: []].insert(child.key)
        }
      }
      tables[service, default: [:]][field] = table
    }
    return tables[service]?[field]?[text] ?? []
  }

  /// Notes that a record has changed; an empty node is none.
  mutating func note(_ key: Key, of service: Key, from old: Node, to new: Node) {
    for field in (tables[service] ?? [:]).keys.map(\.self) {
      let before = RecordTexts.text(of: old, in: field)
      let after = RecordTexts.text(of: new, in: field)
      if before == after { continue }
      if let before {
        tables[service]?[field]?[before]?.remove(key)
        if tables[service]?[field]?[before]?.isEmpty == true {
          tables[service]?[field]?[before] = nil
        }
      }
      if let after { tables[service]?[field]?[after, default: []].insert(key) }
    }
  }

  private static func text(of node: Node, in field: Key) -> String? {
    if case .string(let text)? = node[field].leaf { text } else { nil }
  }
}
