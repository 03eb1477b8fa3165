public import RunnelBase
import RunnelTree

// Writes that are done when this client disconnects.
//
// On a tree of its own, a client disconnects when its database is closed or released, or its
// process ends in any way. The request is stored in the file. `close` carries it out; if the
// process ends without it, another process that has the file open for writing does so at once, or
// the next process that opens the file. All requests of a session are done as one write, with the
// session's author. A request stays until it is done or cancelled.
//
// On a replica, the origin does the writes when the connection is lost or closed. Each function
// returns when the request is ready to be sent. The receipt reports when the origin has registered
// it; until then it has no effect. The origin does it once, so it must be made again after each
// disconnection.
//
// Later requests refine earlier ones.
//
// Source: tree semantics, section 12.

extension Reference {
  /// Requests that this node be replaced when this client disconnects; null removes it.
  ///
  /// - Parameters:
  ///   - value: JSON; server values in it are resolved when the write is done.
  ///   - priority: the priority of the new node; a `.priority` in the value takes precedence.
  /// - Returns: the receipt, which on a replica reports that the origin has registered the request, or
  ///   refused it.
  /// - Throws: `DatabaseError` (`refused`) if such a write would be refused.
  @discardableResult
  public func onDisconnectSetValue(
    _ value: JSONValue, priority: JSONValue? = nil
  ) async throws -> WriteReceipt {
    let json = priority.map { value.withPriority($0) } ?? value
    return try await database.ask(.set(path, json))
  }

  /// Requests that this node be replaced by a Swift value when this client disconnects; nil removes
  /// it.
  ///
  /// - Returns: the receipt, which on a replica reports that the origin has registered the request, or
  ///   refused it.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @discardableResult
  nonisolated(nonsending) public func onDisconnectSetValue(
    _ value: some Encodable, priority: JSONValue? = nil, using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await onDisconnectSetValue(try encoder.json(value, at: path), priority: priority)
  }

  /// Requests that nodes below be replaced when this client disconnects; null removes a node.
  ///
  /// - Parameter values: the new values, by relative path.
  /// - Returns: the receipt, which on a replica reports that the origin has registered the request, or
  ///   refused it.
  /// - Throws: `DatabaseError` (`refused`) if such an update would be refused.
  @discardableResult
  public func onDisconnectUpdateChildValues(
    _ values: [String: JSONValue]
  ) async throws -> WriteReceipt {
    let members = values.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    return try await database.ask(.update(path, members))
  }

  /// Requests that this node be removed when this client disconnects.
  ///
  /// - Returns: the receipt, which on a replica reports that the origin has registered the request, or
  ///   refused it.
  /// - Throws: `DatabaseError` if the request cannot be stored.
  @discardableResult
  public func onDisconnectRemoveValue() async throws -> WriteReceipt {
    try await database.ask(.set(path, .null))
  }

  /// Cancels the requests for this place and those below it.
  ///
  /// A request for a place above no longer applies here; the rest of it does, child by child.
  ///
  /// - Returns: the receipt, which on a replica reports that the origin has cancelled them.
  /// - Throws: `DatabaseError` if the request cannot be stored.
  @discardableResult
  public func cancelDisconnectOperations() async throws -> WriteReceipt {
    try await database.ask(.cancel(path))
  }
}
