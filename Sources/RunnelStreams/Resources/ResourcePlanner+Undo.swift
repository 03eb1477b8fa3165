import RunnelBase
package import RunnelTree

// Undoing a write of the history that operations made, by operations: what follows from the records
// is planned anew, and not put back.

extension ResourceRegistry {
  /// True if more than the record follows from an operation: counters, copies, further places, members
  /// that are destroyed with it, or entries of a log.
  package var hasConsequences: Bool {
    !counters.isEmpty || !copies.isEmpty || !cascades.isEmpty || log != nil
      || definitions.contains { $0.patterns.count > 1 }
  }
}

extension ResourcePlanner {
  /// The plan for undoing a write of the history that an operation made.
  ///
  /// All of its records become what they were, in one write, if they are as the write left them.
  /// Counters and copies are not compared, and not put back: they follow from the records as they
  /// are then. O(n) in the values of the entry, and as `plan`.
  ///
  /// - Throws: as `plan`, and `ResourceError` (`cannotUndo`) if what it changed has another value, if its
  ///   values were not kept, or if records that were added since would be destroyed with it.
  package consuming func plan(
    undoing entry: HistoryEntry
  ) throws(ResourceError) -> ResourcePlan {
    var undone = try undoneRecords(of: entry)
    // The record that the operation was about comes first, as in the log.
    if let main = undone.firstIndex(where: { $0.path == entry.operation }) {
      undone.insert(undone.remove(at: main), at: 0)
    }
    guard let first = undone.first else {
      throw ResourceRegistry.cannotUndo(nil, "it changed no record")
    }
    var plan = ResourcePlan(
      identity: first.identity, path: first.path, write: nil, changes: [])
    var unchecked: [RecordChange] = []
    for record in undone {
      // Its owner may have taken it along.
      if record.kind == .destroy, draft.records[record.path]?.isEmpty == true { continue }
      var change = try record.change()
      let context = registry.operation(.update, on: record.identity).context
      try perform(&change, given: record.given, context, isCheckedLater: true)
      unchecked.append(change)
      if change.kind == .destroy { try followCascades(context) }
    }
    try checkNothingElseIsDestroyed(undone)
    try giveCopies()
    for change in unchecked {
      try checkOwners(of: change)
      try check(change)
    }
    for part in entry.parts where part.isPriority && isAboveRecords(part.path) {
      guard let values = part.values else { continue }
      draft.put(
        values.old, at: Path(unchecked: part.path.keys + [Key(unchecked: ReservedName.priority)]))
    }
    plan.write = draft.write()
    plan.changes = changes
    return plan
  }

  private func isAboveRecords(_ path: Path) -> Bool {
    switch registry.place(of: path) {
    case .above, .free: true
    case .record, .copy, .log: false
    }
  }

  /// Checks that only records go that came with the write.
  private func checkNothingElseIsDestroyed(
    _ undone: [UndoneRecord]
  ) throws(ResourceError) {
    let own = Set(undone.map(\.path))
    let others = changes.filter { !own.contains($0.path) }
    guard let first = others.first else { return }
    throw ResourceRegistry.cannotUndo(
      undone.first?.identity.resource,
      (others.count == 1 ? "1 record came" : "\(others.count) records came")
        + " since, and would be destroyed with it, as \(first.path): delete it if you mean that")
  }

  /// Checks that the records exist to which one that is put back belongs by its place.
  private func checkOwners(of change: RecordChange) throws(ResourceError) {
    if change.kind != .create { return }
    for relation in registry.belongings(of: change.definition) {
      guard case .name(let name) = relation.link, name != change.definition.primary.keyName,
        let owner = try registry.owner(relation, of: change.identity, change.new)
      else { continue }
      let definition = try registry.definition(owner.resource)
      guard definition.primary.names.allSatisfy({ owner.names[$0] != nil }) else { continue }
      let place = try definition.path(of: owner)
      if try exists(place) ?? true { continue }
      throw ResourceRegistry.cannotUndo(
        change.definition.name,
        "the `\(owner.resource)` at \(place) that it belongs to is gone: take that back first")
    }
  }

  // MARK: What an entry did

