public import RunnelBase
import Synchronization

/// A service that keeps its records in memory, and behaves as that of Feathers does.
public final class MemoryService: FeathersService {
  /// Which methods may concern several records at once.
  public struct Multi: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int
    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// An array may be created.
    public static let create = Multi(rawValue: 1)
    /// Records may be changed by a query.
    public static let patch = Multi(rawValue: 2)
    /// Records may be removed by a query.
    public static let remove = Multi(rawValue: 4)
    /// All of them.
    public static let all: Multi = [.create, .patch, .remove]
  }

  /// The records in the order in which they were made.
  private struct Table {
    private(set) var records: [JSONValue?] = []
    private var places: [ServiceID: Int] = [:]
    var nextID: Int64 = 0

    var all: [JSONValue] { records.compactMap { $0 } }

    subscript(id: ServiceID) -> JSONValue? {
      get { places[id].flatMap { records[$0] } }
      set {
        switch (places[id], newValue) {
        case (let place?, let record?): records[place] = record
        case (let place?, nil):
          records[place] = JSONValue?.none
          places[id] = nil
          compact()
        case (nil, let record?):
          places[id] = records.count
          records.append(record)
        case (nil, nil): break
        }
      }
    }

    /// Closes the gaps once they are half of all.
    private mutating func compact() {
      guard records.count > 32, places.count * 2 < records.count else { return }
      let order = places.sorted { $0.value < $1.value }
      records = order.map { records[$0.value] }
      for (place, entry) in order.enumerated() { places[entry.key] = place }
    }
  }

  private let idField: String
  private let rules: QueryRules
  private let multi: Multi
  private let table: Mutex<Table>

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - records: the first records; one without an id gets the next number.
  ///   - idField: the name of the id.
  ///   - multi: which methods may concern several records.
  ///   - rules: what is understood of queries, and how large pages are.
  public init(
    _ records: [JSONValue] = [], idField: String = "id", multi: Multi = [],
    rules: QueryRules = QueryRules()
  ) {
    (self.idField, self.multi, self.rules) = (idField, multi, rules)
    table = Mutex(Table())
    for record in records { _ = table.withLock { add(record, &$0) } }
  }

  private func add(_ record: JSONValue, _ table: inout Table) -> JSONValue {
    if let id = record[idField].flatMap({ ServiceID(json: $0) }) {
      table[id] = record
      return record
    }
    while table[ServiceID(table.nextID)] != nil { table.nextID += 1 }
    let id = ServiceID(table.nextID)
    table.nextID += 1
    let made = record.setting(idField, to: id.json)
    table[id] = made
    return made
  }

  private func reading(_ params: ServiceParams) throws(FeathersError) -> QueryReading {
    var rules = rules
    if params.isUnpaged { rules.pages = nil }
    return try QueryReading(params.query, rules: rules)
  }

  private func refuseMulti(_ method: ServiceMethod) -> FeathersError {
    FeathersError(.methodNotAllowed, "Can not \(method.name) multiple entries")
  }

  /// Finds the records that match the query.
  public func find(_ params: ServiceParams) async throws -> JSONValue {
    let isPaged = rules.pages != nil && !params.isUnpaged
    return try reading(params).answer(
      over: table.withLock(\.all), idField: idField, isPaged: isPaged)
  }

  /// Gets the record, if it matches the query.
  public func get(_ id: ServiceID, _ params: ServiceParams) async throws -> JSONValue {
    let reading = try reading(params)
    return try table.withLock { table in
      reading.selected(try found(id, reading, table), idField: idField)
    }
  }

  private func found(
    _ id: ServiceID, _ reading: QueryReading, _ table: Table
  ) throws(FeathersError) -> JSONValue {
    if let record = table[id], try reading.matches(record) { return record }
    throw FeathersError(.notFound, "No record found for id '\(id)'")
  }

  /// Creates a record, or several.
  public func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
    let reading = try reading(params)
    if case .array(let records) = data {
      guard multi.contains(.create) else { throw refuseMulti(.create) }
      try records.forEach(checkObject)
      return table.withLock { table in
        .array(records.map { reading.selected(add($0, &table), idField: idField) })
      }
    }
    try checkObject(data)
    return table.withLock { reading.selected(add(data, &$0), idField: idField) }
  }

  private func checkObject(_ data: JSONValue) throws(FeathersError) {
    guard case .object = data else {
      throw FeathersError(.badRequest, "The data of a record has to be an object.")
    }
  }

  /// Replaces a record; its id stays.
  public func update(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws -> JSONValue {
    guard let id else {
      throw FeathersError(
        .badRequest, "You can not replace multiple instances. Did you mean 'patch'?")
    }
    try checkObject(data)
    let reading = try reading(params)
    return try table.withLock { table in
      let old = try found(id, reading, table)
      let record = data.setting(idField, to: old[idField] ?? id.json)
      table[id] = record
      return reading.selected(record, idField: idField)
    }
  }

  /// Changes fields of a record, or of all that match the query.
  public func patch(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws -> JSONValue {
    let reading = try reading(params)
    try checkObject(data)
    if let id {
      return try table.withLock { table in
        let old = try found(id, reading, table)
        return reading.selected(change(old, data, &table), idField: idField)
      }
    }
    guard multi.contains(.patch) else { throw refuseMulti(.patch) }
    try QueryReading.checkChange(params.query)
    return try table.withLock { table in
      .array(
        try reading.matching(table.all).map {
          reading.selected(change($0, data, &table), idField: idField)
        })
    }
  }

  private func change(_ old: JSONValue, _ data: JSONValue, _ table: inout Table) -> JSONValue {
    var record = old
    for member in data.object ?? [] where !member.name.hasSameBytes(as: idField) {
      record = record.setting(member.name, to: member.value)
    }
    if let id = old[idField].flatMap({ ServiceID(json: $0) }) { table[id] = record }
    return record
  }

  /// Removes a record, or all that match the query.
  public func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue {
    let reading = try reading(params)
    if let id {
      return try table.withLock { table in
        let old = try found(id, reading, table)
        table[id] = JSONValue?.none
        return reading.selected(old, idField: idField)
      }
    }
    guard multi.contains(.remove) else { throw refuseMulti(.remove) }
    try QueryReading.checkChange(params.query)
    return try table.withLock { table in
      let gone = try reading.matching(table.all)
      for record in gone {
        if let id = record[idField].flatMap({ ServiceID(json: $0) }) {
          table[id] = JSONValue?.none
        }
      }
      return .array(gone.map { reading.selected($0, idField: idField) })
    }
  }
}
