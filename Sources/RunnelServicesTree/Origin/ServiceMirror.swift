import RunnelBase
import RunnelServices
import RunnelTree

/// The records of a server's services that are known, as the tree that a replica shows: the record
/// with the id ID of the service SERVICE stands at `/SERVICE/ID`.
///
/// Paths of services and ids are keys by `ServiceRecordCoding`, and so are records stored.
///
/// What `put` changes is seen by `node` at once, and by the rest after `settle`: so many records that
/// come in one step cost one copy of the list of their siblings.
struct ServiceMirror: Sendable {
  /// The tree as it was when the mirror was settled last.
  private(set) var tree = MemoryTree()
  /// The records that have changed since, by their services; empty ones were removed.
  private var changes: [Key: [Key: Node]] = [:]
  private var idFields: [Key: String] = [:]
  private var ids: [Path: ServiceID] = [:]
  private var texts = RecordTexts()
  /// How many records of each service have keys as programs make them.
  private var generatedCounts: [Key: Int] = [:]

  /// Makes an empty mirror.
  init() {}

  /// The path of the service that a key stands for.
  static func path(of service: Key) -> String { ServiceRecordCoding.name(of: service.text) }

  /// The place of a record.
  static func place(_ service: Key, _ record: Key) -> Path {
    Path(unchecked: [service, record])
  }

  /// Forgets all records; the names of the ids stay.
  mutating func forget() {
    (tree, changes, ids) = (MemoryTree(), [:], [:])
    (texts, generatedCounts) = (RecordTexts(), [:])
  }

  // MARK: Ids

  /// The field with the id of a service's records; nil as long as no record was seen.
  func idField(of service: Key) -> String? { idFields[service] }

  /// The field with the id; the usual one as long as no record was seen.
  func knownIDField(of service: Key) -> String { idFields[service] ?? "id" }

  private mutating func learn(_ record: JSONValue, of service: Key) {
    guard idFields[service] == nil else { return }
    idFields[service] = ["_id", "id", "uuid"].first { name in
      record[name].flatMap { ServiceID(json: $0) } != nil
    }
  }

  /// The id by which a server knows a record, with the type that the server gave it.
  func id(of service: Key, _ record: Key) -> ServiceID {
    ids[ServiceMirror.place(service, record)]
      ?? ServiceID(ServiceRecordCoding.name(of: record.text))
  }

  /// Returns the key of a record; nil if it has no id that a key can stand for.
  mutating func key(of record: JSONValue, in service: Key) -> Key? {
    learn(record, of: service)
    guard let field = idFields[service], let id = record[field].flatMap({ ServiceID(json: $0) }),
      !id.text.isEmpty
    else { return nil }
    // A name that no key can have is as good as none.
    guard let text = try? ServiceRecordCoding.key(for: id.text), let key = try? Key(text) else {
      return nil
    }
    ids[ServiceMirror.place(service, key)] = id
    return key
  }

  // MARK: Records

  /// The known node of a record; empty if it is not known.
  func node(_ service: Key, _ record: Key) -> Node {
    changes[service]?[record] ?? tree.root[service][record]
  }

  /// The known records of a service, when the mirror is settled.
  func records(of service: Key) -> [Child] {
    assert(changes[service] == nil, "The mirror has to be settled before its records are read.")
    return tree.root[service].children
  }

  /// The known records of a service that have a text in a field, in the order of their keys.
  ///
  /// O(n) in the records for the first question about a field, then O(k log k) in those returned.
  mutating func records(of service: Key, with text: String, in field: Key) -> [Child] {
    let node = tree.root[service]
    return texts.keys(of: service, with: text, in: field, among: node.children).sorted()
      .map { Child(key: $0, node: node[$0]) }
  }

  /// True if a known record of a service has a key as programs make them.
  func hasGeneratedKeys(_ service: Key) -> Bool { generatedCounts[service, default: 0] > 0 }

  /// Returns the form of a record in the tree.
  ///
  /// - Throws: `FeathersError` or `TreeError` if a tree cannot hold it.
  func stored(_ record: JSONValue, _ key: Key, of service: Key) throws -> Node {
    let json = try ServiceRecordCoding.stored(
      record, key: key.text, idField: knownIDField(of: service))
    return try Node(json: json)
  }

  /// Returns the record that a node stands for.
  func record(_ node: Node, _ key: Key, of service: Key) -> JSONValue {
    ServiceRecordCoding.record(key.text, node.json, idField: knownIDField(of: service))
  }

  /// Changes the node of a record; an empty one is removed.
  mutating func put(_ record: Child, in service: Key) {
    let (old, new) = (node(service, record.key), record.node)
    changes[service, default: [:]][record.key] = new
    if new.isEmpty { ids[ServiceMirror.place(service, record.key)] = nil }
    if record.key.isGenerated, old.isEmpty != new.isEmpty {
      generatedCounts[service, default: 0] += new.isEmpty ? -1 : 1
    }
    texts.note(record.key, of: service, from: old, to: new)
  }

  /// Takes the changes into the tree.
  ///
  /// O(n + k log k) for k changes among n records.
  ///
  /// - Returns: the places of the records that have changed, in the order of their keys.
  mutating func settle() -> [Path] {
    if changes.isEmpty { return [] }
    var places: [Path] = []
    for (service, nodes) in changes.sorted(by: { $0.key < $1.key }) {
      let changed = nodes.map { Child(key: $0.key, node: $0.value) }.sorted { $0.key < $1.key }
      let all = ServiceMirror.merged(tree.root[service].children, with: changed)
      tree.perform(
        Assignment(path: Path(unchecked: [service]), target: .node(Node(children: all))))
      places += changed.map { ServiceMirror.place(service, $0.key) }
    }
    changes = [:]
    return places
  }

  /// Returns children in which some were changed; both are in the order of their keys.
  private static func merged(_ children: [Child], with changed: [Child]) -> [Child] {
    var result: [Child] = []
    result.reserveCapacity(children.count + changed.count)
    var rest = children[...]
    for child in changed {
      let before = rest.prefix(rest.lowerBound { $0.key < child.key } - rest.startIndex)
      result += before
      rest = rest.dropFirst(before.count)
      if rest.first?.key == child.key { rest = rest.dropFirst() }
      if !child.node.isEmpty { result.append(child) }
    }
    return result + rest
  }
}
