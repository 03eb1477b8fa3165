public import RunnelTree

/// The resources of a tree: the places of their records, and the counters and copies that follow
/// from them.
///
/// It is a value: it is made once, in code, and passed to every operation. The program `runnel` makes it
/// from a resources file, which only it reads: a library that did would need one for YAML.
///
/// Invariants:
/// - I1. A place of one pattern is never equal to, above or below a place of another; so a record
///   cannot be overwritten by a write to another one.
/// - I2. The owner of a record follows from its path and its fields alone, without a context; so
///   everything that follows from a record can be checked and made again from the data.
/// - I3. Only the registry writes fields for counters and copies.
///
/// Source: origins, section 2.1.
public struct ResourceRegistry: Sendable {
  /// The resources, in the order in which they were registered.
  package private(set) var definitions: [ResourceDefinition] = []
  /// The counters, in the order in which they were registered.
  package private(set) var counters: [CounterDefinition] = []
  /// The copies, in the order in which they were registered.
  package private(set) var copies: [CopyDefinition] = []
  /// The members that are destroyed with their owners, in the order in which they were registered.
  package private(set) var cascades: [ResourceRelation] = []
  /// The owners without which no member is created, in the order in which they were registered.
  package private(set) var requirements: [ResourceRelation] = []
  /// The rules that are asked before a change, in their order.
  public private(set) var rules: [ResourceRule] = []
  /// The place of the action log; nil if there is none.
  public private(set) var log: Path?

  /// Makes an empty registry.
  public init() {}

  // MARK: Resources

  /// Registers a resource.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - paths: the places of its records; see `PathPattern`. Each record is stored at all of these
  ///     places. The names of further patterns must be in the first too, or be references of the
  ///     record.
  ///   - schema: the rules for the fields of its records.
  ///   - parents: the resources of names in the patterns that are not called like their resource.
  /// - Throws: `ResourceError` (`invalidPattern` or `invalidDefinition`); then nothing is registered.
  public mutating func resource(
    _ name: String, paths: [String], schema: ResourceSchema = ResourceSchema(),
    parents: [String: String] = [:]
  ) throws(ResourceError) {
    if definitions.contains(where: { $0.name == name }) {
      throw ResourceRegistry.invalid(name, "it is registered twice")
    }
    var patterns: [PathPattern] = []
    for path in paths { patterns.append(try PathPattern(path)) }
    guard let primary = patterns.first else {
      throw ResourceRegistry.invalid(name, "it has no path")
    }
    for (index, pattern) in patterns.enumerated() {
      try checkFree(pattern, patterns[..<index], name)
      try checkNames(of: pattern, primary, schema, name)
    }
    definitions.append(
      ResourceDefinition(name: name, patterns: patterns, schema: schema, parents: parents))
  }

  /// Registers a resource whose records stand at one place each.
  ///
  /// - Throws: `ResourceError` as for several paths.
  public mutating func resource(
    _ name: String, path: String, schema: ResourceSchema = ResourceSchema(),
    parents: [String: String] = [:]
  ) throws(ResourceError) {
    try resource(name, paths: [path], schema: schema, parents: parents)
  }

  private func checkFree(
    _ pattern: PathPattern, _ others: ArraySlice<PathPattern>, _ name: String
  ) throws(ResourceError) {
    for other in definitions.flatMap(\.patterns) + others where pattern.overlaps(other) {
      throw ResourceRegistry.invalid(
        name, "places of \(pattern) may be places of \(other), or lie above or below one")
    }
    if let log, pattern.overlaps(PathPattern(log)) {
      throw ResourceRegistry.invalid(name, "\(pattern) is where the action log is")
    }
  }

  private func checkNames(
    of pattern: PathPattern, _ primary: PathPattern, _ schema: ResourceSchema, _ name: String
  ) throws(ResourceError) {
    if pattern.hasKey != primary.hasKey {
      throw ResourceRegistry.invalid(name, "either all of its paths have `@`, or none has")
    }
    for other in pattern.names where !primary.names.contains(other) {
      let rule = schema.fields.first { $0.field.text == other }
      if case .reference? = rule?.kind { continue }
      throw ResourceRegistry.invalid(
        name,
        "`$\(other)` of \(pattern) is neither in \(primary), nor a reference of the record")
    }
  }

  static func invalid(_ name: String, _ reason: String) -> ResourceError {
    ResourceError(
      .invalidDefinition, "The resource `\(name)` cannot be registered: \(reason).", resource: name)
  }

  // MARK: Relations

  /// Registers a counter: a field of the owner with the number of its members.
  ///
  /// - Parameters:
  ///   - owner: the resource with the counter.
  ///   - name: the field.
  ///   - counting: the resource whose records are counted.
  ///   - link: how a record names its owner, as text (`$group`, `from`); nil if there is only one
  ///     way.
  ///   - predicate: the condition for records that count; nil if all do.
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  ///
  /// Source: origins, sections 2.1 and 2.5.
  public mutating func counter(
    _ owner: String, name: String, counting: String, link: String? = nil,
    predicate: ChildPredicate? = nil
  ) throws(ResourceError) {
    let relation = try relation(counting, link, owner)
    let field = try ownedField(name, of: owner)
    if let reason = predicate?.refusal {
      throw ResourceRegistry.invalid(owner, "its counter `\(name)`: \(reason)")
    }
    counters.append(CounterDefinition(relation: relation, field: field, predicate: predicate))
  }

