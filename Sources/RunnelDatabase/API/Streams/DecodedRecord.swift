public import RunnelStreams
public import RunnelTree

/// A row of a stream as a value of a Swift type, or the reason why it cannot be decoded.
///
/// Two rows are equal if their records are, so the value need not be comparable.
public struct DecodedRecord<Value: Decodable & Sendable>: KeyedItem, Sendable {
  /// The record.
  public let record: Record
  /// The value, or the error with the place that does not fit and the expected type.
  public let value: Result<Value, DataCodingError>

  /// Decodes a record.
  public init(_ record: Record, using decoder: NodeDecoder = NodeDecoder()) {
    self.record = record
    value = Result { () throws(DataCodingError) in
      try record.decode(using: decoder)
    }
  }

  /// The identity: that of the record.
  public var key: String { record.key }

  /// True if both are the same row with the same content.
  public static func == (left: DecodedRecord, right: DecodedRecord) -> Bool {
    left.record == right.record
  }
}

extension StreamSession {
  /// A stream of a query's records as values of a Swift type, started.
  ///
  /// - Parameters:
  ///   - query: the query; a paged one has no limit.
  ///   - type: the type; the row of a record that does not fit contains the error.
  ///   - paging: how its window grows; nil for exactly the rows of the query.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream<Value: Decodable & Sendable>(
    of query: some Queryable, as type: Value.Type, paging: Paging? = nil,
    isDescending: Bool = false
  ) -> QueryStream<DecodedRecord<Value>> {
    let path = query.databaseQuery.query.path
    return stream(of: query, paging: paging, isDescending: isDescending) { row in
      DecodedRecord(Record(row, in: path))
    }
  }
}
