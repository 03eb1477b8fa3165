public import RunnelBase
public import RunnelTree

// What a place is, for those who are given one and ask how it is changed.

/// What a registry knows of a place in the tree.
public enum ResourcePlace: Hashable, Sendable {
  /// A record, or a place below it: it is changed by operations.
  case record(ResourceIdentity, field: Path)
  /// A copy of a record that is read elsewhere, or a place below one: it follows the record.
  case copy(resource: String)
  /// The action log, or a place in it: operations write it.
  case log
  /// Records of these resources may stand below, in the order of the registry.
  case above([String])
  /// Nothing is registered here.
  case free
}

extension ResourceRegistry {
  /// What a place is.
  ///
  /// O(resources).
  public func place(of path: Path) -> ResourcePlace {
    if let log, log.contains(path) { return .log }
    var above: [String] = []
    for definition in definitions {
      for (index, pattern) in definition.patterns.enumerated() {
        let depth = pattern.pieces.count
        if path.keys.count < depth {
          if pattern.mayLie(below: path), !above.contains(definition.name) {
            above.append(definition.name)
          }
          continue
        }
        let record = Path(unchecked: Array(path.keys[..<depth]))
        guard let match = pattern.match(record) else { continue }
        if index > 0 { return .copy(resource: definition.name) }
        return .record(
          ResourceIdentity(resource: definition.name, key: match.key, names: match.names),
          field: Path(unchecked: Array(path.keys[depth...])))
      }
    }
    return above.isEmpty ? .free : .above(above)
  }

  /// The resource whose records are the children of a place, with what the names of their paths stand
  /// for; nil if there is none, or its records get no keys of their own there.
  public func resource(
    ofChildrenOf collection: Path
  ) -> (definition: ResourceDefinition, names: [String: Key])? {
    for definition in definitions {
      let pattern = definition.primary
      guard pattern.pieces.last == .key, pattern.collectionPieces.count == collection.keys.count,
        let match = PathPattern(pieces: Array(pattern.collectionPieces)).match(collection)
      else { continue }
      return (definition, match.names)
    }
    return nil
  }

  /// The records that somebody has at a record and toggles, as one likes a message: one for each
  /// resource whose path has no `@`, names the record, and ends in who it is.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - person: the key that the last name stands for.
  /// - Returns: the records, in the order of the registry; they need not exist.
  public func toggled(at record: ResourceIdentity, by person: Key) -> [ResourceIdentity] {
    definitions.compactMap { definition in
      let pattern = definition.primary
      guard let last = pattern.keyName, parent(of: last, in: definition) != record.resource else {
        return nil
      }
      var names = [last: person]
      var isOfRecord = false
      for name in pattern.names where name != last {
        if parent(of: name, in: definition) == record.resource {
          names[name] = record.key
          isOfRecord = true
        } else if let known = record.names[name] {
          names[name] = known
        } else {
          return nil
        }
      }
      return isOfRecord
        ? ResourceIdentity(resource: definition.name, key: person, names: names) : nil
    }
  }

  /// The resources of the records that somebody toggles at any record of a resource: those of
  /// `toggled(at:by:)`, whoever it is and whichever record.
  ///
  /// O(resources squared).
  public func toggledResources(of resource: String) -> [String] {
    guard let names = definitions.first(where: { $0.name == resource })?.primary.names else {
      return []
    }
    // All that `toggled` asks of keys is whether there are any.
    let some = Key(unchecked: "-")
    let record = ResourceIdentity(
      resource: resource, key: some,
      names: Dictionary(names.map { ($0, some) }) { first, _ in first })
    return toggled(at: record, by: some).map(\.resource)
  }

  /// An operation on the record of an identity; the objects of its context have only their keys.
  public func operation(
    _ kind: ResourceOperation.Kind, on identity: ResourceIdentity, value: JSONValue = .null
  ) -> ResourceOperation {
    ResourceOperation(
      kind, ResourceObject(identity.resource, key: identity.key, value: value),
      in: context(of: identity.names, for: identity.resource))
  }

  /// The creation of a record under a new key, where the names of its path stand for these keys.
  public func creation(
    of definition: ResourceDefinition, names: [String: Key], value: JSONValue
  ) -> ResourceOperation {
    ResourceOperation(
      .create, ResourceObject(definition.name, value: value),
      in: context(of: names, for: definition.name))
  }

  private func context(
    of names: [String: Key], for resource: String
  ) -> [String: ResourceObject] {
    let definition = definitions.first { $0.name == resource }
    var context: [String: ResourceObject] = [:]
    for (name, key) in names {
      let owner = definition.flatMap { self.parent(of: name, in: $0) }
      context[name] = ResourceObject(owner ?? name, key: key)
    }
    return context
  }
}

extension PathPattern {
  /// True if a path of the pattern may lie below a place.
  fileprivate func mayLie(below path: Path) -> Bool {
    zip(pieces, path.keys).allSatisfy { pair in
      switch pair.0 {
      case .literal(let key): key == pair.1
      case .key, .name: true
      }
    }
  }
}
