import RunnelBase
import RunnelTree

/// A change of one record: the nodes before and after, and the JSON to write.
struct RecordChange {
  let kind: ResourceChangeKind
  let definition: ResourceDefinition
  let identity: ResourceIdentity
  /// The primary place of the record.
  let path: Path
  let old: Node
  /// True if the key was just made, so that nothing can refer to the record yet.
  var isFresh = false
  /// True if it puts back what was there: without initial values, and whatever the schema says now.
  var isUndoing = false
  /// The record as it was before it was destroyed, if it is brought back; nil for any other change.
  var former: Node?
  /// The record after the change, with server values as estimated here.
  var new = Node.empty
  /// The JSON to write: the record, or for an update its fields by relative path.
  var json = JSONValue.null

  init(
    kind: ResourceChangeKind, definition: ResourceDefinition, identity: ResourceIdentity,
    path: Path, old: Node
  ) {
    self.kind = kind
    self.definition = definition
    self.identity = identity
    self.path = path
    self.old = old
  }

  /// Replaces the record by JSON; `owned` fields in it are ignored.
  mutating func create(
    _ given: JSONValue, _ owned: Set<Key>, _ now: Int64, _ reader: some TreeReader
  ) throws(ResourceError) {
    guard case .object(let members) = given else {
      if !owned.isEmpty { throw notAnObject(given) }
      return try resolve(given, now, reader)
    }
    try resolve(.object(RecordChange.without(owned, members)), now, reader)
  }

  private mutating func resolve(
    _ json: JSONValue, _ now: Int64, _ reader: some TreeReader
  ) throws(ResourceError) {
    self.json = json
    let write = Write.set(path, json)
    new = .empty
    try apply(write, now, reader)
  }

  /// Replaces fields of the record; `owned` fields among them are ignored.
  mutating func update(
    _ given: JSONValue, _ owned: Set<Key>, _ now: Int64, _ reader: some TreeReader
  ) throws(ResourceError) {
    guard case .object(let members) = given else { throw notAnObject(given) }
    let kept = RecordChange.without(owned, members)
    json = .object(kept)
    new = old
    try apply(.update(path, kept), now, reader)
  }

  private mutating func apply(
    _ write: Write, _ now: Int64, _ reader: some TreeReader
  ) throws(ResourceError) {
    let parts = try ResourceError.wrapping { () throws(TreeError) in
      try write.assignments(now: now, reader: reader)
    }
    for part in parts {
      guard let below = part.path.relative(to: path) else { continue }
      new = part.target.applied(to: new, at: below)
    }
  }

  /// Sets a field that the registry maintains.
  mutating func set(_ field: Key, _ value: JSONValue) throws(ResourceError) {
    guard case .object(var members) = json, new.leaf == nil else { throw notAnObject(json) }
    if value != .null || kind == .update { members.append(JSONMember(field.text, value)) }
    json = .object(members)
    let node = try ResourceError.wrapping { () throws(TreeError) in try Node(json: value) }
    new = new.replacing(Path(unchecked: [field]), with: node)
  }

  /// The members whose names do not begin with one of some fields.
  private static func without(_ owned: Set<Key>, _ members: [JSONMember]) -> [JSONMember] {
    if owned.isEmpty { return members }
    return members.filter { member in
      !owned.contains { $0.text.hasSameBytes(as: Path.pieces(of: member.name).first ?? "") }
    }
  }

  private func notAnObject(_ given: JSONValue) -> ResourceError {
    ResourceError(
      .invalidRecord,
      "A record of `\(definition.name)` is an object, not \(String(given.jsonText().prefix(40))).",
      resource: definition.name)
  }
}

extension RecordChange {
  /// Writes the record to all of its places.
  func write(to draft: inout PlanDraft) throws(ResourceError) {
    let before = old.isEmpty ? [] : try definition.places(of: identity, old)
    let after = new.isEmpty ? [] : try definition.places(of: identity, new)
    for place in before where !after.contains(place) { draft.put(.null, at: place) }
    for place in after {
      guard kind == .update, case .object(let members) = json else {
        draft.put(json, at: place)
        continue
      }
      guard before.contains(place) else {
        draft.put(new.exportJSON, at: place)
        continue
      }
      for member in members {
        // The names were checked as paths when the value was computed; `.priority` may end one.
        let below = Path.pieces(of: member.name).map(Key.init(unchecked:))
        draft.put(member.value, at: Path(unchecked: place.keys + below))
      }
    }
    draft.note(new, at: path)
  }
}

extension ResourceDefinition {
  /// A new record with the initial values of fields that are not given.
  func withInitialValues(_ given: JSONValue) -> JSONValue {
    guard case .object(var members) = given else { return given }
    for rule in schema.fields {
      guard let initial = rule.initial, (given[rule.field.text] ?? .null) == .null else { continue }
      members.removeAll { $0.name.hasSameBytes(as: rule.field.text) }
      members.append(JSONMember(rule.field.text, initial))
    }
    return .object(members)
  }
}
