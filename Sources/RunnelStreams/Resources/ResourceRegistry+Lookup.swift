public import RunnelTree

// What is registered, as those ask who do something with it.

extension ResourceRegistry {
  /// The resource of a name.
  ///
  /// - Throws: `ResourceError` (`unknownResource`).
  public func definition(_ name: String) throws(ResourceError) -> ResourceDefinition {
    if let definition = definitions.first(where: { $0.name == name }) { return definition }
    throw ResourceError(
      .unknownResource,
      "There is no resource `\(name)`. Known: "
        + "\(definitions.map(\.name).joined(separator: ", ")).", resource: name)
  }

  /// The fields of a resource that only the registry writes: counters and copies.
  public func ownedFields(of resource: String) -> Set<Key> {
    Set(counters(of: resource).map(\.field))
      .union(copiesInto(resource).flatMap { $0.fields.map(\.copy) })
  }

  /// The counters that records of a resource have.
  public func counters(of owner: String) -> [CounterDefinition] {
    counters.filter { $0.relation.owner == owner }
  }

  /// The copies that records of a resource hold.
  public func copiesInto(_ member: String) -> [CopyDefinition] {
    copies.filter { $0.relation.member == member }
  }

  /// The place of an object's record.
  ///
  /// - Parameters:
  ///   - object: the object, which has a key, or is the one of its context.
  ///   - context: the objects that the names of the path stand for.
  /// - Returns: the place, at which nothing need stand.
  /// - Throws: `ResourceError` (`unknownResource`, `missingName`, `missingKey`, `keyMismatch`).
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

  /// The place whose children are named by the keys of a resource's records.
  ///
  /// - Throws: `ResourceError` (`unknownResource`, or `missingName` with the pattern and the name).
  ///
  /// Source: origins, section 2.7.
  public func collection(
    of resource: String, in context: [String: ResourceObject]
  ) throws(ResourceError) -> Path {
    try definition(resource).primary.collection(names: context.compactMapValues(\.key))
  }

  /// Which record an object is, or is to be.
  ///
  /// `newKey` gives the key of an object that has none, where the pattern has room for one.
  func identity(
    of object: ResourceObject, _ definition: ResourceDefinition,
    _ context: [String: ResourceObject], newKey: () throws(ResourceError) -> Key
  ) throws(ResourceError) -> ResourceIdentity {
    let pattern = definition.primary
    var names: [String: Key] = [:]
    for name in pattern.names {
      names[name] = context[name]?.key
      if names[name] == nil, name == pattern.keyName { names[name] = object.key }
      if names[name] != nil { continue }
      throw ResourceRegistry.missing(name, pattern, definition, isNew: context[name] != nil)
    }
    // Without `@` the last piece is a name that stands for something, or a key.
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

  /// The resource that a name of a resource's patterns belongs to; nil if to none.
  ///
  /// It is the one that was said to be, or the one that is called so, whatever its case.
  public func parent(of name: String, in definition: ResourceDefinition) -> String? {
    if let parent = definition.parents[name] { return parent }
    return definitions.map(\.name).first { $0 == name }
      ?? definitions.map(\.name).first { $0.lowercased() == name.lowercased() }
  }

  /// The owner that a record tells; nil if it tells none.
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
