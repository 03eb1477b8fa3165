/// The states of a query as values of a Swift type, beginning with the present one.
///
/// If states come faster than they are taken, those between are skipped: the newest is returned. A
/// state that does not fit the type throws `DataCodingError`; the iterator can be asked again, and
/// goes on with the next state. Each iterator observes on its own, and ends like those of
/// `DataEvents`.
public struct DecodedValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// The elements.
  public typealias Element = Value

  let values: DataValues
  let decoder: NodeDecoder

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: values.makeAsyncIterator(), decoder: decoder)
  }

  /// Returns the states one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: DataValues.Iterator
    let decoder: NodeDecoder

    /// The newest state, as soon as there is one that was not returned; nil once the task was
    /// cancelled.
    ///
    /// - Throws: `DataCodingError` with the place that does not fit; `DatabaseError` if the rows
    ///   cannot be read, or the database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Value? {
      guard let snapshot = try await base.next(isolation: actor) else { return nil }
      return try snapshot.decode(Value.self, using: decoder)
    }
  }
}

extension Queryable {
  /// The states as values of a Swift type; see `DecodedValues`.
  ///
  /// - Parameters:
  ///   - type: the type; an optional one is nil while the place is empty.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: a sequence; each of its iterators observes on its own.
  public func values<Value: Decodable & Sendable>(
    as type: Value.Type, using decoder: NodeDecoder = NodeDecoder()
  ) -> DecodedValues<Value> {
    DecodedValues(values: values, decoder: decoder)
  }
}
