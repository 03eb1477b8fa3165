import RunnelBase
package import RunnelTree

// Undoing an entry of the action log, by an operation of its own, which is logged in turn.

extension ResourceError.Code {
  /// What the entry changed has another value now, or its former state is not known any more.
  public static let cannotUndo = ResourceError.Code(rawValue: "cannot_undo")
}

extension ResourceRegistry {
  /// The operation that undoes an entry of the action log, if the result of the entry still stands.
  ///
  /// Counters and copies are not compared: they depend on changes by others. Undoing a creation
  /// destroys the record. Undoing a destruction creates it again, without the records that were
  /// destroyed with it; on a replica it keeps the copies of owners that are not known there. Undoing an
  /// update restores the old values of the fields that it changed.
  ///
  /// - Parameters:
  ///   - entry: the entry.
  ///   - reader: the tree.
  /// - Returns: the operation; it must be carried out before the tree changes.
  /// - Throws: `ResourceError` (`cannotUndo`) with what was changed since, or is not known.
  package func undoing(
    _ entry: ActionLogEntry, reader: some TreeReader
  ) throws(ResourceError) -> ResourceOperation {
    let definition = try definition(entry.resource)
    guard let identity = definition.identity(at: entry.path) else {
      throw ResourceRegistry.cannotUndo(
        entry, "records of `\(entry.resource)` do not stand at \(entry.path) any more")
    }
    if entry.isCut {
      throw ResourceRegistry.cannotUndo(
        entry, "its values were too large for the log: undo its write by its number in the history")
    }
    let present = try ResourceError.wrapping { () throws(TreeError) in
      try reader.node(at: entry.path)
    }
    let values = UndoValues(
      entry, present: present.exportJSON, owned: ownedFields(of: entry.resource))
    switch entry.kind {
    case .create where entry.old.isNull:
      if present.isEmpty { throw ResourceRegistry.cannotUndo(entry, "the record is gone already") }
      try values.checkUnchanged()
      return operation(.destroy, on: identity)
    // A creation in place of another record is undone as a change of it.
    case .update, .create:
      if present.isEmpty { throw ResourceRegistry.cannotUndo(entry, "the record is gone") }
      try values.checkUnchanged()
      if values.changed.isEmpty { throw ResourceRegistry.cannotUndo(entry, "it changed nothing") }
      var update = operation(.update, on: identity, value: values.restored)
      update.isUndoing = true
      return update
    case .destroy:
      if !present.isEmpty {
        throw ResourceRegistry.cannotUndo(entry, "there is a record again at \(entry.path)")
      }
      try checkOwnersExist(entry, identity, definition, reader)
      var creation = operation(.create, on: identity, value: entry.old)
      creation.isUndoing = true
      return creation
    }
  }

  /// Checks that the owners in a record's path exist, so that the record does not become an orphan.
  private func checkOwnersExist(
    _ entry: ActionLogEntry, _ identity: ResourceIdentity, _ definition: ResourceDefinition,
    _ reader: some TreeReader
  ) throws(ResourceError) {
    for relation in belongings(of: definition) {
      guard case .name(let name) = relation.link, name != definition.primary.keyName,
        let owner = try owner(relation, of: identity, try Node.reading(entry.old))
      else { continue }
      let pattern = try self.definition(owner.resource).primary
      guard pattern.names.allSatisfy({ owner.names[$0] != nil }) else { continue }
      let place = try pattern.path(key: owner.key, names: owner.names)
      let summary = try ResourceError.wrapping { () throws(TreeError) in
        try reader.summary(at: place)
      }
      if summary.kind != .empty { continue }
      throw ResourceRegistry.cannotUndo(
        entry,
        "the `\(owner.resource)` at \(place) that it belongs to is gone: take that back first")
    }
  }

  static func cannotUndo(_ entry: ActionLogEntry, _ reason: String) -> ResourceError {
    cannotUndo(entry.resource, reason)
  }

  static func cannotUndo(_ resource: String?, _ reason: String) -> ResourceError {
    ResourceError(.cannotUndo, "This cannot be taken back: \(reason).", resource: resource)
  }
}

extension ResourcePlanner {
  /// The plan for undoing an entry of the action log; see `ResourceRegistry.undoing`.
  ///
  /// - Throws: as `plan`, and `ResourceError` (`cannotUndo`), also if records that were added since
  ///   would be destroyed with the one to be removed.
  package consuming func plan(
    undoing entry: ActionLogEntry
  ) throws(ResourceError) -> ResourcePlan {
    let plan = try plan(registry.undoing(entry, reader: reader))
    let others = plan.changes.count - 1
    if entry.kind == .create, entry.old.isNull, others > 0 {
      throw ResourceRegistry.cannotUndo(
        entry,
        (others == 1 ? "1 record came" : "\(others) records came")
          + " since, and would be destroyed with it: delete it if you mean that")
    }
    return plan
  }
}

/// The fields that an entry changed, and their present values.
private struct UndoValues {
  let entry: ActionLogEntry
  let present: JSONValue
  /// The names of the fields that it changed, in the order of the keys; the empty name stands for
  /// the record itself, if it is not an object.
  let changed: [String]

  init(_ entry: ActionLogEntry, present: JSONValue, owned: Set<Key>) {
    self.entry = entry
    self.present = present
    let names = Set([entry.old, entry.new].flatMap { $0.object ?? [] }.map(\.name))
      .subtracting(owned.map(\.text)).sorted()
    let isObject = [entry.old, entry.new].allSatisfy { $0.isNull || $0.object != nil }
    changed =
      isObject
      ? names.filter { (entry.old[$0] ?? .null) != (entry.new[$0] ?? .null) } : [""]
  }

  /// The values to write for them.
  var restored: JSONValue {
    if changed == [""] { return entry.old }
    return .object(changed.map { JSONMember($0, entry.old[$0] ?? .null) })
  }

  /// - Throws: `ResourceError` (`cannotUndo`) with the first field that was changed since.
  func checkUnchanged() throws(ResourceError) {
    for name in changed {
      let (then, now) =
        name.isEmpty
        ? (entry.new, present) : (entry.new[name] ?? .null, present[name] ?? .null)
      if then == now { continue }
      let field = name.isEmpty ? "it" : "`\(name)`"
      throw ResourceRegistry.cannotUndo(
        entry, "\(field) was changed since, to \(String(now.jsonText().prefix(40)))")
    }
  }
}

extension Node {
  /// The node for JSON that was read from the tree.
  fileprivate static func reading(_ json: JSONValue) throws(ResourceError) -> Node {
    try ResourceError.wrapping { () throws(TreeError) in try Node(json: json) }
  }
}
