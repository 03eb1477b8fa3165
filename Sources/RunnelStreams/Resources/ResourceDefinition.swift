public import RunnelTree

/// A resource: what kind of records there are, and where they stand.
public struct ResourceDefinition: Hashable, Sendable {
  /// What it is called.
  public let name: String
  /// Where its records stand.
  ///
  /// Each record stands at all of these places; the first is the one that is read, and the others hold
  /// copies of it.
  public let patterns: [PathPattern]
  /// What its records look like.
  public let schema: ResourceSchema
  /// Which resource a name of the patterns belongs to, where that is not the one called so.
  public let parents: [String: String]

  /// The pattern of the place that is read.
  var primary: PathPattern { patterns[0] }

  /// The place of a record.
  func path(of identity: ResourceIdentity) throws(ResourceError) -> Path {
    try primary.path(key: identity.key, names: identity.names)
  }

  /// The record that stands at a place; nil if none of this resource can.
  func identity(at path: Path) -> ResourceIdentity? {
    primary.match(path).map {
      ResourceIdentity(resource: name, key: $0.key, names: $0.names)
    }
  }

  /// All places of a record: the one that is read, then those of the copies.
  ///
  /// A name that the first pattern has not is the key that the record's reference of this name holds; a
  /// record without it has no copy there.
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
  /// The key that a field holds as text; nil if it holds none.
  func key(at field: Key) -> Key? {
    guard case .string(let text)? = self[field].leaf else { return nil }
    return try? Key(text)
  }
}

/// How a record tells which record of another resource it belongs to.
///
/// As text it is `$group` for a name of its path, and `from` for a field.
public enum ResourceLink: Hashable, Sendable, CustomStringConvertible {
  /// By the key that stands for a name of its first pattern.
  case name(String)
  /// By the key that a field holds as text.
  case field(Key)

  /// Reads a link from its text.
  ///
  /// - Throws: `ResourceError` (`tree`) if the field is no key.
  public init(_ text: String) throws(ResourceError) {
    if text.hasPrefix("$") {
      self = .name(String(text.dropFirst()))
    } else {
      self = .field(try ResourceError.wrapping { () throws(TreeError) in try Key(text) })
    }
  }

  /// The text of the link.
  public var description: String {
    switch self {
    case .name(let name): "$" + name
    case .field(let key): key.text
    }
  }
}

/// That records of one resource belong to records of another.
public struct ResourceRelation: Hashable, Sendable {
  /// The resource whose records belong to the other's.
  public var member: String
  /// How a member tells its owner.
  public var link: ResourceLink
  /// The resource that they belong to.
  public var owner: String

  /// Makes a relation.
  public init(member: String, link: ResourceLink, owner: String) {
    self.member = member
    self.link = link
    self.owner = owner
  }
}

/// A field of the owner that holds how many members it has.
public struct CounterDefinition: Hashable, Sendable {
  /// Who counts whom.
  public var relation: ResourceRelation
  /// The field of the owner.
  public var field: Key
  /// Which members count; nil if all do.
  public var predicate: Predicate?

  /// True if a record counts; what does not exist does not.
  func counts(_ key: Key, _ record: Node) -> Bool {
    if record.isEmpty { return false }
    return predicate?.holds(of: Child(key: key, node: record)) ?? true
  }
}

/// Fields of the members that hold what fields of their owner hold.
public struct CopyDefinition: Hashable, Sendable {
  /// Who copies from whom.
  public var relation: ResourceRelation
  /// Which field of the owner goes where, in the order in which they were given.
  public var fields: [Pair]

  /// A field and its copy.
  public struct Pair: Hashable, Sendable {
    /// The field of the owner.
    public var source: Key
    /// The field of the member.
    public var copy: Key

    /// Makes a pair.
    public init(_ source: Key, as copy: Key) {
      self.source = source
      self.copy = copy
    }
  }
}
