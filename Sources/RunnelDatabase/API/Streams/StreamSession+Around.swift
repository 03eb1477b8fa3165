public import RunnelBase
public import RunnelStreams
public import RunnelTree

// Streams that start in the middle of an order, and are paged at both ends.

extension StreamSession {
  /// Returns a started stream of a query's records around a position in its order.
  ///
  /// It has up to `count` rows from the position on, and up to as many before it.
  /// `fetchMore(_:at:)` extends it at both ends; all rows between are live.
  ///
  /// - Parameters:
  ///   - query: the query, without a limit.
  ///   - value: the value at which the first page begins; in key order a key.
  ///   - childKey: among equal values, the key at which it begins; nil for the first of them.
  ///   - count: how many rows the first page has in each direction: at least 1.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  /// - Throws: `TreeError` (`invalidQuery`) if this order has no such value, the query has a limit, or
  ///   `count` is below 1; (`invalidKey`) if the key is invalid.
  public func stream(
    of query: some Queryable, around value: JSONValue, childKey: String? = nil, count: Int,
    isDescending: Bool = false
  ) throws(TreeError) -> QueryStream<Record> {
    let request = try query.request(pageCount: count)
    let place = try query.place(atValue: value, childKey: childKey)
    return begin(
      QueryStream(
        request: request, isDescending: isDescending, from: place,
        source: tree(for: query), showsPending: true))
  }

  /// Returns a started stream of a query's records, as values of a Swift type, around a position.
  ///
  /// - Parameters:
  ///   - query: the query, without a limit.
  ///   - type: the type; the row of a record that does not fit contains the error.
  ///   - value: the value at which the first page begins; in key order a key.
  ///   - childKey: among equal values, the key at which it begins; nil for the first of them.
  ///   - count: how many rows the first page has in each direction: at least 1.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  /// - Throws: `TreeError`, as for records.
  public func stream<Value: Decodable & Sendable>(
    of query: some Queryable, as type: Value.Type, around value: JSONValue,
    childKey: String? = nil, count: Int, isDescending: Bool = false
  ) throws(TreeError) -> QueryStream<DecodedRecord<Value>> {
    let request = try query.request(pageCount: count)
    let place = try query.place(atValue: value, childKey: childKey)
    let path = request.query.path
    return begin(
      QueryStream(
        request: request, isDescending: isDescending, from: place, source: tree(for: query),
        showsPending: true
      ) { row, isPending in
        DecodedRecord(Record(row, in: path, hasPendingWrites: isPending))
      })
  }
}

extension Queryable {
  /// Returns the request for the query's rows in pages.
  fileprivate func request(pageCount: Int) throws(TreeError) -> ListenRequest {
    let request = ListenRequest(
      query: databaseQuery.query, paging: Paging(anchor: .first, count: pageCount))
    try request.check()
    return request
  }

  /// Returns the position in the query's order of a value and, among equal values, a key.
  fileprivate func place(
    atValue value: JSONValue, childKey: String?
  ) throws(TreeError) -> IndexPosition {
    let bound = try QueryBound(value, childKey)
    return try databaseQuery.query.position(ofValue: bound.value, key: bound.key)
  }
}
