public import RunnelBase
public import RunnelStreams
public import RunnelTree

/// A row of a stream as a value of a Swift type, or the reason why it cannot be decoded.
///
/// Two rows are equal if their records are, so the value need not be comparable. The properties of
/// the value are those of the row, and nil if it cannot be decoded: `row.name` for `row.value?.name`.
@dynamicMemberLookup
public struct DecodedRecord<Value: Decodable & Sendable>: PlacedItem, Sendable {
  /// The record.
  public let record: Record
  /// The value, or the error with the place that does not fit and the expected type.
  public let result: Result<Value, DataCodingError>

  /// Decodes a record.
  public init(_ record: Record, using decoder: NodeDecoder = NodeDecoder()) {
    self.record = record
    result = Result { () throws(DataCodingError) in
      try record.decode(using: decoder)
    }
  }

  /// The identity: that of the record, made of its place.
  public var id: String { record.id }
  /// The place of the row itself.
  public var path: Path { record.path }
  /// The key of the row in the tree.
  public var key: String { record.row.key.text }

  /// True if a write that the origin has not answered changes the row; always false on a tree of its
  /// own.
  public var hasPendingWrites: Bool { record.hasPendingWrites }

  /// The value; nil if the record cannot be decoded.
  public var value: Value? { if case .success(let value) = result { value } else { nil } }
  /// The reason why the record cannot be decoded; nil if it can.
  public var error: DataCodingError? { if case .failure(let error) = result { error } else { nil } }

  /// A property of the value; nil if the record cannot be decoded.
  public subscript<Property>(dynamicMember path: KeyPath<Value, Property>) -> Property? {
    value?[keyPath: path]
  }

  /// An optional property of the value; nil if it is nil, or the record cannot be decoded.
  public subscript<Property>(dynamicMember path: KeyPath<Value, Property?>) -> Property? {
    value?[keyPath: path]
  }

  /// True if both are the same row with the same content.
  public static func == (left: DecodedRecord, right: DecodedRecord) -> Bool {
    left.record == right.record
  }
}

extension DecodedRecord where Value: Encodable {
  /// Makes a row of a value that is not stored, for example a draft in a `TransientStream`.
  ///
  /// - Parameters:
  ///   - key: the key of the row.
  ///   - collection: the place of the collection, such as `reference.path`.
  ///   - value: the value.
  /// - Throws: `DataCodingError` if the value cannot be written as JSON; `TreeError` if the key or the
  ///   value is invalid.
  public init(key: String, in collection: Path, value: Value) throws {
    let json = try NodeEncoder().json(value, at: collection)
    self.init(try Record(key: key, in: collection, value: json))
  }
}

extension SectionedStream {
  /// The rows that are shown and cannot be decoded, with the reasons: their one state, for a badge
  /// or a message beside the list.
  ///
  /// A row that this stream does not show is not among them, as one for which the rule of a
  /// `PartitionedStream` returns nil: ask the source of the partition.
  ///
  /// O(n).
  public func failedRows<Value>() -> [(key: String, error: DataCodingError)]
  where Item == DecodedRecord<Value> {
    sections.flatMap { section in
      section.items.compactMap { row in row.error.map { (row.key, $0) } }
    }
  }
}

extension StreamChange {
  /// The rows of the list that cannot be decoded, with the reasons: as for a stream.
  ///
  /// O(n).
  public func failedRows<Value>() -> [(key: String, error: DataCodingError)]
  where Item == DecodedRecord<Value> {
    sections.flatMap { section in
      section.items.compactMap { row in row.error.map { (row.key, $0) } }
    }
  }
}

extension StreamSession {
  /// A stream of a query's records as values of a Swift type, started.
  ///
  /// - Parameters:
  ///   - query: the query; a paged one has no limit, or the stream fails (`refused`).
  ///   - type: the type; the row of a record that does not fit contains the error.
  ///   - paging: how its window grows; nil for exactly the rows of the query.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream<Value: Decodable & Sendable>(
    of query: some Queryable, as type: Value.Type, paging: Paging? = nil,
    isDescending: Bool = false
  ) -> QueryStream<DecodedRecord<Value>> {
    let request = ListenRequest(query: query.databaseQuery.query, paging: paging)
    let path = request.query.path
    return begin(
      QueryStream(
        request: request, isDescending: isDescending, source: tree(for: query),
        showsPending: true
      ) { row, isPending in
        DecodedRecord(Record(row, in: path, hasPendingWrites: isPending))
      })
  }

  /// A stream of a query's records as values of a Swift type, started, whose changes are told in batches.
  ///
  /// - Parameters:
  ///   - query: the query.
  ///   - type: the type; the row of a record that does not fit contains the error.
  ///   - batching: when changes are told.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream<Value: Decodable & Sendable>(
    of query: some Queryable, as type: Value.Type, batching: BatchingPolicy,
    isDescending: Bool = false
  ) -> BatchedStream<DecodedRecord<Value>> {
    batched(stream(of: query, as: type, isDescending: isDescending), by: batching)
  }
}

extension QueryStream {
  /// The place of the first row after another one, which need not be in the stream; nil if there is none.
  ///
  /// O(log n).
  public func firstIndexPath<Value>(after row: DecodedRecord<Value>) -> ListIndexPath? {
    firstIndexPath(after: row.record)
  }

  /// The place of the last row before another one, which need not be in the stream; nil if there is none.
  ///
  /// O(log n).
  public func lastIndexPath<Value>(before row: DecodedRecord<Value>) -> ListIndexPath? {
    lastIndexPath(before: row.record)
  }
}
