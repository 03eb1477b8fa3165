public import RunnelBase
public import RunnelDatabase
public import RunnelServices
import RunnelTree

/// A service whose records are the children of a place in a tree.
///
/// A record is stored with the members of its fields; `ServiceRecordCoding` says how what a tree does not
/// hold is written. The key is the id as text. A record that others wrote, such as the workspace,
/// needs no field for its id: then the key is the id.
///
/// A call is one write: also one that concerns several records changes all of them or none. It is
/// made only if the records are as they were read, and is tried again if they are not.
///
/// Records that are asked for by their ids are read by their keys.
///
/// Limit: all else that concerns several records reads all children of the place.
public struct TreeService: FeathersService {
  private static let attemptsMax = 5

  private let place: Reference
  private let idField: String
  private let rules: QueryRules
  private let multi: MemoryService.Multi

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - place: the place whose children are the records.
  ///   - idField: the name of the id.
  ///   - multi: which methods may concern several records.
  ///   - rules: what is understood of queries, and how large pages are.
  public init(
    _ place: Reference, idField: String = "id", multi: MemoryService.Multi = [],
    rules: QueryRules = QueryRules()
  ) {
    (self.place, self.idField, self.multi, self.rules) = (place, idField, multi, rules)
  }

  // MARK: Reading

  /// Finds the records that match the query.
  public func find(_ params: ServiceParams) async throws -> JSONValue {
    let reading = try reading(params)
    let isPaged = rules.pages != nil && !params.isUnpaged
    return try reading.answer(
      over: try await children(reading).map(\.record), idField: idField, isPaged: isPaged)
  }

  /// Gets the record, if it matches the query.
  public func get(_ id: ServiceID, _ params: ServiceParams) async throws -> JSONValue {
    let reading = try reading(params)
    return reading.selected(try await child(id, reading).record, idField: idField)
  }

  private func reading(_ params: ServiceParams) throws(FeathersError) -> QueryReading {
    var rules = rules
    if params.isUnpaged { rules.pages = nil }
    return try QueryReading(params.query, rules: rules)
  }

  /// A record, and what is stored of it.
  private struct Child {
    var key: String
    var stored: JSONValue
    var record: JSONValue
  }

  /// The children among which are all that match.
  private func children(_ reading: QueryReading) async throws -> [Child] {
    if let named = try await namedChildren(reading) { return named }
    let snapshot = try await TreeService.named { try await place.get() }
    return snapshot.children.compactMap { child in
      child.key.map { self.child($0, child.value) }
    }
  }

  /// The most ids that are looked up one by one.
  private static let idsMax = 100

  /// The children with the ids that a query names; nil if it names none, or if one of them is no key of a
  /// record with this id: then it may be a field of another record.
  private func namedChildren(_ reading: QueryReading) async throws -> [Child]? {
    guard let values = reading.condition.values(ofOneOf: [idField])?.values,
      values.count <= TreeService.idsMax
    else { return nil }
    let ids = Set(values.compactMap { ServiceID(json: $0) })
    guard values.allSatisfy({ ServiceID(json: $0)?.text.isEmpty == false }) else { return nil }
    var found: [Child] = []
    let keys = ids.compactMap { id in
      (try? Key(ServiceRecordCoding.key(for: id.text))).map { (key: $0, id: id) }
    }
    guard keys.count == ids.count else { return nil }
    for (key, id) in keys.sorted(by: { $0.key < $1.key }).map({ ($0.key.text, $0.id) }) {
      let reference = try place.child(key)
      let snapshot = try await TreeService.named { try await reference.get() }
      guard snapshot.exists else { return nil }
      let child = child(key, snapshot.value)
      guard child.record[idField].flatMap({ ServiceID(json: $0) }) == id else { return nil }
      found.append(child)
    }
    return found
  }

  private func child(_ key: String, _ stored: JSONValue) -> Child {
    let record = ServiceRecordCoding.record(key, stored, idField: idField)
    return Child(key: key, stored: stored, record: record)
  }

  /// Returns the record with an id.
  ///
  /// - Throws: `NotFound` if there is none that matches.
  private func child(_ id: ServiceID, _ reading: QueryReading) async throws -> Child {
    let missing = FeathersError(.notFound, "No record found for id '\(id)'")
    if id.text.isEmpty { throw missing }
    let key = try ServiceRecordCoding.key(for: id.text)
    let reference = try place.child(key)
    let snapshot = try await TreeService.named { try await reference.get() }
    guard snapshot.exists else { throw missing }
    let child = child(key, snapshot.value)
    guard try reading.matches(child.record) else { throw missing }
    return child
  }

  // MARK: Creating

