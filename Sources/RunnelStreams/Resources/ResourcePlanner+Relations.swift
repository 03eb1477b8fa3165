import RunnelBase
import RunnelTree

// The consequences of a record's change: counters of its owners, copies in its members, and members
// that are destroyed with it.

extension ResourcePlanner {
  /// Plans the writes of a change and its consequences.
  mutating func record(_ change: RecordChange) throws(ResourceError) {
    try countMembers(change)
    try change.write(to: &draft)
    try noteAdded(change)
    let name = change.definition.name
    for copy in registry.copies where copy.relation.owner == name && !change.isFresh {
      let isChanged = copy.fields.contains { change.old[$0.source] != change.new[$0.source] }
      if isChanged { changedOwners.append((copy, change.identity, change.new)) }
    }
    guard change.kind == .destroy else { return }
    for relation in registry.cascades where relation.owner == name {
      let room = recordsMax - touchedCount - doomed.count
      for member in try members(relation, of: change.identity, limit: room) {
        doomed.append((member.identity, member.path))
      }
    }
  }

  // MARK: Counters

  /// Adjusts the counters of a record's old and new owners, if the owner changes, or the record
  /// begins or ceases to count.
  private mutating func countMembers(_ change: RecordChange) throws(ResourceError) {
    let name = change.definition.name
    for counter in registry.counters where counter.relation.member == name {
      let before = try owner(counter, change, change.old)
      let after = try owner(counter, change, change.new)
      if before == after { continue }
      if let before { try count(-1, counter, of: before, change) }
      if let after { try count(1, counter, of: after, change) }
    }
  }

  private func owner(
    _ counter: CounterDefinition, _ change: RecordChange, _ record: Node
  ) throws(ResourceError) -> ResourceIdentity? {
    guard counter.counts(change.identity.key, record) else { return nil }
    return try registry.owner(counter.relation, of: change.identity, record)
  }

  /// Adds to a counter at all places of its record; does nothing if the record does not exist after
  /// the change, which may be its own.
  ///
  /// If the record has no number, since it was written without the registry, the counter begins
  /// with the number of stored members.
  private mutating func count(
    _ delta: Int64, _ counter: CounterDefinition, of owner: ResourceIdentity,
    _ change: RecordChange
  ) throws(ResourceError) {
    let definition = try registry.definition(owner.resource)
    let path = try definition.path(of: owner)
    guard try exists(path, after: change) ?? true else { return }
    var places = [path]
    if definition.patterns.count > 1, let record = try record(at: path, after: change) {
      places = try definition.places(of: owner, record)
    }
    let fields = places.map { Path(unchecked: $0.keys + [counter.field]) }
    if !fields.allSatisfy(draft.hasStart), try isMissing(counter.field, at: path) {
      let start = Int64(try count(counter, of: owner))
      for field in fields { draft.start(start, at: field) }
    }
    for field in fields { draft.count(delta, at: field) }
  }

  /// True if a record is known to have no number in a field.
  private func isMissing(_ field: Key, at path: Path) throws(ResourceError) -> Bool {
    guard try isKnown(path), let record = try record(at: path) else { return false }
    if case .number? = record[field].leaf { return false }
    return true
  }

  /// The number of members that count for a record, in their planned form.
  func count(
    _ counter: CounterDefinition, of owner: ResourceIdentity
  ) throws(ResourceError) -> Int {
    var count = 0
    try forEachMember(counter.relation, of: owner) { member throws(ResourceError) in
      if counter.counts(member.identity.key, member.record) { count += 1 }
      return true
    }
    return count
  }

  // MARK: Members

  /// A member in its planned form.
  struct Member {
    let identity: ResourceIdentity
    let path: Path
    let record: Node
  }

  /// A relation, and the record at its other end.
  struct Belonging: Hashable {
    let relation: ResourceRelation
    let owner: ResourceIdentity
  }

