import RunnelBase
import RunnelServices
import RunnelTree

/// The records of a server's services that are known, as the tree that a replica shows: the record
/// with the id ID of the service SERVICE stands at `/SERVICE/ID`.
///
/// Paths of services and ids are keys by `ServiceRecordCoding`, and so are records stored.
struct ServiceMirror: Sendable {
  /// The tree.
  private(set) var tree = MemoryTree()
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
    (tree, ids) = (MemoryTree(), [:])
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
  func node(_ service: Key, _ record: Key) -> Node { tree.root[service][record] }

  /// The known records of a service.
  func records(of service: Key) -> [Child] { tree.root[service].children }

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

  /// Changes the nodes of records; empty ones are removed.
  ///
  /// O(n log n) in the records of the service, or O(k n) for few.
  mutating func put(_ records: [Child], in service: Key) {
    let before = tree.root[service]
    if records.count <= 8 {
      for child in records {
        tree.perform(
          Assignment(
            path: ServiceMirror.place(service, child.key), target: .node(child.node)))
      }
    } else {
      let all = Node(children: tree.root[service].children + records)
      tree.perform(Assignment(path: Path(unchecked: [service]), target: .node(all)))
    }
    for child in records where child.node.isEmpty {
      ids[ServiceMirror.place(service, child.key)] = nil
    }
    let after = tree.root[service]
    for key in Set(records.map(\.key)) {
      let (old, new) = (before[key], after[key])
      if key.isGenerated, old.isEmpty != new.isEmpty {
        generatedCounts[service, default: 0] += new.isEmpty ? -1 : 1
      }
      texts.note(key, of: service, from: old, to: new)
    }
  }
}
