/// The id of one question to the origin; a query that is asked again gets another id.
public struct AskID: Hashable, Sendable, Comparable {
  /// The number, counted from 1.
  public var rawValue: Int64

  /// Makes an id from a number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by number: the older ask first.
  public static func < (left: AskID, right: AskID) -> Bool { left.rawValue < right.rawValue }
}

/// The open conversation with the origin on the present connection; its messages can be understood
/// only with this context.
///
/// The origin takes what it is sent in order, so an answer belongs to a point in that order. A
/// message that comes before the origin has confirmed the end of an earlier ask may belong to that
/// earlier ask.
///
/// Terms. An ask is *open* until it is answered. Its *base* is what an answer without data
/// confirms: the data that was hashed, and what the origin has sent since. An ask that was ended
/// here is *ending* until the origin has confirmed the end.
///
/// Invariants:
/// - I1. If a base is nil, it equals what the server tree keeps of the query.
///
/// Source: tree semantics, sections 7.5 and 7.7; wire protocol, sections A4.1 and A5.1.
struct OriginTalk: Sendable {
  /// A query that was asked and is not answered.
  struct OpenAsk: Sendable {
    var id: AskID
    var base: Node?
    /// True once the origin has sent all of it; its answer then only confirms that.
    var isTold = false
    /// The ends sent before this ask: until they are confirmed, messages are older than its answer.
    fileprivate(set) var awaitedEnds: Set<AskID>
  }

  /// A write that was sent and not answered.
  private struct SentWrite: Sendable {
    var places: [Path]
    /// The ends sent before this write: until they are confirmed, messages are older than the
    /// write.
    var awaitedEnds: Set<AskID>
    /// The places of which the origin has sent data that is at least as new as the write.
    var told: Set<ToldPlace> = []
  }

  /// A place of which the origin has sent data.
  private struct ToldPlace: Hashable, Sendable {
    var path: Path
    /// The query for which it was sent; nil if it was sent for all listeners.
    var query: Query?
  }

  private(set) var open: [Query: OpenAsk] = [:]
  private var ending: [AskID: Query] = [:]
  private var sent = KeyedParts<Int64, SentWrite>()
  /// The ids of these writes, by their places.
  private var sentPlaces = PathTree<Set<Int64>>()

  /// The ids of the asks that are not answered.
  var openIDs: Set<AskID> { Set(open.values.map(\.id)) }

  /// True if a query was asked and not answered.
  func isOpen(_ query: Query) -> Bool { open[query] != nil }

  /// True if a query was asked, and the origin has not sent all of its answer yet.
  func isUntold(_ query: Query) -> Bool { open[query].map { !$0.isTold } ?? false }

  /// True if data sent now may belong to an ended ask of the same place.
  func awaitsEnds(_ query: Query) -> Bool { open[query].map { !$0.awaitedEnds.isEmpty } ?? false }
}

// MARK: Asks

extension OriginTalk {
  /// Notes that the connection ended: nothing that was sent will be answered.
  mutating func reset() { self = OriginTalk() }

  /// Notes that a query is asked.
  mutating func ask(_ id: AskID, _ query: Query) {
    open[query] = OpenAsk(id: id, awaitedEnds: ends(concerning: query))
  }

  /// Notes that the origin answered or refused a query; returns the ask if it was open.
  mutating func close(_ query: Query) -> OpenAsk? { open.removeValue(forKey: query) }

  /// Notes that data sent for a query is ignored from now on.
  mutating func fallSilent(_ query: Query) {
    sent.updateAll { $0.told = $0.told.filter { $0.query != query } }
  }

  /// Notes that an ask was ended here.
  mutating func end(_ id: AskID, _ query: Query) {
    open[query] = nil
    ending[id] = query
    fallSilent(query)
  }

  /// Notes that the origin confirmed the end of an ask: it sends nothing more for it.
  mutating func confirmEnd(_ id: AskID) {
    ending[id] = nil
    for query in open.keys { open[query]?.awaitedEnds.remove(id) }
    sent.updateAll { $0.awaitedEnds.remove(id) }
  }

  mutating func update(_ query: Query, _ change: (inout OpenAsk) -> Void) {
    guard var ask = open[query] else { return }
    change(&ask)
    open[query] = ask
  }

  /// The unconfirmed ends of queries whose late pushes could be taken for pushes for `query`.
  private func ends(concerning query: Query) -> Set<AskID> {
    Set(ending.filter { $0.value == query || isMet($0.value, by: query.path) }.keys)
  }

  /// True if a push for all listeners at a place may have been meant for a query that was ended.
  private func isMet(_ query: Query, by path: Path) -> Bool {
    query.loadsAllData && (query.path.contains(path) || path.contains(query.path))
  }
}

// MARK: Writes

extension OriginTalk {
  /// True if a write was sent on the present connection, and not answered.
  func isSent(_ write: Int64) -> Bool { sent[write] != nil }

  /// Notes that a write to these places was sent.
  mutating func send(_ write: Int64, _ places: [Path]) {
    let ends = ending.filter { id, query in places.contains { isMet(query, by: $0) } }
    _ = forget(write)
    let new = SentWrite(places: places, awaitedEnds: Set(ends.keys))
    sent[write, default: new] = new
    for place in places {
      if sentPlaces[place] == nil { sentPlaces[place] = [] }
      sentPlaces.update(at: place) { $0.insert(write) }
    }
  }

  /// Removes and returns a write that was sent; nil if it is not under way.
  private mutating func forget(_ write: Int64) -> SentWrite? {
    guard let sent = sent.remove(write) else { return nil }
    for place in sent.places {
      sentPlaces.update(at: place) { $0.remove(write) }
      if sentPlaces[place]?.isEmpty == true { sentPlaces[place] = nil }
    }
    return sent
  }

  /// Notes that the origin answered a write; returns the places with data at least as new as the
  /// write.
  mutating func answer(_ write: Int64) -> [Path] {
    Set((forget(write)?.told ?? []).map(\.path)).sorted()
  }

  /// Notes that the origin sent data of a place, or of a place below it: for one query, or for all
  /// listeners.
  ///
  /// The origin sends it to an ask that it had not ended, so the same ask also gets the result of
  /// each write that was sent before.
  ///
  /// O(n) in the writes under way at the place, above it and below it.
  mutating func tell(_ path: Path, for query: Query? = nil) {
    var concerned: Set<Int64> = []
    for (_, ids) in sentPlaces.values(atOrAbove: path) { concerned.formUnion(ids) }
    sentPlaces.forEach(atOrBelow: path) { concerned.formUnion($0) }
    for id in concerned {
      sent.update(id) { write in
        guard write.awaitedEnds.isEmpty else { return }
        write.told.insert(ToldPlace(path: path, query: query))
      }
    }
  }

  /// Notes that the origin sends no more data of a place and below it for a query.
  mutating func fallSilent(_ path: Path, for query: Query) {
    sent.updateAll { write in
      write.told = write.told.filter { $0.query != query || !path.contains($0.path) }
    }
  }
}