  /// The records that an entry changed, in the order of their places.
  private func undoneRecords(of entry: HistoryEntry) throws(ResourceError) -> [UndoneRecord] {
    var undone: [Path: UndoneRecord] = [:]
    for part in entry.parts {
      switch registry.place(of: part.path) {
      case .log, .copy: continue
      case .free, .above:
        // What a record has above it loses its priority with the last record.
        if part.isPriority { continue }
        throw ResourceRegistry.cannotUndo(
          nil, "\(part.path) is no record: another version of the resources wrote it")
      case .record(let identity, let field):
        let definition = try registry.definition(identity.resource)
        let owned = registry.ownedFields(of: definition.name)
        if let name = field.keys.first, owned.contains(name) { continue }
        let path = try definition.path(of: identity)
        if undone[path] == nil {
          let present = try knownRecord(at: path, definition)
          undone[path] = UndoneRecord(identity, definition, path, present: present, owned)
        }
        try undone[path]?.add(part, at: field)
      }
    }
    return undone.values.sorted { $0.path < $1.path }
  }
}

/// A record that a write changed, and how it was.
private struct UndoneRecord {
  let identity: ResourceIdentity
  let path: Path
  private let definition: ResourceDefinition
  private let present: Node
  private let owned: Set<Key>
  /// The kind of change that puts back what was there.
  private(set) var kind = ResourceChangeKind.update
  /// The record, or its fields, as they were.
  private(set) var given = JSONValue.object([])

  init(
    _ identity: ResourceIdentity, _ definition: ResourceDefinition, _ path: Path, present: Node,
    _ owned: Set<Key>
  ) {
    (self.identity, self.definition, self.path) = (identity, definition, path)
    (self.present, self.owned) = (present, owned)
  }

  /// Takes what the write changed at a place in the record.
  ///
  /// - Throws: `ResourceError` (`cannotUndo`) if that has another value now, or is not known.
  mutating func add(_ part: HistoryEntry.Part, at field: Path) throws(ResourceError) {
    let (old, new) = try values(of: part)
    if field.isRoot, !part.isPriority {
      if let new { try check(new) }
      kind = old.isNull ? .destroy : .create
      given = old
      return
    }
    if present.isEmpty { throw refusal("the record at \(path) is gone") }
    let now =
      part.isPriority
      ? present[field].priority?.json ?? .null : present[field].exportJSON
    if let new, new != now {
      throw refusal("\(part.path) was changed since, to \(UndoneRecord.short(now))")
    }
    let below = field.keys.map(\.text) + (part.isPriority ? [ReservedName.priority] : [])
    var members = given.object ?? []
    members.append(JSONMember(below.joined(separator: "/"), old))
    given = .object(members)
  }

  /// The values of a part before and after; nil for those after if they are not known, but stand.
  private func values(
    of part: HistoryEntry.Part
  ) throws(ResourceError) -> (old: JSONValue, new: JSONValue?) {
    if let values = part.values { return (values.old, values.new) }
    if case .value(let old)? = part.before { return (old, nil) }
    throw refusal("what stood at \(part.path), or was written there, is too large to keep")
  }

  /// Checks that the record is as the write left it, but for counters and copies.
  private func check(_ new: JSONValue) throws(ResourceError) {
    let now = present.exportJSON
    if own(now) == own(new) { return }
    if now.isNull { throw refusal("the record at \(path) is gone already") }
    if new.isNull { throw refusal("there is a record again at \(path)") }
    let names = [now, new].flatMap { $0.object ?? [] }.map(\.name)
    let name = names.first { name in
      !owned.contains { $0.text.hasSameBytes(as: name) } && now[name] != new[name]
    }
    throw refusal(
      name.map { "\(path)/\($0) was changed since, to \(UndoneRecord.short(now[$0] ?? .null))" }
        ?? "\(path) was changed since")
  }

  /// A record without the fields that the registry writes.
  private func own(_ json: JSONValue) -> JSONValue {
    guard case .object(let members) = json else { return json }
    return .object(
      members.filter { member in !owned.contains { $0.text.hasSameBytes(as: member.name) } })
  }

  private func refusal(_ reason: String) -> ResourceError {
    ResourceRegistry.cannotUndo(definition.name, reason)
  }

  private static func short(_ json: JSONValue) -> String { String(json.jsonText().prefix(40)) }

  /// The change that puts back what was there.
  func change() throws(ResourceError) -> RecordChange {
    var change = RecordChange(
      kind: kind, definition: definition, identity: identity, path: path, old: present)
    change.isUndoing = true
    if kind == .create {
      let json = given
      change.former = try ResourceError.wrapping { () throws(TreeError) in try Node(json: json) }
    }
    return change
  }
}
