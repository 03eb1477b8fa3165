public import RunnelBase

/// The answer of a service: a page, an array, a record or another value.
public struct ServiceResult: Hashable, Sendable {
  /// The answer as it came; null if it is empty.
  public let json: JSONValue
  /// The page; nil if the answer is none.
  public let page: ServicePage?

  /// Makes a result of an answer.
  public init(_ json: JSONValue) {
    self.json = json
    page = ServicePage(json: json)
  }

  /// The records: those of the page or the array, or the single one.
  public var records: [JSONValue] {
    if let page { return page.records }
    switch json {
    case .array(let records): return records
    case .null: return []
    default: return [json]
    }
  }

  /// The record, if the answer is an object and no page; nil otherwise.
  public var record: JSONValue? {
    guard page == nil, case .object = json else { return nil }
    return json
  }
}

/// A page of records, with its place among all that match.
public struct ServicePage: Hashable, Sendable {
  /// How many records match; nil if the service does not count.
  public let total: Int?
  /// The most records of the page, as the server decided it; nil if it does not tell.
  public let limit: Int?
  /// How many matching records stand before the page.
  public let skip: Int
  /// The records.
  public let records: [JSONValue]
  /// What else the service tells, such as the cursor of the next page.
  public let rest: [JSONMember]

  private static let ownNames: Set<String> = ["total", "limit", "skip", "data"]

  /// Makes a page.
  public init(total: Int?, limit: Int?, skip: Int, records: [JSONValue]) {
    (self.total, self.limit, self.skip, self.records) = (total, limit, skip, records)
    rest = []
  }

  /// Reads a page; nil if the value is none.
  ///
  /// A page is an object with an array `data` and a number `limit` or `total`: services that do not
  /// count leave the total out, or send a negative one.
  public init?(json: JSONValue) {
    guard case .object(let members) = json, case .array(let records)? = json["data"] else {
      return nil
    }
    let (total, limit) = (json["total"]?.int, json["limit"]?.int)
    if total == nil, limit == nil { return nil }
    self.total = total.flatMap { $0 < 0 ? nil : $0 }
    (self.limit, self.records) = (limit, records)
    skip = json["skip"]?.int ?? 0
    rest = members.filter { !ServicePage.ownNames.contains($0.name) }
  }

  /// The page as the servers write it.
  public var json: JSONValue {
    var members: [JSONMember] = []
    if let total { members.append(JSONMember("total", .number(JSONNumber(Int64(total))))) }
    if let limit { members.append(JSONMember("limit", .number(JSONNumber(Int64(limit))))) }
    members.append(JSONMember("skip", .number(JSONNumber(Int64(skip)))))
    members.append(JSONMember("data", .array(records)))
    return .object(members + rest)
  }
}
