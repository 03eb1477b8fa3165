public import RunnelBase
public import RunnelTree

// Writing. Each function returns when the write is on disk and all observers of this database have
// been told; if it throws, nothing was changed. The receipt tells the answer of a replica's origin.
// `using` determines how Swift values are written, and `id` names a write that may be sent again
// (`WriteID`).

extension Reference {
  /// Replaces this node, with its priority and everything below it; null removes it.
  ///
  /// - Parameters:
  ///   - value: JSON; `.priority`, `.value` and server values in it have their special meaning.
  ///   - priority: the priority of the new node; a `.priority` in the value takes precedence.
  ///   - id: the name of the write; see `WriteID`.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DatabaseError` (`refused` with what is wrong and where, or a failure of the storage).
  @discardableResult
  public func setValue(
    _ value: JSONValue, priority: JSONValue? = nil, id: WriteID? = nil
  ) async throws -> WriteReceipt {
    let json = priority.map { value.withPriority($0) } ?? value
    return try await database.perform(.set(path, json), id: id)
  }

  /// Replaces this node by a Swift value; nil removes it.
  ///
  /// Properties that are nil are omitted.
  ///
  /// - Parameters:
  ///   - value: any value that can be encoded, which may hold `ServerValue`s.
  ///   - priority: the priority of the new node.
  ///   - id: the name of the write; see `WriteID`.
  ///   - encoder: the encoder, which knows how dates are stored.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @discardableResult
  nonisolated(nonsending) public func setValue(
    _ value: some Encodable, priority: JSONValue? = nil, id: WriteID? = nil,
    using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await setValue(try encoder.json(value, at: path), priority: priority, id: id)
  }

  /// Replaces the priority of this node, and keeps the rest; null removes the priority.
  ///
  /// An empty node stays empty.
  ///
  /// - Parameters:
  ///   - priority: a number, a string, null, or the JSON of a server value.
  ///   - id: the name of the write; see `WriteID`.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DatabaseError` (`refused` for another value, or a failure of the storage).
  @discardableResult
  public func setPriority(
    _ priority: JSONValue, id: WriteID? = nil
  ) async throws -> WriteReceipt {
    let member = JSONMember(ReservedName.priority, priority)
    return try await database.perform(.update(path, [member]), id: id)
  }

  /// Replaces the nodes at some places below in one write, and keeps everything else; null removes.
  ///
  /// - Parameters:
  ///   - values: the new values, by relative path: `name`, `ana/away`, `ana/.priority`.
  ///   - id: the name of the write; see `WriteID`.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DatabaseError` (`refused` if one path lies above another, or if a value is refused;
  ///   or a failure of the storage).
  @discardableResult
  public func updateChildValues(
    _ values: [String: JSONValue], id: WriteID? = nil
  ) async throws -> WriteReceipt {
    let members = values.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    return try await database.perform(.update(path, members), id: id)
  }

  /// Replaces the children that a Swift value has, in one write, and keeps the others.
  ///
  /// Properties that are nil are kept, too, because they are not written. A dictionary differs: a
  /// key with nil is written as null, and removes its child. With `NodeEncoder(nils: .null)`
  /// properties that are nil remove theirs as well.
  ///
  /// - Parameters:
  ///   - values: a value that is encoded with keys: a structure, or a dictionary by relative path.
  ///   - id: the name of the write; see `WriteID`.
  ///   - encoder: the encoder, which knows how dates are stored.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DataCodingError` if the value cannot be written or has no keys; `DatabaseError` as for
  ///   JSON.
  @discardableResult
  nonisolated(nonsending) public func updateChildValues<Values: Encodable>(
    _ values: Values, id: WriteID? = nil, using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    guard case .object(let members) = try encoder.json(values, at: path) else {
      throw DataCodingError(
        .notEncodable, path: path.description, type: Values.self,
        reason: "an update names the children to replace, and this value has no keys")
    }
    return try await database.perform(.update(path, members), id: id)
  }

  /// Removes this node, with everything below it; does nothing if the place is empty.
  ///
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DatabaseError` if the storage fails.
  @discardableResult
  public func removeValue(id: WriteID? = nil) async throws -> WriteReceipt {
    try await database.perform(.remove(path), id: id)
  }

  /// Adds a child under a new key, which sorts after those made before.
  ///
  /// A value that holds nothing is refused, since nothing would stand at the key; `childByAutoID()` makes
  /// a key alone.
  ///
  /// - Returns: the place of the child.
  /// - Throws: as `setValue`, and `DatabaseError` (`refused`) for a value that holds nothing.
  @discardableResult
  public func push(_ value: JSONValue, priority: JSONValue? = nil) async throws -> Reference {
    try value.checkIsSomething(toPushTo: path)
    let child = try childByAutoID()
    try await child.setValue(value, priority: priority)
    return child
  }

  /// Adds a Swift value as a child under a new key, which sorts after those made before.
  ///
  /// A value that holds nothing is refused, such as nil, or a structure whose properties are all nil;
  /// `childByAutoID()` makes a key alone.
  ///
  /// - Returns: the place of the child.
  /// - Throws: as `setValue`, and `DatabaseError` (`refused`) for a value that holds nothing.
  @discardableResult
  nonisolated(nonsending) public func push(
    _ value: some Encodable, priority: JSONValue? = nil, using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> Reference {
    let child = try childByAutoID()
    let json = try encoder.json(value, at: child.path)
    try json.checkIsSomething(toPushTo: path)
    try await child.setValue(json, priority: priority)
    return child
  }
}

extension JSONValue {
  /// Throws if nothing would be stored for the value under a new key of a place.
  func checkIsSomething(toPushTo place: Path) throws(DatabaseError) {
    if !holdsNothing { return }
    throw DatabaseError(
      .refused,
      "There is nothing to push to \(place): the value holds nothing, and the tree stores nothing empty. "
        + "`childByAutoID()` makes a key alone.")
  }

  /// True if the tree stores nothing for the value.
  private var holdsNothing: Bool {
    switch self {
    case .null: true
    case .bool, .number, .string: false
    case .array(let elements): elements.allSatisfy(\.holdsNothing)
    case .object(let members):
      members.allSatisfy { $0.name == ReservedName.priority || $0.value.holdsNothing }
    }
  }

  /// The same value with a priority, unless it has one of its own.
  func withPriority(_ priority: JSONValue) -> JSONValue {
    let member = JSONMember(ReservedName.priority, priority)
    switch self {
    case .null: return .null
    case .bool, .number, .string:
      return .object([JSONMember(ReservedName.value, self), member])
    case .array(let elements):
      return .object(
        elements.enumerated().map { JSONMember(String($0.offset), $0.element) } + [member])
    case .object(let members):
      return self[ReservedName.priority] == nil ? .object(members + [member]) : self
    }
  }
}
