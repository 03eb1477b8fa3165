import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelSync
import RunnelTree

/// The collections that are served, and the connections that are told their events.
struct ServiceAudience: Sendable {
  let collections: [ServedCollection]
  /// The callers by their connections.
  var callers: [Int64: Caller] = [:]

  init(_ collections: [ServedCollection] = []) { self.collections = collections }
}

/// A change of a record that an event tells.
struct ServiceChange: Sendable {
  var collection: ServedCollection
  var path: Path
  var key: Key
  var before: Node
  var after: Node
  /// True if all of the record was written.
  var isWhole: Bool

  var event: ServiceEvent {
    if before.isEmpty { return .created }
    if after.isEmpty { return .removed }
    return isWhole ? .updated : .patched
  }

  /// The event on the wire, as a message of Engine.IO.
  ///
  /// Source: services protocol, section 6.2.
  var message: [UInt8] {
    let node = after.isEmpty ? before : after
    let record = ServiceRecordCoding.record(
      key.text, node.json, idField: ServedCollection.idField)
    return message(event, record)
  }

  /// The event for those who may not read the record any more: for them it is removed, and only its
  /// id is told.
  var farewell: [UInt8] {
    let known = ServiceRecordCoding.record(
      key.text, before.json, idField: ServedCollection.idField)
    let id = known[ServedCollection.idField] ?? .string(key.text)
    return message(.removed, .object([JSONMember(ServedCollection.idField, id)]))
  }

  private func message(_ event: ServiceEvent, _ record: JSONValue) -> [UInt8] {
    let name = "\(collection.service) \(event.rawValue)"
    let packet = SocketPacket(.event, payload: [.string(name), record])
    return [UInt8(ascii: "4")] + packet.text
  }
}

/// The changes of a write, and who could read the records before it.
struct ServiceChanges {
  var list: [ServiceChange] = []
  var receivers: [Int: [Int64]] = [:]
  /// True if there are too many changes to tell: all who are connected read anew.
  var areTooMany = false
}

// Events: each goes to those who may read the record by the rules. Source: services protocol,
// sections 6.2 and 12.

extension ServedTree {
  /// The most records of which one write tells events.
  private static let changesMax = 1000
  /// The most decisions of the rules for the events of one write.
  private static let decisionsMax = 100_000
  /// A record of which nothing is known: one without fields.
  private static let unknownRecord = Node(
    children: [Child(key: Key(unchecked: "~"), node: Node(.string("o")))])

  /// Begins or ends telling a connection the events; nil ends it.
  mutating func attend(_ connection: Int64, as caller: Caller?) {
    services.callers[connection] = caller
  }

