import RunnelBase
public import RunnelTree

/// What in a tree does not follow from its records as the registry says.
public struct ResourceReport: Hashable, Sendable {
  /// A field that the registry writes and that holds something else than it should.
  public struct Drift: Hashable, Sendable {
    /// The field.
    public var path: Path
    /// What it holds; null if nothing.
    public var stored: Node
    /// What it should hold.
    public var expected: Node
  }

  /// A record whose owner or whose reference is gone.
  public struct Orphan: Hashable, Sendable {
    /// The record.
    public var path: Path
    /// How it tells what it belongs to.
    public var link: ResourceLink
    /// The place where there is no record.
    public var missing: Path
  }

  /// How many records were looked at.
  public var recordCount = 0
  /// Counters that are wrong, in the order of the registry and of their places.
  public var counters: [Drift] = []
  /// Copies that are wrong, or missing, in the order in which they were found.
  public var copies: [Drift] = []
  /// Records that belong to nothing, in the order in which they were found.
  public var orphans: [Orphan] = []
  /// True if there are more orphans or wrong copies than were noted.
  public var isCut = false

  /// True if counters and copies are right; orphans are no fault of the file.
  public var isInStep: Bool { counters.isEmpty && copies.isEmpty }

  /// The write that puts all noted counters and copies right; nil if all are.
  public var repair: Write? {
    let drifts = (counters + copies).sorted { $0.path < $1.path }
    if drifts.isEmpty { return nil }
    return .update(
      .root, drifts.map { JSONMember($0.path.description, $0.expected.exportJSON) })
  }
}

/// Compares counters and copies with the records that they follow from, and finds orphans.
///
/// O(n) in the records of the registered resources, which are read once, page by page. Memory follows
/// the number of owners.
public struct ResourceAudit<Reader: TreeReader> {
  private let registry: ResourceRegistry
  private let reader: Reader
  private let isWanted: (_ step: String, _ records: Int) -> Bool
  private var report = ResourceReport()
  /// How many members count, by the place of the owner, for each counter.
  private var counts: [[Path: Int]]
  /// Owners that were read, or looked for.
  private var owners: [Path: Node] = [:]

  /// Makes an audit.
  ///
  /// - Parameters:
  ///   - registry: what is known of resources.
  ///   - reader: the tree as it is.
  ///   - isWanted: told now and then what is being done, and how many records were read; false stops it.
  public init(
    registry: ResourceRegistry, reader: Reader,
    isWanted: @escaping (_ step: String, _ records: Int) -> Bool = { _, _ in true }
  ) {
    self.registry = registry
    self.reader = reader
    self.isWanted = isWanted
    counts = registry.counters.map { _ in [:] }
  }

  /// What was found; nil if it was stopped.
  ///
  /// - Throws: `ResourceError` (`tree` with the code `storage`) if the tree cannot be read.
  public consuming func run() throws(ResourceError) -> ResourceReport? {
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

  /// The record at a place; each is read once.
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
  /// What the records of a resource belong to, by the names of its path and by references.
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

  /// Checks that all resources that are referred to are registered.
  ///
  /// - Throws: `ResourceError` (`unknownResource`) that names the one that refers to another.
  public func checkReferences() throws(ResourceError) {
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
