package import RunnelBase
package import RunnelStreams
package import RunnelTree

/// A change of the tree that a screen requests: an operation if a resource describes the place,
/// otherwise a plain write.
package indirect enum WriteRequest: Hashable, Sendable {
  /// Put a value at a place.
  case set(Path, JSONValue)
  /// Replace values below a place, at relative paths; null removes.
  case update(Path, [JSONMember])
  /// Remove the value at a place.
  case remove(Path)
  /// Add a child under a new key.
  case push(Path, JSONValue)
  /// Add children under new keys, in one write.
  case pushAll(Path, [JSONValue])
  /// Remove children of a place, in one write.
  case removeAll(Path, [Key])
  /// Carry out an operation on a resource.
  case operation(ResourceOperation)
  /// Add a child under a new key to a field of a record.
  case append(ResourceIdentity, field: Path, JSONValue)
  /// Undo an entry of the action log.
  case undo(RunnelStreams.ActionLogEntry)
  /// Restore the values before a write of the database's history.
  case undoWrite(Int64)
  /// Carry out another request if places have the expected values; a request that adds something
  /// new is carried out in any case.
  case guarded(WriteRequest, [WriteCondition])
  /// Carry out another request that stands for refused writes, by their ids: with it they leave the replica's file;
  /// if they are required, it is carried out only if all of them are there.
  case taking([Int64], isRequired: Bool, WriteRequest)
}

extension WriteRequest {
  /// Makes the request that asks for a write again; nil if a screen cannot request such a write.
  init?(again write: Write) {
    switch write {
    case .set(let path, .null): self = .remove(path)
    case .set(let path, let json): self = .set(path, json)
    case .update(let path, let members): self = .update(path, members)
    case .copy, .move: return nil
    }
  }
}

extension WriteRequest {
  /// Whether it is an operation on a resource, under conditions or not.
  var isOperation: Bool {
    switch self {
    case .operation: true
    case .guarded(let request, _), .taking(_, _, let request): request.isOperation
    default: false
    }
  }

  /// The request without the refused writes for which it stands.
  var alone: WriteRequest { if case .taking(_, _, let request) = self { request } else { self } }
}

/// The reason why a write is not done, for the user.
package struct Refusal: Error, Hashable, Sendable {
  /// The error of one field of the record.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var message: String

    package init(name: String, message: String) { (self.name, self.message) = (name, message) }
  }

  /// The cause of the refusal.
  package enum Cause: String, Hashable, Sendable {
    /// The write is not allowed.
    case refused
    /// The value to be overwritten was changed meanwhile.
    case outdated
    /// The storage failed; a retry may succeed.
    case storage
    /// The file of the database is gone: nothing is written any more.
    case fileGone
    /// Another window has sent the refused write again, or dropped it.
    case dealtWith

    /// Whether the storage is to blame, and not what was written.
    var isOfStorage: Bool { self == .storage || self == .fileGone }
  }

  package var message: String
  /// The errors of fields, if the refusal is about fields.
  package var fields: [Field] = []
  package var cause = Cause.refused
  /// The places that others have changed meanwhile, as far as they are known.
  package var places: [Path] = []

  package init(_ message: String, fields: [Field] = []) {
    self.message = message
    self.fields = fields
  }

  package init(_ error: ResourceError) {
    self.init(
      error.message, fields: error.fields.map { Field(name: $0.field.text, message: $0.message) })
    if error.code == .cannotUndo { cause = .outdated }
  }

  /// Returns the error of a field of the record, or nil if there is none.
  package func message(of field: Path) -> String? {
    fields.first { $0.name == field.keys.first?.text }?.message
  }
}

// MARK: How a change is written

extension ResourceBook {
  /// Returns the request that puts a value at a place.
  func setting(_ value: JSONValue, at path: Path) throws(Refusal) -> WriteRequest {
    switch registry.place(of: path) {
    case .free: return .set(path, value)
    case .record(let identity, let field):
      if field.isRoot { return .operation(registry.operation(.create, on: identity, value: value)) }
      if let reason = reasonNotEdited(field, of: identity.resource) { throw Refusal(reason) }
      return .operation(updating(identity, [JSONMember(field.text, value)]))
    case .above(let resources): throw ResourceBook.isAbove(path, resources)
    case .copy(let resource): throw ResourceBook.isCopy(path, resource)
    case .log: throw Refusal("\(path) is the log of what was done: it is only written by that")
    }
  }

