import RunnelBase
import RunnelServices

/// Looks whether records that a server finds over REST match the query.
///
/// There a server reads numbers and flags as texts. Many compare texts with numbers as unequal, so that
/// `{"n": {"$ne": 5}}` finds all.
struct RESTQueryCheck {
  /// The most records that are asked for at once.
  private static let pageMax = 1000

  private let request: ServiceRequest
  private let query: ServiceQuery

  /// Makes the check for a call; nil if all values of its conditions are texts.
  init?(_ request: ServiceRequest) {
    self.request = request
    query = request.query.conditions
    if query.members.allSatisfy({ RESTQueryCheck.isText($0.value) }) { return nil }
  }

  private static func isText(_ value: JSONValue) -> Bool {
    switch value {
    case .string: true
    case .array(let elements): elements.allSatisfy(isText)
    case .object(let members): members.allSatisfy { isText($0.value) }
    case .null, .bool, .number: false
    }
  }

  /// Returns the records that do not match, or of which that cannot be told here.
  private func strangers(_ records: [JSONValue]) -> [JSONValue] {
    guard let reading = try? QueryReading(query) else { return records }
    return records.filter { reading.condition.holds(for: $0) != true }
  }

  /// Returns how many records the server finds that a call would change.
  ///
  /// - Throws: `BadRequest` if one of them does not match, or if not all can be looked at; or the error of the server.
  @discardableResult
  func requireMatches(_ service: ServiceHandle) async throws(FeathersError) -> Int {
    guard [.update, .patch, .remove].contains(request.method) else { return 0 }
    let records: [JSONValue]
    if let id = request.id {
      records = [try await service.get(id, query)]
    } else {
      records = try await all(service)
    }
    let strangers = strangers(records)
    guard let first = strangers.first else { return records.count }
    throw FeathersError(
      .badRequest,
      "Over REST the server reads the values of the query as texts: \(strangers.count) of \(records.count) "
        + "records that it finds do not match it, or it cannot be told, such as "
        + "\(first.jsonText().prefix(200)). Nothing was changed: use Socket.IO (--transport socket), or ids "
        + "without a query.")
  }

  /// All records that the server finds, page by page.
  private func all(_ service: ServiceHandle) async throws(FeathersError) -> [JSONValue] {
    var result = try await service.find(query)
    var records = result.records
    while let page = result.page, !page.records.isEmpty,
      page.total.map({ records.count < $0 }) ?? true
    {
      let next = query.limit(RESTQueryCheck.pageMax).skip(records.count)
      result = try await service.find(next)
      // Some services ignore what is to be skipped.
      if let first = result.records.first, first == page.records.first { break }
      records += result.records
    }
    if let page = result.page, records.count < page.total ?? (page.records.isEmpty ? 0 : .max) {
      throw FeathersError(
        .badRequest,
        "Over REST the server reads the values of the query as texts, and not all records that it finds "
          + "can be read to compare them. Nothing was changed: use Socket.IO (--transport socket).")
    }
    return records
  }

  /// Says on standard error why there may be nothing, if nothing was found for numbers or flags.
  func tellIfNothing(_ result: ServiceResult) {
    guard request.id == nil, [.find, .patch, .remove].contains(request.method),
      result.records.isEmpty, result.page?.total ?? 0 == 0,
      request.query["$limit"] != 0, request.query["$skip"] ?? 0 == 0, !query.matchesNothing
    else { return }
    StandardError.say(
      "Nothing was found: over REST numbers and flags in a query are sent as texts, which some servers compare "
        + "as texts. Use Socket.IO (--transport socket).")
  }

  /// Says on standard error if records came that do not match.
  func tellStrangers(in result: ServiceResult) {
    if request.query["$select"] != nil || (try? QueryReading(query)) == nil { return }
    let count = strangers(result.records).count
    if count == 0 { return }
    StandardError.say(
      "\(count) of \(result.records.count) records do not match the query: over REST the server reads its "
        + "values as texts. Use Socket.IO (--transport socket).")
  }
}
