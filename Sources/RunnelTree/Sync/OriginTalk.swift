/// The name of one question to the origin: a query has another one each time it is asked.
public struct AskID: Hashable, Sendable, Comparable {
  /// The number, counted from 1.
  public var rawValue: Int64

  /// Makes a name from a number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by number: the older ask first.
  public static func < (left: AskID, right: AskID) -> Bool { left.rawValue < right.rawValue }
}

/// What was said on the present connection that gives its answers their meaning.
///
/// The origin takes what it is sent in order, so that an answer belongs to a point in the order in which
/// it was sent. What it tells before it has confirmed the end of an earlier ask may belong to that one.
///
/// Terms. An ask is *open* until it is answered. Its *base* is what an answer without data confirms: what
/// was hashed, with what the origin told since. An ask that was ended here is *ending* until the origin
/// has confirmed it.
///
/// Invariants:
/// - I1. A base that is nil is what the server tree keeps of the query.
///
/// Source: tree semantics, sections 7.5 and 7.7; wire protocol, sections A4.1 and A5.1.
struct OriginTalk: Sendable {
  /// A query that was asked and not answered.
  struct OpenAsk: Sendable {
    var id: AskID
    var base: Node?
    /// True once the origin told all of it, of which the answer is then only the end.
    var isTold = false
    /// The ends sent before it: until they are confirmed, what is told is older than its answer.
    fileprivate(set) var awaitedEnds: Set<AskID>
  }

  /// A write that was sent and not answered.
  private struct SentWrite: Sendable {
    var places: [Path]
    /// The ends sent before it: until they are confirmed, what is told is older than the write.
    var awaitedEnds: Set<AskID>
    /// Where the origin told something that is as new as the write.
    var told: Set<ToldPlace> = []
  }

  /// A place that the origin told of.
  private struct ToldPlace: Hashable, Sendable {
    var path: Path
    /// The query that it was told for; nil if it was told for everybody.
    var query: Query?
  }

  private(set) var open: [Query: OpenAsk] = [:]
  private var ending: [AskID: Query] = [:]
  private var sent: [Int64: SentWrite] = [:]

  /// The asks that were not answered.
  var openIDs: Set<AskID> { Set(open.values.map(\.id)) }

  /// True if a query was asked and not answered.
  func isOpen(_ query: Query) -> Bool { open[query] != nil }

  /// True if the origin is to tell all of a query, and has not done so since it was asked.
  func isUntold(_ query: Query) -> Bool { open[query].map { !$0.isTold } ?? false }

  /// True if what is told now may belong to an ask of the same place that was ended.
  func awaitsEnds(_ query: Query) -> Bool { open[query].map { !$0.awaitedEnds.isEmpty } ?? false }
}

// MARK: Asks

extension OriginTalk {
  /// The connection ended: nothing that was sent is answered any more.
  mutating func reset() { self = OriginTalk() }

  /// A query is asked.
  mutating func ask(_ id: AskID, _ query: Query) {
    open[query] = OpenAsk(id: id, awaitedEnds: ends(concerning: query))
  }

  /// The origin answered a query, or refused it; returns the ask, if it was open.
  mutating func close(_ query: Query) -> OpenAsk? { open.removeValue(forKey: query) }

  /// What the origin tells for a query from now on is not taken.
  mutating func fallSilent(_ query: Query) {
    for (id, write) in sent { sent[id]?.told = write.told.filter { $0.query != query } }
  }

  /// A query is asked no more.
  mutating func end(_ id: AskID, _ query: Query) {
    open[query] = nil
    ending[id] = query
    fallSilent(query)
  }

  /// The origin took the end of an ask: it tells nothing more for it.
  mutating func confirmEnd(_ id: AskID) {
    ending[id] = nil
    for query in open.keys { open[query]?.awaitedEnds.remove(id) }
    for write in sent.keys { sent[write]?.awaitedEnds.remove(id) }
  }

  mutating func update(_ query: Query, _ change: (inout OpenAsk) -> Void) {
    guard var ask = open[query] else { return }
    change(&ask)
    open[query] = ask
  }

  /// The ends that are not confirmed, of queries whose late pushes could be taken for those of `query`.
  private func ends(concerning query: Query) -> Set<AskID> {
    Set(ending.filter { $0.value == query || isMet($0.value, by: query.path) }.keys)
  }

  /// True if a push for everybody at a place may be meant for a query that was ended.
  private func isMet(_ query: Query, by path: Path) -> Bool {
    query.loadsAllData && (query.path.contains(path) || path.contains(query.path))
  }
}

// MARK: Writes

extension OriginTalk {
  /// A write that changes these places was sent.
  mutating func send(_ write: Int64, _ places: [Path]) {
    let ends = ending.filter { id, query in places.contains { isMet(query, by: $0) } }
    sent[write] = SentWrite(places: places, awaitedEnds: Set(ends.keys))
  }

  /// The origin answered a write; returns where it has told since what is as new.
  mutating func answer(_ write: Int64) -> [Path] {
    Set((sent.removeValue(forKey: write)?.told ?? []).map(\.path)).sorted()
  }

  /// The origin told what stands at a place, or something below it: for one query, or for everybody.
  ///
  /// It tells it to an ask that it had not ended; so it tells there, too, what a write made of it that was
  /// sent before.
  ///
  /// O(n) in the writes under way.
  mutating func tell(_ path: Path, for query: Query? = nil) {
    for (id, write) in sent where write.awaitedEnds.isEmpty {
      if write.places.contains(where: { $0.contains(path) || path.contains($0) }) {
        sent[id]?.told.insert(ToldPlace(path: path, query: query))
      }
    }
  }

  /// The origin tells no more of a place and below it for a query.
  mutating func fallSilent(_ path: Path, for query: Query) {
    for (id, write) in sent {
      sent[id]?.told = write.told.filter { $0.query != query || !path.contains($0.path) }
    }
  }
}