  /// Returns the request that removes the value at a place.
  ///
  /// Places above records, and entries of the log, are removed by a plain write; see
  /// `warning(onRemovalOf:)`.
  func removing(_ path: Path) throws(Refusal) -> WriteRequest {
    switch registry.place(of: path) {
    case .free, .above, .log: return .remove(path)
    case .record(let identity, let field):
      if field.isRoot { return .operation(registry.operation(.destroy, on: identity)) }
      if let reason = reasonNotEdited(field, of: identity.resource) { throw Refusal(reason) }
      return .operation(updating(identity, [JSONMember(field.text, .null)]))
    case .copy(let resource): throw ResourceBook.isCopy(path, resource)
    }
  }

  /// Returns the request that adds a record to a collection under a new key.
  func adding(_ value: JSONValue, to collection: Path) throws(Refusal) -> WriteRequest {
    if let (definition, names) = registry.resource(ofChildrenOf: collection) {
      return .operation(registry.creation(of: definition, names: names, value: value))
    }
    guard let child = try? collection.child(ResourceBook.anyKey) else {
      throw Refusal("\(collection) is too deep for another level")
    }
    switch registry.place(of: child) {
    case .free: return .push(collection, value)
    case .record(let identity, let field) where !field.isRoot:
      if let reason = reasonNotEdited(field, of: identity.resource) { throw Refusal(reason) }
      return .append(identity, field: Path(unchecked: Array(field.keys.dropLast())), value)
    case .record(let identity, _):
      throw Refusal(
        "records of `\(identity.resource)` get their keys from others: add it in the tree, by name")
    case .above(let resources): throw ResourceBook.isAbove(child, resources)
    case .copy(let resource): throw ResourceBook.isCopy(child, resource)
    case .log:
      throw Refusal("\(collection) is the log of what was done: it is only written by that")
    }
  }

  /// Returns an update of fields of a record; the names of the members are paths below it.
  func updating(_ identity: ResourceIdentity, _ members: [JSONMember]) -> ResourceOperation {
    registry.operation(.update, on: identity, value: .object(members))
  }

  /// Returns a warning to show before a place is removed, or nil if there is none.
  func warning(onRemovalOf path: Path) -> String? {
    switch registry.place(of: path) {
    case .above(let resources):
      return "\(ResourceBook.names(resources)) may stand below: counters will not follow"
    case .record(let identity, let field) where field.isRoot:
      let members = registry.cascades.filter { $0.owner == identity.resource }.map(\.member)
      return members.isEmpty ? nil : "\(ResourceBook.names(members)) that belong to it go too"
    case .record, .copy, .log, .free: return nil
    }
  }

  /// Returns whether a place is removed by an operation, which tells all that it removed.
  func isOperation(removalOf path: Path) -> Bool {
    if case .record = registry.place(of: path) { true } else { false }
  }

  /// Returns whether records of resources stand below a place.
  func isAboveRecords(_ path: Path) -> Bool {
    if case .above = registry.place(of: path) { true } else { false }
  }

  private static let anyKey = Key(unchecked: "new")

  private static func names(_ resources: [String]) -> String {
    "records of " + resources.map { "`\($0)`" }.joined(separator: ", ")
  }

  private static func isAbove(_ path: Path, _ resources: [String]) -> Refusal {
    Refusal("\(names(resources)) stand below \(path): add or change them one by one")
  }

  private static func isCopy(_ path: Path, _ resource: String) -> Refusal {
    Refusal("\(path) is a copy of a record of `\(resource)`: change that, and the copy follows")
  }
}

extension Path {
  /// The text of a relative path, in the form that operations take.
  package var text: String { keys.map(\.text).joined(separator: "/") }

  /// The text of a relative path for people to read: keys that were made of names with signs that no key
  /// may have are shown as these names.
  var shownText: String { keys.map { WritableKey.name(of: $0.text) }.joined(separator: "/") }

  /// The text of a path for people to read, which a path can be typed as too: keys that were made of names
  /// are shown as these, but a slash in a name as in the key.
  package var shownPath: String {
    "/"
      + keys.map { key in
        let name = WritableKey.name(of: key.text)
        return name.contains("/") ? key.text : name
      }.joined(separator: "/")
  }

  /// Reads a path as it is typed or shown: signs that no key may have stand for a key made of the name.
  ///
  /// - Throws: `DatabaseError` if it can be no path.
  init(typed text: String) throws {
    if let path = try? Path(text) {
      self = path
    } else {
      let names = Path.pieces(of: text).map { WritableKey.key(of: $0).text }
      self = try Path("/" + names.joined(separator: "/"))
    }
  }
}
