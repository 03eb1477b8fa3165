import RunnelBase
package import RunnelTree

/// The differences between a tree and what its registry requires.
package struct ResourceReport: Hashable, Sendable {
  /// A field that the registry maintains and whose value is wrong.
  package struct Drift: Hashable, Sendable {
    /// The field.
    package var path: Path
    /// Its value; empty if there is none.
    package var stored: Node
    /// The value that it should have.
    package var expected: Node
  }

  /// A record whose owner, or whose referenced record, does not exist.
  package struct Orphan: Hashable, Sendable {
    /// The record.
    package var path: Path
    /// The link to the missing record.
    package var link: ResourceLink
    /// The place of the missing record.
    package var missing: Path
  }

  /// The number of records that were read.
  package var recordCount = 0
  /// Wrong counters, in the order of the registry and of their places.
  package var counters: [Drift] = []
  /// Wrong or missing copies, in the order in which they were found.
  package var copies: [Drift] = []
  /// Orphaned records, in the order in which they were found.
  package var orphans: [Orphan] = []
  /// True if there are more orphans or wrong copies than are listed.
  package var isCut = false

  /// True if counters and copies are right; orphans do not count as faults of the file.
  package var isInStep: Bool { counters.isEmpty && copies.isEmpty }

  /// The write that corrects all listed counters and copies; nil if there are none.
  package var repair: Write? {
    let drifts = (counters + copies).sorted { $0.path < $1.path }
    if drifts.isEmpty { return nil }
    return .update(
      .root, drifts.map { JSONMember($0.path.description, $0.expected.exportJSON) })
  }
}

