import RunnelBase
import RunnelServices
import RunnelTree

/// The records of a server's services that are known, as the tree that a replica shows: the record
/// with the id ID of the service SERVICE stands at `/SERVICE/ID`.
///
/// Paths of services and ids are keys by `ServiceRecordCoding`, and so are records stored.
///
/// The records of a service are an array that is changed in place: a record costs no copy of the list
/// of its siblings.
struct ServiceMirror: Sendable {
  /// The records of each service, in the order of their keys; no list is empty.
  private var lists: [Key: [Child]] = [:]
  /// The places that have changed since they were taken.
  private var changes: Set<Path> = []
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
    (lists, changes, ids) = ([:], [], [:])
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
  ///
  /// O(log n) in the records of the service.
  func node(_ service: Key, _ record: Key) -> Node {
    guard let list = lists[service] else { return .empty }
    let index = list.lowerBound { $0.key < record }
    return index < list.count && list[index].key == record ? list[index].node : .empty
  }

  /// The known records of a service, in the order of their keys.
  func records(of service: Key) -> [Child] { lists[service] ?? [] }

  /// The known records of a service that have a text in a field, in the order of their keys.
  ///
  /// O(n) in the records for the first question about a field, then O(k log k) in those returned.
  mutating func records(of service: Key, with text: String, in field: Key) -> [Child] {
    let known = records(of: service)
    return texts.keys(of: service, with: text, in: field, among: known).sorted()
      .map { Child(key: $0, node: node(service, $0)) }
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
  ///
  /// O(log n) in the records of the service, and the places of those behind a record that comes or goes
  /// are moved.
  mutating func put(_ record: Child, in service: Key) {
    let (key, new) = (record.key, record.node)
    let old = replace(record, in: service)
    changes.insert(ServiceMirror.place(service, key))
    if new.isEmpty { ids[ServiceMirror.place(service, key)] = nil }
    if key.isGenerated, old.isEmpty != new.isEmpty {
      generatedCounts[service, default: 0] += new.isEmpty ? -1 : 1
    }
    texts.note(key, of: service, from: old, to: new)
  }

  /// Replaces the node of a record, and returns the one before.
  private mutating func replace(_ record: Child, in service: Key) -> Node {
    let index = lists[service, default: []].lowerBound { $0.key < record.key }
    let old = node(service, record.key)
    switch (old.isEmpty, record.node.isEmpty) {
    case (true, true): break
    case (true, false): lists[service, default: []].insert(record, at: index)
    case (false, false): lists[service]?[index] = record
    case (false, true): lists[service]?.remove(at: index)
    }
    if lists[service]?.isEmpty == true { lists[service] = nil }
    return old
  }

  /// Takes the places of the records that have changed, in their order.
  mutating func takeChanges() -> [Path] {
    defer { changes = [] }
    return changes.sorted()
  }
}

extension ServiceMirror: TreeReader {
  func node(at path: Path) -> Node {
    guard let service = path.keys.first else {
      return Node(
        children: lists.map { Child(key: $0.key, node: Node(children: $0.value)) })
    }
    if path.keys.count == 1 { return Node(children: records(of: service)) }
    return node(service, path.keys[1])[Path(unchecked: Array(path.keys.dropFirst(2)))]
  }

  func summary(at path: Path) -> NodeSummary {
    guard path.keys.count == 1, let list = lists[path.keys[0]] else {
      return NodeSummary(node(at: path))
    }
    return NodeSummary(kind: .children(count: list.count), priority: nil)
  }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) -> TreeRow? {
    let node = path.keys.count == 1 ? node(path.keys[0], key) : node(at: path)[key]
    return node.isEmpty ? nil : slice.row(Child(key: key, node: node), detail: detail)
  }

  /// O(n log n) in all children of the place.
  func rows(of path: Path, in slice: RowSlice, detail: TreeRow.Detail) -> [TreeRow] {
    let children = path.keys.count == 1 ? records(of: path.keys[0]) : node(at: path).children
    return slice.rows(among: children, detail: detail)
  }
}
