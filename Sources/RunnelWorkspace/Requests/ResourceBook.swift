package import RunnelStreams
package import RunnelTree

/// The resources of the database as the state holds them; empty if no file describes any.
package struct ResourceBook: Sendable {
  package var registry = ResourceRegistry() {
    didSet { toggled = ResourceBook.toggled(in: registry) }
  }
  /// The resource whose records are toggled at the records of a resource, by the name of the
  /// latter.
  private(set) var toggled: [String: String] = [:]
  /// The text of the file, to replay a recorded session; nil if there is none.
  package var source: String?

  /// Makes a book of a registry; an empty one without arguments.
  package init(_ registry: ResourceRegistry = ResourceRegistry(), source: String? = nil) {
    self.registry = registry
    self.source = source
    toggled = ResourceBook.toggled(in: registry)
  }

  /// Returns the record at a place or around it, or nil if no resource describes one there.
  package func record(
    at path: Path
  ) -> (definition: ResourceDefinition, identity: ResourceIdentity)? {
    guard case .record(let identity, _) = registry.place(of: path),
      let definition = registry.definitions.first(where: { $0.name == identity.resource })
    else { return nil }
    return (definition, identity)
  }

  /// Returns the resource that describes the record at a place or around it, and the resource whose
  /// records are toggled there; nil for each that does not exist.
  package func resources(at path: Path) -> (described: String?, toggled: String?) {
    guard case .record(let identity, let field) = registry.place(of: path) else {
      return (nil, nil)
    }
    return (identity.resource, field.isRoot ? toggled[identity.resource] : nil)
  }

  private static func toggled(in registry: ResourceRegistry) -> [String: String] {
    var toggled: [String: String] = [:]
    for definition in registry.definitions {
      toggled[definition.name] = registry.toggledResources(of: definition.name).first
    }
    return toggled
  }

  /// Returns the records that a person toggles at the record of a place.
  func toggled(at path: Path, by person: String) -> [ResourceIdentity] {
    guard case .record(let identity, let field) = registry.place(of: path), field.isRoot,
      let person = try? Key(person)
    else { return [] }
    return registry.toggled(at: identity, by: person)
  }

  /// Returns a word for how a field is kept up to date, or nil if the user edits it.
  func ownership(of field: Path, in resource: ResourceDefinition?) -> String? {
    guard let resource, let key = field.keys.first,
      registry.ownedFields(of: resource.name).contains(key)
    else { return nil }
    let isCounter = registry.counters(of: resource.name).contains { $0.field == key }
    return isCounter ? "counted" : "copied"
  }

  /// The reason why a field that is computed from other records cannot be edited, or nil if it can.
  func reasonNotEdited(_ field: Path, of resource: String) -> String? {
    guard let key = field.keys.first, registry.ownedFields(of: resource).contains(key) else {
      return nil
    }
    let isCounter = registry.counters(of: resource).contains { $0.field == key }
    return isCounter
      ? "`\(key)` is counted from other records: it is not edited"
      : "`\(key)` is copied from another record: edit it there"
  }
}

extension ResourceBook: Equatable {
  /// Whether the same resources are registered; rules are functions, and are not compared.
  package static func == (left: ResourceBook, right: ResourceBook) -> Bool {
    let (a, b) = (left.registry, right.registry)
    return a.definitions == b.definitions && a.counters == b.counters && a.copies == b.copies
      && a.cascades == b.cascades && a.requirements == b.requirements && a.log == b.log
  }
}
