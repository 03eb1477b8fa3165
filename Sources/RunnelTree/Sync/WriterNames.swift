public import RunnelBase

/// The names under which a replica sends its writes, so that no name ever stands for two of them.
///
/// The origin does a write of a name once. So whoever connects takes a new client name for the writes made
/// from then on, and those made before keep theirs. Without that, a replica that was restored from an older
/// copy would number its writes like those that it made after the copy, and the origin would take them for
/// repetitions.
///
/// Invariant: the first writes of the spans are ascending, and each span's writes are numbered from 1.
///
/// Source: wire protocol, section A9.
public struct WriterNames: Hashable, Sendable {
  private struct Span: Hashable {
    /// The replica's number of the first write.
    var first: Int64
    var client: String
  }

  private var spans: [Span]

  /// Makes the names of a replica whose writes are all sent by one client.
  public init(_ client: String) { spans = [Span(first: 0, client: client)] }

  /// Reads what `json` returned; nil if it is something else.
  public init?(_ json: JSONValue) {
    var spans: [Span] = []
    for element in json.array ?? [] {
      guard let first = element[0]?.int, let client = element[1]?.string,
        WriteID(client: client, number: 1) != nil, spans.last.map({ $0.first <= first }) ?? true
      else { return nil }
      spans.append(Span(first: Int64(first), client: client))
    }
    if spans.isEmpty { return nil }
    self.spans = spans
  }

  /// The names as stored: an array of pairs, each of the first write and the name of the client.
  public var json: JSONValue {
    .array(spans.map { [.number(JSONNumber($0.first)), .string($0.client)] })
  }

  /// Takes a new name for all writes from a number on.
  ///
  /// - Parameters:
  ///   - client: the name of the client, which nobody else has.
  ///   - write: the replica's number of the next write.
  ///   - oldest: the oldest write that waits; nil if none does. Names that stand only for older ones are
  ///     forgotten.
  public mutating func begin(_ client: String, at write: Int64, oldest: Int64?) {
    spans.removeAll { $0.first >= write }
    let needed = oldest.flatMap { oldest in spans.lastIndex { $0.first <= oldest } }
    spans.removeFirst(oldest == nil ? spans.count : needed ?? 0)
    spans.append(Span(first: write, client: client))
  }

  /// The name of a write; nil if it is older than all that is known.
  public func name(of write: Int64) -> WriteID? {
    guard let span = spans.last(where: { $0.first <= write }) else { return nil }
    return WriteID(client: span.client, number: write - span.first + 1)
  }
}
