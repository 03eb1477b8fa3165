public import RunnelBase
import RunnelTree

// What the origin of a replica does when this client goes away: it is closed, or the connection is lost.
//
// Each of these returns once the request waits to be sent, and changes no data. The receipt tells when
// the origin has registered it; until then it is not done. It is done once, so that it is to be asked
// for anew after each connection. Later requests refine earlier ones. On a tree of its own all of them
// throw `refused`.
//
// Source: tree semantics, section 12.

extension Reference {
  /// Has what stands here replaced when this client goes away; null removes it.
  ///
  /// - Parameters:
  ///   - value: JSON, whose server values are resolved when it is done.
  ///   - priority: the priority of the new node; a `.priority` in the value goes before it.
  /// - Returns: tells when the origin has registered it, or refused to.
  /// - Throws: `DatabaseError` (`refused`) for what a write would refuse.
  @discardableResult
  public func onDisconnectSetValue(
    _ value: JSONValue, priority: JSONValue? = nil
  ) async throws -> WriteReceipt {
    let json = priority.map { value.withPriority($0) } ?? value
    return try await database.ask(.set(path, json))
  }

  /// Has what stands here replaced by a Swift value when this client goes away; nil removes it.
  ///
  /// - Returns: tells when the origin has registered it, or refused to.
  /// - Throws: `DataCodingError` with the place of what cannot be written; `DatabaseError` as for JSON.
  @discardableResult
  nonisolated(nonsending) public func onDisconnectSetValue(
    _ value: some Encodable, priority: JSONValue? = nil, using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await onDisconnectSetValue(try encoder.json(value, at: path), priority: priority)
  }

  /// Has what stands at some places below replaced when this client goes away; null removes.
  ///
  /// - Parameter values: what is to stand where, by relative path.
  /// - Returns: tells when the origin has registered it, or refused to.
  /// - Throws: `DatabaseError` (`refused`) for what an update would refuse.
  @discardableResult
  public func onDisconnectUpdateChildValues(
    _ values: [String: JSONValue]
  ) async throws -> WriteReceipt {
    let members = values.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    return try await database.ask(.update(path, members))
  }

  /// Has what stands here removed when this client goes away.
  ///
  /// - Returns: tells when the origin has registered it, or refused to.
  /// - Throws: `DatabaseError` (`refused`) on a tree of its own.
  @discardableResult
  public func onDisconnectRemoveValue() async throws -> WriteReceipt {
    try await database.ask(.set(path, .null))
  }

  /// Takes back what was asked for this place and those below it.
  ///
  /// What was asked for a place above is not done here; the rest of it is, child by child.
  ///
  /// - Returns: tells when the origin has taken it back.
  /// - Throws: `DatabaseError` (`refused`) on a tree of its own.
  @discardableResult
  public func cancelDisconnectOperations() async throws -> WriteReceipt {
    try await database.ask(.cancel(path))
  }
}