  /// Creates a record, or several.
  public func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
    let reading = try reading(params)
    if case .array(let records) = data {
      guard multi.contains(.create) else { throw refusal(.create) }
      let made = try await add(records)
      return .array(made.map { reading.selected($0, idField: idField) })
    }
    let made = try await add([data])
    return reading.selected(made[0], idField: idField)
  }

  private func add(_ records: [JSONValue]) async throws -> [JSONValue] {
    var made: [JSONValue] = []
    var change = Change()
    for data in records {
      try TreeService.checkObject(data)
      let id = try data[idField].flatMap { ServiceID(json: $0) } ?? newID()
      if id.text.isEmpty { throw FeathersError(.badRequest, "The id of a record is not empty.") }
      let record = data.setting(idField, to: id.json)
      let key = try ServiceRecordCoding.key(for: id.text)
      if change.expected[key] != nil {
        throw FeathersError(.conflict, "Two records have the id '\(id)'.")
      }
      change.expected[key] = .null
      change.values[key] = try stored(record, key)
      made.append(record)
    }
    if try await write(change) { return made }
    throw FeathersError(.conflict, "There is a record with this id already.")
  }

  private func newID() throws -> ServiceID {
    ServiceID(try place.childByAutoID().key ?? "")
  }

  private func stored(_ record: JSONValue, _ key: String) throws(FeathersError) -> JSONValue {
    try ServiceRecordCoding.stored(record, key: key, idField: idField)
  }

  // MARK: Changing and removing

  /// Replaces a record; its id stays.
  public func update(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws -> JSONValue {
    guard let id else {
      throw FeathersError(
        .badRequest, "You can not replace multiple instances. Did you mean 'patch'?")
    }
    try TreeService.checkObject(data)
    return try await change(id, .update, params) { child in
      data.setting(idField, to: child.record[idField] ?? id.json)
    }
  }

  /// Changes fields of a record, or of all that match the query.
  public func patch(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws -> JSONValue {
    try TreeService.checkObject(data)
    return try await change(id, .patch, params) { child in
      (data.object ?? []).reduce(child.record) { record, member in
        member.name == idField ? record : record.setting(member.name, to: member.value)
      }
    }
  }

  /// Removes a record, or all that match the query.
  public func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue {
    try await change(id, .remove, params) { _ in JSONValue?.none }
  }

  /// Reads records, and writes what the function makes of each; nil removes it.
  private func change(
    _ id: ServiceID?, _ method: ServiceMethod, _ params: ServiceParams,
    _ make: (Child) -> JSONValue?
  ) async throws -> JSONValue {
    let reading = try reading(params)
    if id == nil, !multi.contains(method == .patch ? .patch : .remove) { throw refusal(method) }
    if id == nil { try QueryReading.checkChange(params.query) }
    for _ in 0..<TreeService.attemptsMax {
      var children: [Child] = []
      if let id {
        children = [try await child(id, reading)]
      } else {
        for child in try await self.children(reading) where try reading.matches(child.record) {
          children.append(child)
        }
      }
      var change = Change()
      var results: [JSONValue] = []
      for child in children {
        let made = make(child)
        change.expected[child.key] = child.stored
        change.values[child.key] = try made.map { try stored($0, child.key) } ?? .null
        results.append(reading.selected(made ?? child.record, idField: idField))
      }
      if try await write(change) { return id == nil ? .array(results) : results[0] }
    }
    throw FeathersError(.conflict, "Others change the records all the time: try again.")
  }

  private func refusal(_ method: ServiceMethod) -> FeathersError {
    FeathersError(.methodNotAllowed, "Can not \(method.name) multiple entries")
  }

  private static func checkObject(_ data: JSONValue) throws(FeathersError) {
    guard case .object = data else {
      throw FeathersError(.badRequest, "The data of a record has to be an object.")
    }
  }

  // MARK: Writing

  /// What children become, and what they have to be before that.
  private struct Change {
    var expected: [String: JSONValue] = [:]
    var values: [String: JSONValue] = [:]
  }

  /// Makes a change at once; returns false if the children are not what they have to be.
  private func write(_ change: Change) async throws -> Bool {
    if change.values.isEmpty { return true }
    let members = change.values.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    let conditions = try change.expected.sorted { $0.key < $1.key }.map {
      WriteCondition(try place.child($0.key).path, $0.value)
    }
    do {
      try await place.database.perform(.update(place.path, members), ifHere: conditions)
      return true
    } catch let error as DatabaseError where error.code == .changed {
      return false
    } catch {
      throw TreeService.error(error)
    }
  }

  /// Returns what the tree answers, with errors as those of services.
  private static func named<Value>(
    _ work: () async throws -> Value
  ) async throws(FeathersError) -> Value {
    do { return try await work() } catch { throw TreeService.error(error) }
  }

  private static func error(_ error: any Error) -> FeathersError {
    guard let error = error as? DatabaseError else { return FeathersError.from(error) }
    switch error.code {
    case .refused: return FeathersError(.badRequest, error.message)
    case .locked, .closed: return FeathersError(.unavailable, error.message)
    case .readOnly: return FeathersError(.methodNotAllowed, error.message)
    default: return FeathersError(.generalError, error.message)
    }
  }
}
