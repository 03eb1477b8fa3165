package import RunnelBase
package import RunnelTree

// The meaning of a place, for callers who want to change it.

/// The meaning of a place in the tree, as a registry knows it.
package enum ResourcePlace: Hashable, Sendable {
  /// A record, or a place below it: operations change it.
  case record(ResourceIdentity, field: Path)
  /// A copy of a record, or a place below one: it follows the record.
  case copy(resource: String)
  /// The action log, or a place in it: operations append to it.
  case log
  /// A place with records of these resources below it, in the order of the registry.
  case above([String])
  /// A place of no resource.
  case free
}

extension ResourceRegistry {
  /// The meaning of a place.
  ///
  /// O(resources).
  package func place(of path: Path) -> ResourcePlace {
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

  /// The resource whose records are the children of a place, with the keys for the names of their
  /// paths; nil if there is none, or its records have no keys of their own there.
  package func resource(
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

  /// The records with which a person toggles something about a record, as one likes a message: one
  /// for each resource whose pattern has no `@`, names the record's resource, and ends in the
  /// person.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - person: the key for the last name.
  /// - Returns: the records, in the order of the registry; they need not exist.
  package func toggled(at record: ResourceIdentity, by person: Key) -> [ResourceIdentity] {
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

  /// The resources of the records with which a person toggles something about a record of a
  /// resource: those of `toggled(at:by:)` for any person and record.
  ///
  /// O(resources squared).
  package func toggledResources(of resource: String) -> [String] {
    guard let names = definitions.first(where: { $0.name == resource })?.primary.names else {
      return []
    }
    // `toggled` needs only to know that there are keys, not which.
    let some = Key(unchecked: "-")
    let record = ResourceIdentity(
      resource: resource, key: some,
      names: Dictionary(names.map { ($0, some) }) { first, _ in first })
    return toggled(at: record, by: some).map(\.resource)
  }

  /// An operation on the record with an identity; the objects of its context have only keys.
  package func operation(
    _ kind: ResourceOperation.Kind, on identity: ResourceIdentity, value: JSONValue = .null
  ) -> ResourceOperation {
    ResourceOperation(
      kind, ResourceObject(identity.resource, key: identity.key, value: value),
      in: context(of: identity.names, for: identity.resource))
  }

  /// The creation of a record under a new key, with these keys for the names of its path.
  package func creation(
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
  /// True if a place of the pattern can lie below a place.
  fileprivate func mayLie(below path: Path) -> Bool {
    zip(pieces, path.keys).allSatisfy { pair in
      switch pair.0 {
      case .literal(let key): key == pair.1
      case .key, .name: true
      }
    }
  }
}
