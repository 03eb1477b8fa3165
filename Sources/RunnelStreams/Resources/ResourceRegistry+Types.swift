public import RunnelTree

// Registration by Swift types, with the names that the origin project uses.

extension ResourceRegistry {
  /// Registers the resource of a type: `resource(Group.self, path: "/group/@")`.
  ///
  /// - Throws: `ResourceError` (`invalidPattern` or `invalidDefinition`); then nothing is registered.
  public mutating func resource<Object: Resource>(
    _ type: Object.Type, path: String..., schema: ResourceSchema = ResourceSchema(),
    parents: [String: String] = [:]
  ) throws(ResourceError) {
    try resource(type.resourceName, paths: path, schema: schema, parents: parents)
  }

  /// Registers the resource of a type, its paths without a label, as the origin project writes it:
  /// `resource(Group.self, "/group/@")`.
  ///
  /// - Throws: as the function with labels.
  public mutating func resource<Object: Resource>(
    _ type: Object.Type, _ path: String...
  ) throws(ResourceError) {
    try resource(
      type.resourceName, paths: path, schema: ResourceSchema(), parents: [:])
  }

  /// Registers a counter:
  /// `counter(Group.self, name: "message_count", countingType: Message.self)`.
  ///
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func counter<Owner: Resource, Member: Resource>(
    _ type: Owner.Type, name: String, countingType: Member.Type, link: String? = nil,
    predicate: ChildPredicate? = nil
  ) throws(ResourceError) {
    try counter(
      type.resourceName, name: name, counting: countingType.resourceName, link: link,
      predicate: predicate)
  }

  /// Registers copies of fields of an owner in its members.
  ///
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func copy<Member: Resource, Owner: Resource>(
    into member: Member.Type, from owner: Owner.Type, link: String? = nil,
    fields: KeyValuePairs<String, String>
  ) throws(ResourceError) {
    try copy(
      into: member.resourceName, from: owner.resourceName, link: link, fields: fields)
  }

  /// Registers that members are destroyed with their owner.
  ///
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func cascade<Owner: Resource, Member: Resource>(
    from owner: Owner.Type, to member: Member.Type, link: String? = nil
  ) throws(ResourceError) {
    try cascade(from: owner.resourceName, to: member.resourceName, link: link)
  }

  /// Registers that no member is created for an owner that does not exist.
  ///
  /// - Throws: `ResourceError` (`unknownResource` or `invalidDefinition`); then nothing is registered.
  public mutating func require<Owner: Resource, Member: Resource>(
    _ owner: Owner.Type, for member: Member.Type, link: String? = nil
  ) throws(ResourceError) {
    try require(owner.resourceName, for: member.resourceName, link: link)
  }
}