  /// The changes that a write will make to records.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  func serviceChanges(
    of parts: [Assignment], now: Int64, _ transaction: some ServedTransaction
  ) throws -> ServiceChanges {
    var changes = ServiceChanges()
    if services.callers.isEmpty { return changes }
    for collection in services.collections {
      guard let found = try self.changes(of: parts, in: collection, transaction) else {
        changes.areTooMany = true
        return changes
      }
      changes.list += found
    }
    let callerCount = Set(services.callers.values).count
    if changes.list.count > ServedTree.changesMax
      // Who may read is asked before the write and after it.
      || changes.list.count * callerCount > ServedTree.decisionsMax / 2
    {
      changes.areTooMany = true
      return changes
    }
    for (index, change) in changes.list.enumerated() where change.event != .created {
      changes.receivers[index] = try receivers(of: change.path, now, transaction)
    }
    return changes
  }

  /// The changes in a collection; nil if there are too many.
  private func changes(
    of parts: [Assignment], in collection: ServedCollection, _ transaction: some ServedTransaction
  ) throws -> [ServiceChange]? {
    let place = collection.place
    var written: [Key: [Assignment]] = [:]
    for part in parts {
      guard case .node(let node) = part.target else { continue }
      if let inner = place.relative(to: part.path) {
        return try replacement(of: collection, by: node[inner], transaction)
      }
      if place.contains(part.path) {
        written[part.path.keys[place.keys.count], default: []].append(part)
      }
    }
    if written.count > ServedTree.changesMax { return nil }
    var changes: [ServiceChange] = []
    for (key, parts) in written.sorted(by: { $0.key < $1.key }) {
      let path = try place.child(key)
      let before = try transaction.node(at: path)
      var after = before
      var isWhole = false
      for part in parts {
        guard case .node(let node) = part.target, let inner = part.path.relative(to: path) else {
          continue
        }
        isWhole = isWhole || inner.isRoot
        after = after.replacing(inner, with: node)
      }
      if before == after { continue }
      changes.append(
        ServiceChange(
          collection: collection, path: path, key: key, before: before, after: after,
          isWhole: isWhole))
    }
    return changes
  }

  /// The changes when all of a collection is replaced; nil if there are too many records.
  private func replacement(
    of collection: ServedCollection, by after: Node, _ transaction: some ServedTransaction
  ) throws -> [ServiceChange]? {
    var oldCount = 0
    if case .children(let count) = try transaction.summary(at: collection.place).kind {
      oldCount = count
    }
    if max(oldCount, after.children.count) > ServedTree.changesMax { return nil }
    let before = try transaction.node(at: collection.place)
    let keys = Set((before.children + after.children).map(\.key)).sorted()
    var changes: [ServiceChange] = []
    for key in keys where before[key] != after[key] {
      changes.append(
        ServiceChange(
          collection: collection, path: try collection.place.child(key), key: key,
          before: before[key], after: after[key], isWhole: true))
    }
    return changes
  }

  /// The connections whose callers may read a place now, in order.
  private func receivers(
    of path: Path, _ now: Int64, _ transaction: some ServedTransaction
  ) throws -> [Int64] {
    var verdicts: [Caller: Bool] = [:]
    var receivers: [Int64] = []
    for (connection, caller) in services.callers {
      let mayRead: Bool
      if let known = verdicts[caller] {
        mayRead = known
      } else {
        mayRead = try canRead(Query(path), caller, now: now, transaction)
        verdicts[caller] = mayRead
      }
      if mayRead { receivers.append(connection) }
    }
    return receivers.sorted()
  }

  /// The events of changes, after the write was done.
  func told(
    _ changes: ServiceChanges, now: Int64, _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    if changes.areTooMany {
      for receiver in services.callers.keys.sorted() {
        told.append((receiver, .serviceEventsMissed))
      }
      return told
    }
    for (index, change) in changes.list.enumerated() {
      let before = changes.receivers[index]
      let receivers =
        if change.event == .removed, let before {
          before
        } else {
          try self.receivers(of: change.path, now, transaction)
        }
      if !receivers.isEmpty {
        let message = change.message
        for receiver in receivers { told.append((receiver, .serviceEvent(message))) }
      }
      let lost = Set(before ?? []).subtracting(receivers).sorted()
      if !lost.isEmpty {
        let farewell = change.farewell
        for receiver in lost { told.append((receiver, .serviceEvent(farewell))) }
      }
    }
    return told
  }

  /// The events of places that another process wrote, whose previous contents are unknown: a record that
  /// is there counts as updated, and one that is gone has only its id.
  func serviceEvents(
    touched paths: [Path], now: Int64, _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    if services.callers.isEmpty { return [] }
    var changes = ServiceChanges()
    for collection in services.collections {
      var keys: Set<Key> = []
      for path in paths {
        if path.contains(collection.place) {
          changes.areTooMany = true
        } else if collection.place.contains(path) {
          keys.insert(path.keys[collection.place.keys.count])
        }
      }
      if keys.count > ServedTree.changesMax { changes.areTooMany = true }
      if changes.areTooMany { break }
      for key in keys.sorted() {
        let path = try collection.place.child(key)
        let node = try transaction.node(at: path)
        changes.list.append(
          ServiceChange(
            collection: collection, path: path, key: key, before: ServedTree.unknownRecord,
            after: node, isWhole: true))
      }
    }
    return try told(changes, now: now, transaction)
  }
}