  /// Registers copies: fields of the members with the values of fields of their owner.
  ///
  /// - Parameters:
  ///   - member: the resource with the copies.
  ///   - owner: the resource that they are copied from.
  ///   - link: how a record names its owner, as text; nil if there is only one way.
  ///   - fields: the fields of the owner and their copies, by name.
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func copy(
    into member: String, from owner: String, link: String? = nil,
    fields: KeyValuePairs<String, String>
  ) throws(ResourceError) {
    try copy(into: member, from: owner, link: link, pairs: fields.map { ($0.key, $0.value) })
  }

  /// Registers copies whose fields are given as pairs of names: the owner's field, then the copy.
  ///
  /// - Throws: `ResourceError`, as with a dictionary literal.
  public mutating func copy(
    into member: String, from owner: String, link: String? = nil,
    pairs: [(source: String, copy: String)]
  ) throws(ResourceError) {
    let relation = try relation(member, link, owner)
    var fields: [CopyDefinition.Pair] = []
    for pair in pairs {
      let source = try ResourceError.wrapping { () throws(TreeError) in try Key(pair.source) }
      let copy = try ownedField(pair.copy, of: member)
      if fields.contains(where: { $0.copy == copy }) {
        throw ResourceRegistry.invalid(member, "`\(pair.copy)` is copied into twice")
      }
      fields.append(CopyDefinition.Pair(source, as: copy))
    }
    copies.append(CopyDefinition(relation: relation, fields: fields))
  }

  /// Registers that members are destroyed with their owner.
  ///
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func cascade(
    from owner: String, to member: String, link: String? = nil
  ) throws(ResourceError) {
    cascades.append(try relation(member, link, owner))
  }

  /// Registers that no member is created for an owner that does not exist, or was destroyed meanwhile:
  /// the operation is refused (`ownerNotFound`).
  ///
  /// It costs one read within the write. On a replica an owner that is not known is taken to exist.
  /// Without it a record is created all the same, as in the origins; the fields that are references are
  /// checked in any case.
  ///
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func require(
    _ owner: String, for member: String, link: String? = nil
  ) throws(ResourceError) {
    requirements.append(try relation(member, link, owner))
  }

  /// Logs all operations below a place.
  ///
  /// - Throws: `ResourceError` (`invalidDefinition` if records are stored there, `tree` if it is
  ///   not a path).
  public mutating func log(at path: String) throws(ResourceError) {
    let place = try ResourceError.wrapping { () throws(TreeError) in try Path(path) }
    let pattern = PathPattern(place)
    if place.isRoot || definitions.flatMap(\.patterns).contains(where: pattern.overlaps) {
      throw ResourceError(
        .invalidDefinition, "The action log cannot be at \(place): records may stand there.")
    }
    log = place
  }

  /// Adds a rule that is asked before changes, after the rules added before.
  public mutating func before(_ rule: ResourceRule) { rules.append(rule) }

  /// A field that only the registry writes.
  private func ownedField(_ name: String, of resource: String) throws(ResourceError) -> Key {
    let field = try ResourceError.wrapping { () throws(TreeError) in try Key(name) }
    if ownedFields(of: resource).contains(field) {
      throw ResourceRegistry.invalid(
        resource, "its field `\(name)` is counted or copied into twice")
    }
    return field
  }

  private func relation(
    _ member: String, _ link: String?, _ owner: String
  ) throws(ResourceError) -> ResourceRelation {
    let ownerDefinition = try definition(owner)
    let memberDefinition = try definition(member)
    let link =
      if let link { try ResourceLink(link) } else { try onlyLink(memberDefinition, owner) }
    let names = memberDefinition.primary.names
    if case .name(let name) = link, !names.contains(name) {
      throw ResourceRegistry.invalid(
        member,
        "it belongs to `\(owner)` by `$\(name)`, which is not in \(memberDefinition.primary)")
    }
    for name in ownerDefinition.primary.names
    where !names.contains(name) && name != ownerDefinition.primary.keyName {
      throw ResourceRegistry.invalid(
        member,
        "its path \(memberDefinition.primary) does not tell which `\(owner)` it belongs to: "
          + "`$\(name)` of \(ownerDefinition.primary) is missing there")
    }
    return ResourceRelation(member: member, link: link, owner: owner)
  }

  /// The only way in which a resource's records can name their owner.
  private func onlyLink(
    _ member: ResourceDefinition, _ owner: String
  ) throws(ResourceError) -> ResourceLink {
    let names = member.primary.names.filter { parent(of: $0, in: member) == owner }
    let links =
      names.isEmpty
      ? member.schema.fields.filter { $0.kind == .reference(owner) }.map {
        ResourceLink.field($0.field)
      } : names.map(ResourceLink.name)
    if let link = links.first, links.count == 1 { return link }
    throw ResourceRegistry.invalid(
      member.name,
      links.isEmpty
        ? "nothing in \(member.primary) or its references tells which `\(owner)` it belongs to"
        : "it may belong to `\(owner)` by \(links.map(\.description).joined(separator: " or ")): "
          + "say by which")
  }
}

extension PathPattern {
  /// The pattern of a single place.
  init(_ path: Path) { self.init(pieces: path.keys.map(Piece.literal)) }
}