  /// Notes to what a record belongs that did not before, so that it is found as a member.
  private mutating func noteAdded(_ change: RecordChange) throws(ResourceError) {
    if change.new.isEmpty { return }
    let name = change.definition.name
    let relations = Set(registry.counters.map(\.relation) + registry.copies.map(\.relation))
      .union(registry.cascades)
    for relation in relations where relation.member == name {
      guard let owner = try registry.owner(relation, of: change.identity, change.new),
        try registry.owner(relation, of: change.identity, change.old) != owner
      else { continue }
      addedMembers[Belonging(relation: relation, owner: owner), default: []].append(change.path)
    }
  }

  /// Calls `body` for each member of a record in its planned form, until it returns false: those that
  /// are stored in key order, then those that the plan adds.
  private func forEachMember(
    _ relation: ResourceRelation, of owner: ResourceIdentity,
    _ body: (Member) throws(ResourceError) -> Bool
  ) throws(ResourceError) {
    let definition = try registry.definition(relation.member)
    let walk = try ResourceWalk(relation, of: owner, registry, reader)
    let added = addedMembers[Belonging(relation: relation, owner: owner)] ?? []
    var told: Set<Path> = []
    let isWhole = try walk.forEach { identity, stored throws(ResourceError) in
      let path = try definition.path(of: identity)
      guard let planned = draft.records[path] else {
        return try body(Member(identity: identity, path: path, record: stored))
      }
      // The plan may have given it to another owner.
      guard try registry.owner(relation, of: identity, planned)?.key == owner.key else {
        return true
      }
      told.insert(path)
      return try body(Member(identity: identity, path: path, record: planned))
    }
    if !isWhole { return }
    for path in added where told.insert(path).inserted {
      guard let identity = definition.identity(at: path), let record = draft.records[path],
        try registry.owner(relation, of: identity, record) == owner
      else { continue }
      if try !body(Member(identity: identity, path: path, record: record)) { return }
    }
  }

  /// The members of a record that remain after the plan.
  ///
  /// - Throws: `ResourceError` (`tooMany`) if there are more than `limit`.
  private func members(
    _ relation: ResourceRelation, of owner: ResourceIdentity, limit: Int
  ) throws(ResourceError) -> [Member] {
    var members: [Member] = []
    try forEachMember(relation, of: owner) { member throws(ResourceError) in
      members.append(member)
      return members.count <= limit
    }
    if members.count <= limit { return members }
    throw ResourceError(
      .tooMany,
      "More than \(recordsMax) records of `\(relation.member)` depend on "
        + "`\(relation.owner)` \(owner.key), too many for one write: destroy or change some first.",
      resource: relation.member)
  }

  /// Plans the destruction of the members that are destroyed with their owner, and of their own
  /// members.
  mutating func followCascades(_ context: [String: ResourceObject]) throws(ResourceError) {
    var next = 0
    while next < doomed.count {
      let (identity, path) = doomed[next]
      next += 1
      guard let old = try record(at: path), !old.isEmpty else { continue }
      let definition = try registry.definition(identity.resource)
      var change = RecordChange(
        kind: .destroy, definition: definition, identity: identity, path: path, old: old)
      try perform(&change, given: .null, context, isCascaded: true)
    }
    touchedCount += doomed.count
    doomed = []
  }

  /// Plans the copies of changed owners.
  ///
  /// Copying is not a change of its own: no rule is asked, and nothing is logged. Counters that
  /// depend on a copied field follow.
  mutating func giveCopies() throws(ResourceError) {
    var next = 0
    while next < changedOwners.count {
      let (copy, owner, record) = changedOwners[next]
      next += 1
      let room = recordsMax - touchedCount
      let members = try members(copy.relation, of: owner, limit: room)
      touchedCount += members.count
      let definition = try registry.definition(copy.relation.member)
      for member in members {
        var change = RecordChange(
          kind: .update, definition: definition, identity: member.identity, path: member.path,
          old: member.record)
        (change.json, change.new) = (.object([]), member.record)
        for pair in copy.fields where member.record[pair.copy] != record[pair.source] {
          try change.set(pair.copy, record[pair.source].exportJSON)
        }
        if change.new != change.old { try self.record(change) }
      }
    }
  }
}
