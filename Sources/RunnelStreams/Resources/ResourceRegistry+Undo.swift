import RunnelBase
public import RunnelTree

// How an entry of the action log is taken back: by an operation of its own, which is logged in turn.

extension ResourceError.Code {
  /// What an entry of the action log did was changed since, or cannot be told any more.
  public static let cannotUndo = ResourceError.Code(rawValue: "cannot_undo")
}

extension ResourceRegistry {
  /// The operation that takes an entry of the action log back, where what it did still stands.
  ///
  /// Counters and copies are not compared: they follow what others did. To take a creation back is to
  /// destroy the record; to take a destruction back is to create it again, without what was destroyed
  /// with it; to take a change back is to write the old values of the fields that it changed.
  ///
  /// - Parameters:
  ///   - entry: the entry.
  ///   - reader: the tree as it is.
  /// - Returns: the operation; it is to be carried out before the tree changes.
  /// - Throws: `ResourceError` (`cannotUndo`) that says what was changed since, or is not known.
  public func undoing(
    _ entry: ActionLogEntry, reader: some TreeReader
  ) throws(ResourceError) -> ResourceOperation {
    let definition = try definition(entry.resource)
    guard let identity = definition.identity(at: entry.path) else {
      throw ResourceRegistry.cannotUndo(
        entry, "records of `\(entry.resource)` do not stand at \(entry.path) any more")
    }
    if entry.isCut {
      throw ResourceRegistry.cannotUndo(
        entry, "its values were too large for the log: `runnel history` may have them")
    }
    let present = try ResourceError.wrapping { () throws(TreeError) in
      try reader.node(at: entry.path)
    }
    let values = UndoValues(
      entry, present: present.exportJSON, owned: ownedFields(of: entry.resource))
    switch entry.kind {
    case .create:
      if present.isEmpty { throw ResourceRegistry.cannotUndo(entry, "the record is gone already") }
      try values.checkUnchanged()
      return operation(.destroy, on: identity)
    case .update:
      if present.isEmpty { throw ResourceRegistry.cannotUndo(entry, "the record is gone") }
      try values.checkUnchanged()
      if values.changed.isEmpty { throw ResourceRegistry.cannotUndo(entry, "it changed nothing") }
      return operation(.update, on: identity, value: values.restored)
    case .destroy:
      if !present.isEmpty {
        throw ResourceRegistry.cannotUndo(entry, "there is a record again at \(entry.path)")
      }
      try checkOwnersExist(entry, identity, definition, reader)
      var creation = operation(.create, on: identity, value: entry.old)
      creation.appliesInitialValues = false
      return creation
    }
  }

  /// Makes sure that what a record belongs to by its path is there, so that it is no orphan.
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
    ResourceError(
      .cannotUndo, "This cannot be taken back: \(reason).", resource: entry.resource)
  }
}

extension ResourcePlanner {
  /// The plan of taking an entry of the action log back; see `ResourceRegistry.undoing`.
  ///
  /// - Throws: as `plan`, and `ResourceError` (`cannotUndo`), also where records that came since would be
  ///   destroyed with the one that is taken back.
  public consuming func plan(
    undoing entry: ActionLogEntry
  ) throws(ResourceError) -> ResourcePlan {
    let plan = try plan(registry.undoing(entry, reader: reader))
    let others = plan.changes.count - 1
    if entry.kind == .create, others > 0 {
      throw ResourceRegistry.cannotUndo(
        entry,
        (others == 1 ? "1 record came" : "\(others) records came")
          + " since, and would be destroyed with it: delete it if you mean that")
    }
    return plan
  }
}

/// The fields that an entry changed, beside what stands there now.
private struct UndoValues {
  let entry: ActionLogEntry
  let present: JSONValue
  /// The names of the fields that it changed, in the order of the keys; the empty name is the record
  /// itself, where it is no object.
  let changed: [String]

  init(_ entry: ActionLogEntry, present: JSONValue, owned: Set<Key>) {
    self.entry = entry
    self.present = present
    let names = Set(entry.old.memberNames + entry.new.memberNames)
      .subtracting(owned.map(\.text)).sorted()
    let isObject = [entry.old, entry.new].allSatisfy { $0 == .null || $0.isObject }
    changed =
      isObject
      ? names.filter { (entry.old[$0] ?? .null) != (entry.new[$0] ?? .null) } : [""]
  }

  /// What is to be written for them.
  var restored: JSONValue {
    if changed == [""] { return entry.old }
    return .object(changed.map { JSONMember($0, entry.old[$0] ?? .null) })
  }

  /// - Throws: `ResourceError` (`cannotUndo`) that names the first field which is another now.
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

extension JSONValue {
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }

  fileprivate var memberNames: [String] {
    if case .object(let members) = self { members.map(\.name) } else { [] }
  }
}

extension Node {
  /// The node of JSON that was read from the tree.
  fileprivate static func reading(_ json: JSONValue) throws(ResourceError) -> Node {
    try ResourceError.wrapping { () throws(TreeError) in try Node(json: json) }
  }
}
