import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelSync
import RunnelTree

// Calls of services, each within one transaction. Source: services protocol, sections 2 and 12.

extension ServedTree {
  /// Carries out a call of a service.
  ///
  /// The rules decide as for other requests. A call whose answer shows a record, or tells whether there is
  /// one, needs the right to read it.
  ///
  /// - Returns: the messages to connections, in order.
  /// - Throws: errors that make the batch fail.
  mutating func perform(
    _ task: ServiceTask, of connection: Int64, now: Int64, _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    let result: Result<JSONValue, FeathersError>
    do {
      result = .success(try answer(to: task, now, transaction, &told))
    } catch let error as FeathersError {
      result = .failure(error)
    } catch let error as TreeError where error.code != .storage {
      result = .failure(FeathersError(error, for: task.caller))
    } catch let refused as Refused {
      result = .failure(FeathersError(try refused.refusal(), for: task.caller))
    }
    told.append((connection, .served(task.number, result)))
    return told
  }

  private mutating func answer(
    to task: ServiceTask, _ now: Int64, _ transaction: some ServedTransaction,
    _ told: inout TreeTold
  ) throws -> JSONValue {
    let reading = try task.call.reading(task.rules)
    switch task.call.method {
    case .find: return try find(task, reading, now, transaction)
    case .get:
      guard let id = task.call.id else {
        throw FeathersError(.badRequest, "id for 'get' can not be undefined")
      }
      let found = try record(id, task, reading, now, transaction)
      return shown(found.record, reading)
    case .create: return try create(task, reading, now, transaction, &told)
    case .update, .patch, .remove: return try change(task, reading, now, transaction, &told)
    case .custom(let name):
      throw FeathersError(
        .methodNotAllowed,
        "Method '\(name)' not allowed on service '\(task.collection.service)'")
    }
  }

  func shown(_ record: JSONValue, _ reading: QueryReading) -> JSONValue {
    reading.selected(record, idField: ServedCollection.idField)
  }

  // MARK: Reading

  private func path(
    _ id: ServiceID, _ task: ServiceTask
  ) throws -> Path {
    try task.collection.place.child(try Key(ServiceRecordCoding.key(for: id.text)))
  }

