public import RunnelBase
public import RunnelTree

// Writing members of several types, such as those of a literal with variables and server values in
// it: `["name": name, "seen": ServerValue.timestamp]`. The compiler takes these functions only if
// no other fits.

extension Reference {
  /// Replaces this node by an object whose members are of several types.
  ///
  /// - Parameters:
  ///   - members: the members; a nil is not stored.
  ///   - priority: the priority of the new node.
  ///   - id: the name of the write; see `WriteID`.
  ///   - encoder: the encoder, which knows how dates are stored.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @_disfavoredOverload
  @discardableResult
  nonisolated(nonsending) public func setValue(
    _ members: [String: (any Encodable)?], priority: JSONValue? = nil, id: WriteID? = nil,
    using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await setValue(MixedMembers(members), priority: priority, id: id, using: encoder)
  }

  /// Replaces the nodes at some places below, which are of several types, in one write, and keeps
  /// everything else; nil removes.
  ///
  /// - Parameters:
  ///   - values: the new values, by relative path.
  ///   - id: the name of the write; see `WriteID`.
  ///   - encoder: the encoder, which knows how dates are stored.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @_disfavoredOverload
  @discardableResult
  nonisolated(nonsending) public func updateChildValues(
    _ values: [String: (any Encodable)?], id: WriteID? = nil,
    using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await updateChildValues(MixedMembers(values), id: id, using: encoder)
  }

  /// Adds a child, whose members are of several types, under a new key, which sorts after those made
  /// before.
  ///
  /// - Returns: the place of the child.
  /// - Throws: as `setValue`, and `DatabaseError` (`refused`) if all members are nil or hold nothing.
  @_disfavoredOverload
  @discardableResult
  nonisolated(nonsending) public func push(
    _ members: [String: (any Encodable)?], priority: JSONValue? = nil,
    using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> Reference {
    try await push(MixedMembers(members), priority: priority, using: encoder)
  }

  /// Requests that nodes below, which are of several types, be replaced when this client
  /// disconnects; nil removes a node.
  ///
  /// - Parameters:
  ///   - values: the new values, by relative path.
  ///   - encoder: the encoder, which knows how dates are stored.
  /// - Returns: the receipt, which on a replica reports that the origin has registered the request,
  ///   or refused it.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @_disfavoredOverload
  @discardableResult
  nonisolated(nonsending) public func onDisconnectUpdateChildValues(
    _ values: [String: (any Encodable)?], using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    guard case .object(let members) = try encoder.json(MixedMembers(values), at: path) else {
      return try await onDisconnectUpdateChildValues([String: JSONValue]())
    }
    return try await database.ask(.update(path, members))
  }
}
