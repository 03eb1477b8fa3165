public import RunnelTree

// Lookups for operations.

extension ResourceRegistry {
  /// The resource with a name.
  ///
  /// - Throws: `ResourceError` (`unknownResource`).
  package func definition(_ name: String) throws(ResourceError) -> ResourceDefinition {
    if let definition = definitions.first(where: { $0.name == name }) { return definition }
    throw ResourceError(
      .unknownResource,
      "There is no resource `\(name)`. Known: "
        + "\(definitions.map(\.name).joined(separator: ", ")).", resource: name)
  }

  /// The fields of a resource that only the registry writes: counters and copies.
  package func ownedFields(of resource: String) -> Set<Key> {
    Set(counters(of: resource).map(\.field))
      .union(copiesInto(resource).flatMap { $0.fields.map(\.copy) })
  }

  /// The counters that records of a resource have.
  package func counters(of owner: String) -> [CounterDefinition] {
    counters.filter { $0.relation.owner == owner }
  }

  /// The copies that records of a resource hold.
  package func copiesInto(_ member: String) -> [CopyDefinition] {
    copies.filter { $0.relation.member == member }
  }

  /// The place of an object's record.
  ///
  /// - Parameters:
  ///   - object: the object; it must have a key, or the pattern must give it one.
  ///   - context: the objects for the names of the path.
  /// - Returns: the place, which may be empty.
  /// - Throws: `ResourceError` (`unknownResource`, `missingName`, `wrongResource`, `missingKey`,
  ///   `keyMismatch`).
  ///
  /// Source: origins, section 2.7.
  public func path(
    of object: ResourceObject, in context: [String: ResourceObject]
  ) throws(ResourceError) -> Path {
    let definition = try definition(object.resource)
    let identity = try identity(of: object, definition, context) { () throws(ResourceError) in
      throw ResourceRegistry.missingKey(definition)
    }
    return try definition.path(of: identity)
  }

  /// The place whose children have the keys of a resource's records.
  ///
  /// - Throws: `ResourceError` (`unknownResource`, or `missingName` or `wrongResource` with the pattern and
  ///   the name).
  ///
  /// Source: origins, section 2.7.
  public func collection(
    of resource: String, in context: [String: ResourceObject]
  ) throws(ResourceError) -> Path {
    let definition = try definition(resource)
    for name in definition.primary.names { try check(context[name], as: name, definition) }
    return try definition.primary.collection(names: context.compactMapValues(\.key))
  }

  /// The identity of an object's record.
  ///
  /// `newKey` returns the key for an object without one, if the pattern has room for it.
  func identity(
    of object: ResourceObject, _ definition: ResourceDefinition,
    _ context: [String: ResourceObject], newKey: () throws(ResourceError) -> Key
  ) throws(ResourceError) -> ResourceIdentity {
    let pattern = definition.primary
    var names: [String: Key] = [:]
    for name in pattern.names {
      try check(context[name], as: name, definition)
      names[name] = context[name]?.key
      if names[name] == nil, name == pattern.keyName { names[name] = object.key }
      if names[name] != nil { continue }
      throw ResourceRegistry.missing(name, pattern, definition, isNew: context[name] != nil)
    }
    // Without `@` the last piece gives the key: a name or a literal key.
    let fixed = pattern.keyName.flatMap { names[$0] } ?? pattern.lastLiteral
    let key = if let known = fixed ?? object.key { known } else { try newKey() }
    if let own = object.key, own != key {
      throw ResourceError(
        .keyMismatch,
        "The object of `\(definition.name)` has the key \(own), but in \(pattern) the context gives "
          + "it \(key).",
        resource: definition.name, pattern: pattern.description)
    }
    return ResourceIdentity(resource: definition.name, key: key, names: names)
  }

  /// Checks that the context's object of a name is of the resource that the name stands for, if that is
  /// registered.
  private func check(
    _ object: ResourceObject?, as name: String, _ definition: ResourceDefinition
  ) throws(ResourceError) {
    guard let object, let parent = parent(of: name, in: definition), object.resource != parent
    else { return }
    throw ResourceError(
      .wrongResource,
      "In the path \(definition.primary) of `\(definition.name)`, `\(name)` is a `\(parent)`, and the "
        + "context has a `\(object.resource)` of this name.",
      resource: definition.name, pattern: definition.primary.description, missing: name)
  }

  private static func missing(
    _ name: String, _ pattern: PathPattern, _ definition: ResourceDefinition, isNew: Bool
  ) -> ResourceError {
    ResourceError(
      .missingName,
      "The path \(pattern) of `\(definition.name)` needs `\(name)`, and the context has "
        + (isNew ? "one without a key: create it first." : "no object of this name: push one."),
      resource: definition.name, pattern: pattern.description, missing: name)
  }

  static func missingKey(_ definition: ResourceDefinition) -> ResourceError {
    ResourceError(
      .missingKey,
      "The object of `\(definition.name)` has no key for \(definition.primary): create it first, or "
        + "give it one.",
      resource: definition.name, pattern: definition.primary.description, missing: definition.name)
  }

  /// The resource of a name in a resource's patterns; nil if there is none.
  ///
  /// It is the registered parent, or the resource with the same name, whatever its case.
  package func parent(of name: String, in definition: ResourceDefinition) -> String? {
    if let parent = definition.parents[name] { return parent }
    return definitions.map(\.name).first { $0 == name }
      ?? definitions.map(\.name).first { $0.lowercased() == name.lowercased() }
  }

  /// The owner that a record names; nil if it names none.
  func owner(
    _ relation: ResourceRelation, of identity: ResourceIdentity, _ record: Node
  ) throws(ResourceError) -> ResourceIdentity? {
    if record.isEmpty { return nil }
    let key: Key? =
      switch relation.link {
      case .name(let name): identity.names[name]
      case .field(let field): record.key(at: field)
      }
    guard let key else { return nil }
    let pattern = try definition(relation.owner).primary
    var names: [String: Key] = [:]
    for name in pattern.names {
      names[name] = name == pattern.keyName ? key : identity.names[name]
    }
    return ResourceIdentity(resource: relation.owner, key: key, names: names)
  }
}