  /// The record with an id.
  ///
  /// - Throws: `NotFound` if there is none that matches.
  private func record(
    _ id: ServiceID, _ task: ServiceTask, _ reading: QueryReading, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws -> StoredRecord {
    let missing = FeathersError(.notFound, "No record found for id '\(id)'")
    if id.text.isEmpty { throw missing }
    let path = try self.path(id, task)
    try checkRead(Query(path), task.caller, now: now, transaction)
    try checkServiceSize(path, transaction)
    let node = try transaction.node(at: path)
    guard !node.isEmpty, let key = path.lastKey else { throw missing }
    let found = StoredRecord(key, node)
    var reading = reading
    if task.call.isTextual {
      var kinds = FieldKinds(for: reading.condition)
      kinds.note(found.record)
      reading.condition = kinds.typed(reading.condition)
    }
    guard try reading.matches(found.record) else { throw missing }
    return found
  }

  // MARK: Creating

  private mutating func create(
    _ task: ServiceTask, _ reading: QueryReading, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws -> JSONValue {
    guard case .array(let list) = task.call.data else {
      let made = try add([task.call.data], task, now, transaction, &told)
      return shown(made[0], reading)
    }
    guard task.collection.allowsMulti else { throw refusal(of: task) }
    let made = try add(list, task, now, transaction, &told)
    return .array(made.map { shown($0, reading) })
  }

  private func refusal(of task: ServiceTask) -> FeathersError {
    FeathersError(.methodNotAllowed, "Can not \(task.call.method) multiple entries")
  }

  private static func checkObject(_ data: JSONValue) throws(FeathersError) {
    guard case .object = data else {
      throw FeathersError(.badRequest, "The data of a record has to be an object.")
    }
  }

  /// Adds records in one write, and returns them.
  private mutating func add(
    _ list: [JSONValue], _ task: ServiceTask, _ now: Int64, _ transaction: some ServedTransaction,
    _ told: inout TreeTold
  ) throws -> [JSONValue] {
    let place = task.collection.place
    var made: [JSONValue] = []
    var members: [JSONMember] = []
    var taken: Set<Key> = []
    var last: Key?
    for data in list {
      try ServedTree.checkObject(data)
      let id: ServiceID
      if let given = data[ServedCollection.idField].flatMap({ ServiceID(json: $0) }) {
        id = given
      } else if data[ServedCollection.idField]?.isNull == false {
        throw FeathersError(.badRequest, "The id of a record is a text or a number.")
      } else {
        let next = try transaction.pushID(nextPushID(now: now), in: place)
        // Keys that follow one in the tree follow those of this call, too.
        let key =
          last.map { next < $0 || next == $0 ? PushIDGenerator.following($0) : next } ?? next
        last = key
        id = ServiceID(key.text)
      }
      if id.text.isEmpty { throw FeathersError(.badRequest, "The id of a record is not empty.") }
      let key = try Key(ServiceRecordCoding.key(for: id.text))
      guard taken.insert(key).inserted else {
        throw FeathersError(.conflict, "Two records have the id '\(id)'.")
      }
      let record = data.setting(ServedCollection.idField, to: id.json)
      made.append(record)
      members.append(
        JSONMember(
          key.text,
          try ServiceRecordCoding.stored(
            record, key: key.text, idField: ServedCollection.idField)))
    }
    guard let first = members.first else { return made }
    let write: Write =
      if case .array = task.call.data {
        .update(place, members)
      } else {
        .set(try place.child(Key(first.name)), first.value)
      }
    for key in taken where try transaction.summary(at: place.child(key)).kind != .empty {
      // Who may not write is not told what there is.
      _ = try checked(write, task.caller, now, transaction)
      throw FeathersError(.conflict, "There is a record with this id already.")
    }
    _ = try performOnce(write, nil, task.caller, now, transaction, &told)
    return made
  }

  // MARK: Changing and removing

  private mutating func change(
    _ task: ServiceTask, _ reading: QueryReading, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws -> JSONValue {
    let method = task.call.method
    if method != .remove { try ServedTree.checkObject(task.call.data) }
    if let id = task.call.id {
      let found = try record(id, task, reading, now, transaction)
      let (result, members) = try changed(found, task)
      let path = try task.collection.place.child(found.key)
      let write: Write? =
        switch members {
        case .whole(let value): Write.set(path, value)
        case .fields(let fields): fields.isEmpty ? nil : Write.update(path, fields)
        }
      if let write { _ = try performOnce(write, nil, task.caller, now, transaction, &told) }
      return shown(result, reading)
    }
    if method == .update {
      throw FeathersError(
        .badRequest, "You can not replace multiple instances. Did you mean 'patch'?")
    }
    guard task.collection.allowsMulti else { throw refusal(of: task) }
    try QueryReading.checkChange(task.call.query)
    try checkRead(Query(task.collection.place), task.caller, now: now, transaction)
    var records: [StoredRecord] = []
    try forEachMatch(task, reading, transaction) { records.append($0) }
    var members: [JSONMember] = []
    var results: [JSONValue] = []
    for record in records {
      let (result, change) = try changed(record, task)
      switch change {
      case .whole(let value): members.append(JSONMember(record.key.text, value))
      case .fields(let fields):
        members += fields.map { JSONMember("\(record.key.text)/\($0.name)", $0.value) }
      }
      results.append(shown(result, reading))
    }
    if !members.isEmpty {
      let write = Write.update(task.collection.place, members)
      _ = try performOnce(write, nil, task.caller, now, transaction, &told)
    }
    return .array(results)
  }

  /// What is written of a changed record.
  private enum RecordWrite {
    /// All of it; null removes it.
    case whole(JSONValue)
    /// These fields.
    case fields([JSONMember])
  }

  /// The record that the caller is shown, and what is written.
  private func changed(
    _ old: StoredRecord, _ task: ServiceTask
  ) throws -> (JSONValue, RecordWrite) {
    let idField = ServedCollection.idField
    switch task.call.method {
    case .remove: return (old.record, .whole(.null))
    case .update:
      let record = task.call.data.setting(idField, to: old.record[idField] ?? .null)
      let stored = try ServiceRecordCoding.stored(record, key: old.key.text, idField: idField)
      return (record, .whole(stored))
    default:
      var record = old.record
      for member in task.call.data.object ?? [] where !member.name.hasSameBytes(as: idField) {
        record = record.setting(member.name, to: member.value)
      }
      let stored = try ServiceRecordCoding.stored(record, key: old.key.text, idField: idField)
      return (record, ServedTree.difference(from: old.stored, to: stored))
    }
  }

  /// The fields in which a record differs from what is stored; all of it if that is no record.
  private static func difference(from old: JSONValue, to new: JSONValue) -> RecordWrite {
    guard let before = old.object, let after = new.object else { return .whole(new) }
    let changed = after.filter { old[$0.name] != $0.value }
    let gone = before.filter { new[$0.name] == nil }.map { JSONMember($0.name, .null) }
    return .fields(changed + gone)
  }

  // MARK: Checks

  /// - Throws: `TreeError` (`tooBig`) if a record is too large for services, which read it on the thread of
  ///   the tree.
  private func checkServiceSize(
    _ path: Path, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    let most = allowance.limits.serviceReadBytesMax
    // The content of a smaller file is no larger.
    if transaction.storedBytes <= most { return }
    var export = TreeExport(Query(path), form: .export)
    var count = 0
    while let piece = try export.next(from: transaction) {
      count += piece.count
      if count <= most { continue }
      allowance.reached(.serviceRead)
      throw TreeError(
        .tooBig,
        "The record has more than \(most) bytes, which is the most that a service reads.",
        path: path.description)
    }
  }
}
