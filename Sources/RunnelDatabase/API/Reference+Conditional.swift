public import RunnelBase
public import RunnelTree

// Writes that are carried out only if a place is unchanged since it was read, and writes that
// merge.

extension Database {
  /// Carries out a write, if conditions hold.
  ///
  /// No process can write between the check and the write. On a replica the conditions are compared
  /// with what it shows, and the origin compares them again when the write comes to it, which may be
  /// after a restart. An origin compares one place, with its priorities: one condition must be at a
  /// place that holds the others, and all that the write changes.
  ///
  /// - Returns: the receipt, which on a replica tells the origin's answer: `changed` if others changed
  ///   the place before the write came to the origin.
  /// - Throws: `DatabaseError` (`changed` if a condition does not hold, on a replica `refused` if its
  ///   origin cannot check them); then nothing was written.
  @discardableResult
  public func perform(
    _ write: Write, if conditions: [WriteCondition]
  ) async throws -> WriteReceipt {
    try await self.write { (true, try $0.write(write, if: conditions, needsOrigin: true)) }
  }

  /// Carries out a write, if conditions hold; of those that the origin of a replica cannot check as one place, it
  /// compares what the write replaces, as far as it can.
  @discardableResult
  package func perform(
    _ write: Write, ifHere conditions: [WriteCondition]
  ) async throws -> WriteReceipt {
    try await self.write { (true, try $0.write(write, if: conditions)) }
  }
}

extension Reference {
  /// Replaces this node, unless the read place has changed; null removes it.
  ///
  /// - Parameters:
  ///   - value: JSON; `.priority`, `.value` and server values in it have their special meaning.
  ///   - snapshot: the state that was read, here or at another place of this database, on a replica
  ///     here or above; priorities are compared too. It must be of the whole place: that of a query with
  ///     bounds, a limit or a filter is refused, those of its children are not.
  /// - Returns: the receipt, which tells the answer of a replica's origin: `changed` if others changed
  ///   the place before the write came to it.
  /// - Throws: `DatabaseError` (`changed` if it is not as it was read, `refused` if it was read in another
  ///   database, or is a part of its place; otherwise as without the condition); then nothing was written.
  @discardableResult
  public func setValue(
    _ value: JSONValue, ifUnchangedSince snapshot: DataSnapshot
  ) async throws -> WriteReceipt {
    try await database.perform(.set(path, value), if: [try condition(snapshot)])
  }

  /// Replaces this node by a Swift value, unless the read place has changed; nil removes it.
  ///
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @discardableResult
  nonisolated(nonsending) public func setValue(
    _ value: some Encodable, ifUnchangedSince snapshot: DataSnapshot,
    using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await setValue(try encoder.json(value, at: path), ifUnchangedSince: snapshot)
  }

  /// Replaces the nodes at some places below in one write, unless the read place has changed.
  ///
  /// - Returns: the receipt, which tells the answer of a replica's origin, as of `setValue`.
  /// - Throws: `DatabaseError` (`changed` if it is not as it was read, `refused` if it was read in another
  ///   database, or is a part of its place; otherwise as without the condition); then nothing was written.
  @discardableResult
  public func updateChildValues(
    _ values: [String: JSONValue], ifUnchangedSince snapshot: DataSnapshot
  ) async throws -> WriteReceipt {
    let members = values.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    return try await database.perform(.update(path, members), if: [try condition(snapshot)])
  }

  /// Removes this node, unless the read place has changed.
  ///
  /// - Returns: the receipt, which tells the answer of a replica's origin, as of `setValue`.
  /// - Throws: `DatabaseError` (`changed` if it is not as it was read, `refused` if it was read in another
  ///   database, or is a part of its place, or a failure of the storage).
  @discardableResult
  public func removeValue(ifUnchangedSince snapshot: DataSnapshot) async throws -> WriteReceipt {
    try await database.perform(.remove(path), if: [try condition(snapshot)])
  }

  /// Merges an object into this node, down to the leaves, in one write.
  ///
  /// Members that the object does not name stay, null removes, an empty object changes nothing, and
  /// a leaf, an array or a server value replaces the node at its place. A priority counts as a
  /// member.
  ///
  /// - Parameter value: the object; any other value replaces the node.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DatabaseError` (`refused` with what is wrong and where, or a failure of the storage);
  ///   then nothing was written.
  @discardableResult
  public func mergeValue(_ value: JSONValue) async throws -> WriteReceipt {
    guard case .object(let members) = value, !value.isOneNode else {
      return try await setValue(value)
    }
    var assignments: [JSONMember] = []
    for member in members { member.addLeaves(below: "", depth: 1, to: &assignments) }
    return try await database.perform(.update(path, assignments))
  }

  /// Merges a Swift value into this node, down to the leaves, in one write; see the same for JSON.
  ///
  /// Properties that are nil are kept.
  ///
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DataCodingError` with the place of the part that cannot be written; `DatabaseError`
  ///   as for JSON.
  @discardableResult
  nonisolated(nonsending) public func mergeValue(
    _ value: some Encodable, using encoder: NodeEncoder = NodeEncoder()
  ) async throws -> WriteReceipt {
    try await mergeValue(try encoder.json(value, at: path))
  }
}

extension Reference {
  /// The condition that the place of a snapshot is still as it was read.
  ///
  /// - Throws: `DatabaseError` (`refused`) if the snapshot is of another database, whose values say
  ///   nothing about this one, or only a part of its place.
  private func condition(_ snapshot: DataSnapshot) throws(DatabaseError) -> WriteCondition {
    let place = snapshot.reference
    guard place.database.isSame(as: database) else {
      throw DatabaseError(
        .refused,
        "The snapshot of \(place) was read in \(place.database.file), and this is a write to "
          + "\(database.file): read the value that it depends on in the database that is written.")
    }
    guard snapshot.isWhole else {
      throw DatabaseError(
        .refused,
        "The snapshot of \(place) has only those children that its query chose, so it does not tell what "
          + "the others were: read \(place) without bounds, limit and filter, or take the snapshot of a "
          + "child. Nothing was written.")
    }
    return .node(snapshot.node, at: place.path)
  }
}

extension Database {
  /// True if both are one database: what is opened twice is.
  nonisolated func isSame(as other: Database) -> Bool { self === other || file == other.file }
}

extension JSONValue {
  /// True for an object that stands for one node, such as a server value or a leaf with a priority.
  fileprivate var isOneNode: Bool {
    guard case .object(let members) = self else { return false }
    return members.contains { $0.name.hasPrefix(".") && $0.name != ReservedName.priority }
  }
}

extension JSONMember {
  /// Adds an assignment for each leaf of the member.
  ///
  /// A value that is deeper than a tree can be stays whole, and the write is refused.
  fileprivate func addLeaves(below prefix: String, depth: Int, to assignments: inout [JSONMember]) {
    let path = prefix + name
    guard case .object(let members) = value, !value.isOneNode, depth <= TreeLimits.depthMax else {
      return assignments.append(JSONMember(path, value))
    }
    for member in members {
      member.addLeaves(below: path + "/", depth: depth + 1, to: &assignments)
    }
  }
}
