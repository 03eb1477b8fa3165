import RunnelBase
package import RunnelTree

/// Plans an operation on the tree as it is: the record, the counters, the copies, the records that
/// are destroyed with it and the entries of the action log, all in one write.
///
/// It is pure: it reads the tree and writes nothing. The caller must carry the write out before the
/// tree changes again, so that counters never drift.
///
/// On a replica some data are unknown: an operation on an unknown record is refused, but an unknown
/// owner is counted on nevertheless.
///
/// Source: origins, sections 2.2 to 2.6.
package struct ResourcePlanner<Reader: TreeReader> {
  let registry: ResourceRegistry
  let reader: Reader
  /// Milliseconds since 1970.
  let now: Int64
  let author: String
  private let newKey: () -> Key

  var draft = PlanDraft()
  var changes: [ResourceHookContext] = []
  private var logging: ActionLogWriter<Reader>?
  /// Records to be destroyed because their owner is.
  var doomed: [(identity: ResourceIdentity, path: Path)] = []
  /// The places of planned members that are not stored as such, by what they belong to.
  var addedMembers: [Belonging: [Path]] = [:]
  /// Owners whose members get copies, once all records are known.
  var changedOwners: [(copy: CopyDefinition, owner: ResourceIdentity, record: Node)] = []
  /// The most other records that the operation may touch.
  var recordsMax = ResourceLimits.recordsMax
  /// The number of other records that the operation has touched.
  var touchedCount = 0

  /// Makes a planner for one operation.
  ///
  /// - Parameters:
  ///   - registry: the registered resources.
  ///   - reader: the tree.
  ///   - now: milliseconds since 1970.
  ///   - author: the author, for the log.
  ///   - newKey: makes a new key that sorts after those made before.
  package init(
    registry: ResourceRegistry, reader: Reader, now: Int64, author: String,
    newKey: @escaping () -> Key
  ) {
    self.registry = registry
    self.reader = reader
    self.now = now
    self.author = author
    self.newKey = newKey
  }

  /// Plans an operation.
  ///
  /// O(log n) reads, and one for each counter and copy. These operations also read the members: a
  /// destruction with cascades, a change of a field that is copied, the creation of an owner under
  /// a given key (whose members may exist before it), and the first count of an owner without a
  /// number.
  ///
  /// - Throws: `ResourceError`; `tree` with the code `storage` if the tree cannot be read.
  package consuming func plan(
    _ operation: ResourceOperation
  ) throws(ResourceError) -> ResourcePlan {
    let definition = try registry.definition(operation.object.resource)
    let isFresh = definition.primary.hasKey && operation.object.key == nil
    var made: Key?
    var identity = try registry.identity(
      of: operation.object, definition, operation.context
    ) { [newKey] () throws(ResourceError) in
      switch operation.kind {
      case .create, .createOrUpdate, .toggle:
        if let key = operation.newKey { return key }
        let key = newKey()
        made = key
        return key
      case .update, .destroy: throw ResourceRegistry.missingKey(definition)
      }
    }
    var path = try definition.path(of: identity)
    if let made, path.lastKey == made, let collection = path.parent {
      identity.key = try ResourceError.wrapping { [reader] () throws(TreeError) in
        try reader.pushID(made, in: collection)
      }
      path = try definition.path(of: identity)
    }
    let old = try isFresh ? .empty : knownRecord(at: path, definition)
    let kind = operation.kind.resolved(exists: !old.isEmpty)
    var plan = ResourcePlan(identity: identity, path: path, write: nil, changes: [])
    if old.isEmpty, kind == .destroy { return plan }
    if old.isEmpty, kind == .update { throw notFound(path, definition) }
    var change = RecordChange(
      kind: kind, definition: definition, identity: identity, path: path, old: old)
    change.isFresh = isFresh
    change.isUndoing = operation.isUndoing
    if kind == .create, operation.isUndoing {
      change.former = try ResourceError.wrapping { () throws(TreeError) in
        try Node(json: operation.object.value)
      }
    }
    try perform(&change, given: operation.object.value, operation.context)
    try followCascades(operation.context)
    try giveCopies()
    plan.write = draft.write()
    plan.changes = changes
    return plan
  }

  // MARK: Reading

  /// The record at a place in its planned form; nil if it is unknown.
  func record(at path: Path) throws(ResourceError) -> Node? {
    if let planned = draft.records[path] { return planned }
    let node = try ResourceError.wrapping { () throws(TreeError) in try reader.node(at: path) }
    if node.isEmpty, try !isKnown(path) { return nil }
    return node
  }

  /// The record at a place once a change is planned, which may be its own; nil if it is unknown.
  func record(at path: Path, after change: RecordChange) throws(ResourceError) -> Node? {
    if path == change.path { return change.new }
    return try record(at: path)
  }

  /// True if there is a node at a place once a change is planned; nil if it is unknown.
  func exists(_ path: Path, after change: RecordChange) throws(ResourceError) -> Bool? {
    if path == change.path { return !change.new.isEmpty }
    return try exists(path)
  }

  /// True if there is a node at a place, in its planned form; nil if it is unknown.
  func exists(_ path: Path) throws(ResourceError) -> Bool? {
    if let planned = draft.records[path] { return !planned.isEmpty }
    let summary = try ResourceError.wrapping { () throws(TreeError) in
      try reader.summary(at: path)
    }
    if summary.kind != .empty { return true }
    return try isKnown(path) ? false : nil
  }

  /// True if everything at a place is known, which only a replica may lack.
  func isKnown(_ path: Path) throws(ResourceError) -> Bool {
    if !reader.hasOrigin { return true }
    return try ResourceError.wrapping { () throws(TreeError) in
      try reader.knowledge(of: Query(path)).isAnswer
    }
  }

  func knownRecord(
    at path: Path, _ definition: ResourceDefinition
  ) throws(ResourceError) -> Node {
    if try !isKnown(path) {
      throw ResourceError(
        .notKnown,
        "Whether there is a record of `\(definition.name)` at \(path) is not known here: "
          + "observe it, or keep it synced, before it is changed.",
        resource: definition.name, pattern: definition.primary.description)
    }
    return try ResourceError.wrapping { () throws(TreeError) in try reader.node(at: path) }
  }

  private func notFound(_ path: Path, _ definition: ResourceDefinition) -> ResourceError {
    ResourceError(
      .notFound,
      "There is no record of `\(definition.name)` at \(path): create it, or name another.",
      resource: definition.name, pattern: definition.primary.description)
  }

  // MARK: One record

  /// Plans the change of one record, by request or because its owner is destroyed.
  ///
  /// If `isCheckedLater` is true, the caller checks it once all that belongs to it is planned.
  mutating func perform(
    _ change: inout RecordChange, given: JSONValue, _ context: [String: ResourceObject],
    isCascaded: Bool = false, isCheckedLater: Bool = false
  ) throws(ResourceError) {
    try evaluate(&change, given)
    var told = told(change, context, isCascaded)
    for rule in registry.rules where rule.scope.contains(told) {
      switch rule.verdict(told) {
      case .allow: continue
      case .write(let json):
        if change.kind == .destroy { continue }
        try evaluate(&change, json)
        told.new = change.new.exportJSON
      case .veto(let reason):
        throw ResourceError(.vetoed, reason, resource: change.definition.name)
      }
    }
    if !isCheckedLater { try check(change) }
    try record(change)
    changes.append(told)
    try log(told, change.definition)
  }

  private func told(
    _ change: RecordChange, _ context: [String: ResourceObject], _ isCascaded: Bool
  ) -> ResourceHookContext {
    ResourceHookContext(
      kind: change.kind, identity: change.identity, path: change.path,
      old: change.old.exportJSON, new: change.new.exportJSON, context: context,
      isCascaded: isCascaded)
  }

  private mutating func log(
    _ told: ResourceHookContext, _ definition: ResourceDefinition
  ) throws(ResourceError) {
    guard let place = registry.log else { return }
    var writer = logging ?? ActionLogWriter(place: place, reader: reader, newKey: newKey)
    let used = Set(definition.patterns.flatMap(\.names))
    let entry = ActionLogEntry.json(told, author: author, besides: used)
    let path = try writer.nextPlace()
    draft.put(entry, at: path)
    logging = writer
  }

  // MARK: Its value

  /// Computes the new record of a change, with the fields that the registry maintains.
  private func evaluate(_ change: inout RecordChange, _ given: JSONValue) throws(ResourceError) {
    switch change.kind {
    case .destroy: (change.json, change.new) = (.null, .empty)
    case .create:
      let given = change.isUndoing ? given : change.definition.withInitialValues(given)
      try change.create(given, owned(change), now, reader)
    case .update: try change.update(given, owned(change), now, reader)
    }
    if change.kind == .destroy { return }
    for (field, json) in try ownedValues(change) { try change.set(field, json) }
  }

  private func owned(_ change: RecordChange) -> Set<Key> {
    registry.ownedFields(of: change.definition.name)
  }

  /// The fields that the registry writes into a record.
  private func ownedValues(
    _ change: RecordChange
  ) throws(ResourceError) -> [(field: Key, json: JSONValue)] {
    var values: [(Key, JSONValue)] = []
    for copy in registry.copiesInto(change.definition.name) {
      let owner = try registry.owner(copy.relation, of: change.identity, change.new)
      var source: Node? = .empty
      if let owner {
        let place = try registry.definition(owner.resource).path(of: owner)
        source = try record(at: place, after: change)
      }
      for pair in copy.fields {
        // Where the owner is not known, as on a replica, the copy stays what it was.
        let value = source.map { $0[pair.source] } ?? (change.former ?? change.old)[pair.copy]
        if change.kind == .create || value != change.old[pair.copy] {
          values.append((pair.copy, value.exportJSON))
        }
      }
    }
    if change.kind != .create { return values }
    for counter in registry.counters(of: change.definition.name) {
      values.append((counter.field, try startValue(counter, change)))
    }
    return values
  }

  /// The initial number of a counter in a new record.
  private func startValue(
    _ counter: CounterDefinition, _ change: RecordChange
  ) throws(ResourceError) -> JSONValue {
    if case .number(let number)? = change.old[counter.field].leaf { return .number(number) }
    if change.isFresh { return 0 }
    return .number(JSONNumber(Int64(try count(counter, of: change.identity))))
  }

  // MARK: Its rules

  func check(_ change: RecordChange) throws(ResourceError) {
    if change.kind == .destroy { return }
    let name = change.definition.name
    if change.new.isEmpty {
      throw ResourceError(
        .invalidRecord,
        "The record of `\(name)` would hold nothing, and the tree stores nothing empty: give it a "
          + "field, or destroy it.", resource: name)
    }
    var errors = change.definition.schema.errors(
      in: change.new, known: registry.ownedFields(of: name))
    // A record that is older than its schema may keep what it has, and get back what it had.
    if change.isUndoing {
      errors = []
    } else if change.kind == .update {
      errors.removeAll { change.new[$0.field] == change.old[$0.field] }
    }
    for rule in change.definition.schema.fields {
      guard case .reference(let target) = rule.kind,
        change.new[rule.field] != change.old[rule.field],
        try !leadsSomewhere(rule.field, target, change)
      else { continue }
      errors.append(
        FieldError(
          rule.field, .reference,
          "names \(change.new[rule.field].json.jsonText()), but there is no such `\(target)`."))
    }
    if errors.isEmpty { return try checkOwners(of: change) }
    var error = ResourceError(
      .invalidFields,
      "This `\(name)` cannot be saved: "
        + errors.map(\.description).joined(separator: " "), resource: name)
    error.fields = errors
    throw error
  }

  /// Checks that the owners exist that the record needs and did not have before.
  private func checkOwners(of change: RecordChange) throws(ResourceError) {
    for relation in registry.requirements where relation.member == change.definition.name {
      let before = try registry.owner(relation, of: change.identity, change.old)
      guard let owner = try registry.owner(relation, of: change.identity, change.new),
        owner != before
      else { continue }
      let place = try registry.definition(owner.resource).path(of: owner)
      if try exists(place, after: change) ?? true { continue }
      throw ResourceError(
        .ownerNotFound,
        "There is no `\(owner.resource)` at \(place), to which this `\(relation.member)` would belong: "
          + "it was destroyed, or never created.",
        resource: relation.member, pattern: change.definition.primary.description,
        missing: owner.resource)
    }
  }

  /// True if a reference leads to a record, or if that is unknown.
  private func leadsSomewhere(
    _ field: Key, _ target: String, _ change: RecordChange
  ) throws(ResourceError) -> Bool {
    let definition = try registry.definition(target)
    let relation = ResourceRelation(
      member: change.definition.name, link: .field(field), owner: target)
    guard let owner = try registry.owner(relation, of: change.identity, change.new),
      Set(owner.names.keys).isSuperset(of: definition.primary.names)
    else { return true }
    return try exists(definition.path(of: owner), after: change) ?? true
  }
}
