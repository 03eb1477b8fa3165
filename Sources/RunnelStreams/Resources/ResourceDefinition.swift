package import RunnelTree

/// A resource: a kind of records, and their places.
package struct ResourceDefinition: Hashable, Sendable {
  /// The name.
  package let name: String
  /// The places of its records.
  ///
  /// Each record is stored at all of these places: the first is the primary one, which is read, and
  /// the others hold copies.
  package let patterns: [PathPattern]
  /// The rules for the fields of its records.
  package let schema: ResourceSchema
  /// The resources of names in the patterns that are not called like their resource.
  package let parents: [String: String]

  /// The pattern of the primary place.
  package var primary: PathPattern { patterns[0] }

  /// The place of a record.
  func path(of identity: ResourceIdentity) throws(ResourceError) -> Path {
    try primary.path(key: identity.key, names: identity.names)
  }

  /// The identity of the record at a place; nil if this resource has no record there.
  func identity(at path: Path) -> ResourceIdentity? {
    primary.match(path).map {
      ResourceIdentity(resource: name, key: $0.key, names: $0.names)
    }
  }

  /// The places of a record: the primary one, then the places of the copies.
  ///
  /// A name that the first pattern does not have stands for the key in the record's reference with
  /// this name; without that reference, the record has no copy there.
  func places(of identity: ResourceIdentity, _ record: Node) throws(ResourceError) -> [Path] {
    var places = [try path(of: identity)]
    for pattern in patterns.dropFirst() {
      var names = identity.names
      for name in pattern.names where names[name] == nil {
        names[name] = referenceKey(name, record)
      }
      if pattern.names.contains(where: { names[$0] == nil && $0 != pattern.keyName }) { continue }
      places.append(try pattern.path(key: identity.key, names: names))
    }
    return places
  }

  private func referenceKey(_ name: String, _ record: Node) -> Key? {
    guard let field = try? Key(name) else { return nil }
    return record.key(at: field)
  }
}

extension Node {
  /// The key that a field holds as text; nil if it does not hold one.
  func key(at field: Key) -> Key? {
    guard case .string(let text)? = self[field].leaf else { return nil }
    return try? Key(text)
  }
}

/// The way in which a record names its owner, a record of another resource.
///
/// As text it is `$group` for a name of its path, and `from` for a field.
package enum ResourceLink: Hashable, Sendable, CustomStringConvertible {
  /// A name of the first pattern, which stands for the owner's key.
  case name(String)
  /// A field that holds the owner's key as text.
  case field(Key)

  /// Reads a link from its text.
  ///
  /// - Throws: `ResourceError` (`tree`) if the field is not a key.
  package init(_ text: String) throws(ResourceError) {
    if text.hasPrefix("$") {
      self = .name(String(text.dropFirst()))
    } else {
      self = .field(try ResourceError.wrapping { () throws(TreeError) in try Key(text) })
    }
  }

  /// The text of the link.
  package var description: String {
    switch self {
    case .name(let name): "$" + name
    case .field(let key): key.text
    }
  }
}

/// A relation between two resources: records of one belong to records of the other.
package struct ResourceRelation: Hashable, Sendable {
  /// The resource of the members.
  package var member: String
  /// The way in which a member names its owner.
  package var link: ResourceLink
  /// The resource of the owners.
  package var owner: String

  /// Makes a relation.
  package init(member: String, link: ResourceLink, owner: String) {
    self.member = member
    self.link = link
    self.owner = owner
  }
}

/// A counter: a field of the owner with the number of its members.
package struct CounterDefinition: Hashable, Sendable {
  /// The relation of owner and members.
  package var relation: ResourceRelation
  /// The field of the owner.
  package var field: Key
  /// The condition for members that count; nil if all do.
  package var predicate: ChildPredicate?

  /// True if a record counts; an empty node does not.
  func counts(_ key: Key, _ record: Node) -> Bool {
    if record.isEmpty { return false }
    return predicate?.holds(of: Child(key: key, node: record)) ?? true
  }
}

/// Copies: fields of members with the values of fields of their owner.
package struct CopyDefinition: Hashable, Sendable {
  /// The relation of owner and members.
  package var relation: ResourceRelation
  /// The fields and their copies, in the order in which they were given.
  package var fields: [Pair]

  /// A field and its copy.
  package struct Pair: Hashable, Sendable {
    /// The field of the owner.
    package var source: Key
    /// The field of the member.
    package var copy: Key

    /// Makes a pair.
    package init(_ source: Key, as copy: Key) {
      self.source = source
      self.copy = copy
    }
  }
}