/// Compares counters and copies with the records, and finds orphans.
///
/// O(n) in the records of the registered resources, which are read once, page by page. Memory
/// depends on the number of owners.
package struct ResourceAudit<Reader: TreeReader> {
  private let registry: ResourceRegistry
  private let reader: Reader
  private let isWanted: (_ step: String, _ records: Int) -> Bool
  private var report = ResourceReport()
  /// The number of counted members, by the place of the owner, for each counter.
  private var counts: [[Path: Int]]
  /// Owners that were read, or found to be missing.
  private var owners: [Path: Node] = [:]

  /// Makes an audit.
  ///
  /// - Parameters:
  ///   - registry: the registered resources.
  ///   - reader: the tree.
  ///   - isWanted: called now and then with the present step and the number of records read; false
  ///     stops the audit.
  package init(
    registry: ResourceRegistry, reader: Reader,
    isWanted: @escaping (_ step: String, _ records: Int) -> Bool = { _, _ in true }
  ) {
    self.registry = registry
    self.reader = reader
    self.isWanted = isWanted
    counts = registry.counters.map { _ in [:] }
  }

  /// Runs the audit; returns nil if it was stopped.
  ///
  /// - Throws: `ResourceError` (`tree` with the code `storage`) if the tree cannot be read.
  package consuming func run() throws(ResourceError) -> ResourceReport? {
    for definition in registry.definitions {
      let isWhole = try ResourceWalk(definition, reader).forEach {
        identity, record throws(ResourceError) in
        try take(identity, record, definition)
        report.recordCount += 1
        return !report.recordCount.isMultiple(of: 1000)
          || isWanted("records of `\(definition.name)`", report.recordCount)
      }
      if !isWhole { return nil }
    }
    for definition in registry.definitions where !registry.counters(of: definition.name).isEmpty {
      let isWhole = try ResourceWalk(definition, reader).forEach {
        identity, record throws(ResourceError) in
        try compareCounters(identity, record, definition)
        return isWanted("counters of `\(definition.name)`", report.recordCount)
      }
      if !isWhole { return nil }
    }
    return report
  }

  private mutating func take(
    _ identity: ResourceIdentity, _ record: Node, _ definition: ResourceDefinition
  ) throws(ResourceError) {
    for (index, counter) in registry.counters.enumerated()
    where counter.relation.member == definition.name && counter.counts(identity.key, record) {
      guard let owner = try registry.owner(counter.relation, of: identity, record) else { continue }
      counts[index][try path(of: owner), default: 0] += 1
    }
    let places = try definition.places(of: identity, record)
    for copy in registry.copiesInto(definition.name) {
      try compare(copy, identity, record, places)
    }
    for place in places.dropFirst() {
      let stored = try ResourceError.wrapping { () throws(TreeError) in
        try reader.node(at: place)
      }
      if stored != record { note(place, stored, record) }
    }
    try findOrphans(identity, record, definition)
  }

  private func path(of identity: ResourceIdentity) throws(ResourceError) -> Path {
    try registry.definition(identity.resource).path(of: identity)
  }

  /// The record at a place; each record is read once.
  private mutating func owner(at path: Path) throws(ResourceError) -> Node {
    if let known = owners[path] { return known }
    let node = try ResourceError.wrapping { () throws(TreeError) in try reader.node(at: path) }
    owners[path] = node
    return node
  }

  // MARK: Counters and copies

  private mutating func compareCounters(
    _ identity: ResourceIdentity, _ record: Node, _ definition: ResourceDefinition
  ) throws(ResourceError) {
    let places = try definition.places(of: identity, record)
    for (index, counter) in registry.counters.enumerated()
    where counter.relation.owner == definition.name {
      let count = counts[index][places[0]] ?? 0
      let stored = record[counter.field]
      // A record that was made without the registry has no counter yet, which counts as 0.
      if stored.isEmpty, count == 0 { continue }
      let expected = Node(.number(JSONNumber(Int64(count))))
      if stored == expected { continue }
      for place in places {
        let field = Path(unchecked: place.keys + [counter.field])
        report.counters.append(
          ResourceReport.Drift(path: field, stored: stored, expected: expected))
      }
    }
  }

  private mutating func compare(
    _ copy: CopyDefinition, _ identity: ResourceIdentity, _ record: Node, _ places: [Path]
  ) throws(ResourceError) {
    var source = Node.empty
    if let owner = try registry.owner(copy.relation, of: identity, record) {
      source = try self.owner(at: path(of: owner))
    }
    for pair in copy.fields where record[pair.copy] != source[pair.source] {
      for place in places {
        let field = Path(unchecked: place.keys + [pair.copy])
        note(field, record[pair.copy], source[pair.source])
      }
    }
  }

  private mutating func note(_ path: Path, _ stored: Node, _ expected: Node) {
    if report.copies.count < ResourceLimits.reportedMax {
      report.copies.append(ResourceReport.Drift(path: path, stored: stored, expected: expected))
    } else {
      report.isCut = true
    }
  }

  // MARK: Orphans

  private mutating func findOrphans(
    _ identity: ResourceIdentity, _ record: Node, _ definition: ResourceDefinition
  ) throws(ResourceError) {
    for relation in registry.belongings(of: definition) {
      guard let owner = try registry.owner(relation, of: identity, record) else { continue }
      let names = try registry.definition(owner.resource).primary.names
      guard names.allSatisfy({ owner.names[$0] != nil }) else { continue }
      let place = try path(of: owner)
      if try !self.owner(at: place).isEmpty { continue }
      if report.orphans.count == ResourceLimits.reportedMax {
        report.isCut = true
        return
      }
      let path = try definition.path(of: identity)
      report.orphans.append(
        ResourceReport.Orphan(path: path, link: relation.link, missing: place))
    }
  }
}

extension ResourceRegistry {
  /// The relations of a resource's records to owners: by the names of its path, and by references.
  func belongings(of definition: ResourceDefinition) -> [ResourceRelation] {
    var relations: [ResourceRelation] = []
    for name in definition.primary.names {
      guard let parent = parent(of: name, in: definition) else { continue }
      relations.append(
        ResourceRelation(member: definition.name, link: .name(name), owner: parent))
    }
    for rule in definition.schema.fields {
      guard case .reference(let target) = rule.kind else { continue }
      relations.append(
        ResourceRelation(member: definition.name, link: .field(rule.field), owner: target))
    }
    let known = definitions.map(\.name)
    return relations.filter { known.contains($0.owner) }
  }

  /// Checks that all referenced resources are registered.
  ///
  /// - Throws: `ResourceError` (`unknownResource`) with the resource and the one that refers to it.
  package func checkReferences() throws(ResourceError) {
    let known = Set(definitions.map(\.name))
    for definition in definitions {
      var targets = definition.parents.sorted { $0.key < $1.key }
        .map { ("the name `\($0.key)` of its path", $0.value) }
      for rule in definition.schema.fields {
        if case .reference(let target) = rule.kind {
          targets.append(("its field `\(rule.field)`", target))
        }
      }
      for (place, target) in targets where !known.contains(target) {
        throw ResourceError(
          .unknownResource,
          "The resource `\(definition.name)`: \(place) refers to `\(target)`, which is not registered.",
          resource: definition.name, missing: target)
      }
    }
  }
}
