import Glibc
import RunnelBase
import RunnelStreams
import RunnelTree

/// What streams cost: changes of a long list, the first load, pages, and memory.
///
/// The rows stand in memory and the events are made before: the streams alone are measured.
struct StreamsBenchmark {
  private typealias Chain = PartitionedStream<Record, Int>

  private let rowCount: Int
  private let sectionCount = 20
  private let collection: Path
  private let request: ListenRequest
  private let index: QueryIndex
  private var random = SeededRandom(seed: 1)

  init(rowCount: Int) throws {
    self.rowCount = rowCount
    collection = try Path("messages")
    index = .child(try Path("at"))
    request = ListenRequest(query: try Query(collection).ordered(by: index))
  }

  mutating func run(into report: inout Report) throws {
    let rows = try (0..<rowCount).map { try row($0, at: $0 * 10) }
    // First, while little memory was used and given back.
    memory(rows, &report)
    try load(rows, &report)
    try fewChanges(rows, &report)
    try manyChanges(rows, &report)
    try pages(&report)
  }

  private func row(_ number: Int, at: Int, text: String = "text") throws -> TreeRow {
    let json: JSONValue = ["at": .number(JSONNumber(Int64(at))), "text": .string(text)]
    let child = RunnelTree.Child(key: try Key("k\(number)"), node: try Node(json: json))
    return TreeRow(child, index: index, detail: .full)
  }

  /// A stream of rows that are there.
  private func stream(_ rows: [TreeRow], paging: Paging? = nil) -> QueryStream<Record> {
    var request = request
    request.paging = paging
    let stream = QueryStream<Record>(request: request, source: SilentSource())
    stream.start()
    stream.receive(events(rows, isPaged: paging != nil), from: SilentSource.listener)
    return stream
  }

  private func events(_ rows: [TreeRow], isPaged: Bool) -> [TreeEvent] {
    rows.map { .childAdded($0, previous: nil) } + (isPaged ? [.page(hasMore: true)] : [])
  }

  private func partition(_ stream: any SectionedStream<Record>) -> Chain {
    let count = sectionCount
    return PartitionedStream(stream, sectionID: { "\($0)" }) { record in
      record.row.key.text.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % count
    }
  }
}

// MARK: Figures

extension StreamsBenchmark {
  /// Initial load, beside sorting the same rows once.
  private mutating func load(_ rows: [TreeRow], _ report: inout Report) throws {
    let shuffled = rows.shuffled(using: &random)
    let events = events(shuffled, isPaged: false)
    var (ours, sorting) = (Samples(), Samples())
    for _ in 0..<5 {
      let stream = QueryStream<Record>(request: request, source: SilentSource())
      stream.start()
      ours.measure { stream.receive(events, from: SilentSource.listener) }
      _ = sorting.measure { shuffled.sorted { $0.position < $1.position } }
    }
    report.add(
      "load \(rowCount) rows", Format.time(ours.median),
      baseline: Format.time(sorting.median) + " to sort them", ratio: ours.median / sorting.median,
      aim: .atMost(3))
  }

  /// 100 random changes in one batch, beside `difference(from:)` of the keys before and after.
  private mutating func fewChanges(_ rows: [TreeRow], _ report: inout Report) throws {
    let stream = stream(rows)
    let union = UnionStream(inTreeOrder: [stream])
    let chain = partition(union)
    var told = chain.sections
    let token = chain.observe { told = $0.sections }
    let before = stream.items.map(\.key)
    var samples = Samples()
    for round in 0..<20 {
      let events = try changes(100, of: rows, round: round)
      samples.measure { stream.receive(events, from: SilentSource.listener) }
    }
    chain.cancel(token)
    let single = self.stream(rows)
    var alone = Samples()
    var after: [String] = []
    for round in 0..<20 {
      let events = try changes(100, of: rows, round: round)
      alone.measure { single.receive(events, from: SilentSource.listener) }
      if round == 0 { after = single.items.map(\.key) }
    }
    let start = Timing.now
    let difference = after.difference(from: before)
    let theirs = Timing.seconds(since: start)
    let baseline = Format.time(theirs) + " of difference(from:)"
    precondition(!difference.isEmpty && told.count == sectionCount, "There are changes.")
    report.add(
      "100 changes, one stream", Format.time(alone.median), baseline: baseline,
      ratio: theirs / alone.median, aim: .atLeast(100))
    report.add(
      "100 changes, query, union, partition", Format.time(samples.median), baseline: baseline,
      ratio: theirs / samples.median, aim: .atLeast(100))
  }

  /// 10,000 changes in one batch over all sections.
  private mutating func manyChanges(_ rows: [TreeRow], _ report: inout Report) throws {
    let stream = stream(rows)
    let chain = partition(stream)
    var samples = Samples()
    for round in 0..<7 {
      let events = try changes(rowCount / 10, of: rows, round: round)
      samples.measure { stream.receive(events, from: SilentSource.listener) }
    }
    precondition(chain.sections.count == sectionCount, "There are so many sections.")
    report.add(
      "\(rowCount / 10) changes, \(sectionCount) sections", Format.time(samples.median),
      value: samples.median, aim: .below(0.05, "50 ms"))
  }

  /// Rows that come, go, move and change, a quarter each.
  private mutating func changes(
    _ count: Int, of rows: [TreeRow], round: Int
  ) throws -> [TreeEvent] {
    var events: [TreeEvent] = []
    for offset in 0..<count {
      let number = Int.random(in: 0..<rowCount, using: &random)
      let at = Int.random(in: 0..<rowCount * 10, using: &random)
      let fresh = rowCount + round * count + offset
      switch offset % 4 {
      case 0: events.append(.childRemoved(rows[number]))
      case 1: events.append(.childAdded(try row(fresh, at: at), previous: nil))
      case 2: events.append(.childMoved(try row(number, at: at), previous: nil))
      default:
        let row = try row(number, at: number * 10, text: "changed \(round)")
        events.append(.childChanged(row, previous: nil))
      }
    }
    return events
  }

  /// A page of 100 rows for a short and for a long stream.
  private func pages(_ report: inout Report) throws {
    let short = try pageTime(of: 100)
    let long = try pageTime(of: rowCount)
    report.add(
      "a page of 100 rows, at \(rowCount) rows", Format.time(long),
      baseline: Format.time(short) + " at 100 rows", ratio: long / short, aim: .atMost(2))
  }

  private func pageTime(of count: Int) throws -> Double {
    var samples = Samples()
    let rows = try (0..<count).map { try row($0, at: $0) }
    // The first page is not measured: code and table of the stream are in no cache then.
    let pages = try (0..<2).map { page in
      let rows = try (1...100).map { try row(count + page * 100 + $0, at: -page * 100 - $0) }
      return events(rows, isPaged: true)
    }
    for _ in 0..<20 {
      let stream = stream(rows, paging: Paging(anchor: .last, count: 100))
      var times = Samples()
      for events in pages {
        times.measure {
          stream.fetchMore(100)
          stream.receive(events, from: SilentSource.listener)
        }
      }
      samples.add(times.all[1])
    }
    return samples.median
  }

  /// What a row costs besides its record, in a query stream and in one more partition of it.
  ///
  /// Rows come in small batches, so that little else is allocated in between.
  private func memory(_ rows: [TreeRow], _ report: inout Report) {
    let own = ProcessFigures(processID: getpid())
    var records: [Record] = []
    records.reserveCapacity(rows.count)
    let start = own.residentBytes
    for row in rows { records.append(Record(row, in: collection)) }
    let recordBytes = own.residentBytes - start
    let stream = stream([])
    let before = own.residentBytes
    var rest = rows[...]
    while !rest.isEmpty {
      let events = events(Array(rest.prefix(1000)), isPaged: false)
      stream.receive(events, from: SilentSource.listener)
      rest = rest.dropFirst(1000)
    }
    let streamBytes = own.residentBytes - before - recordBytes
    let beforeChain = own.residentBytes
    let chain = partition(stream)
    let chainBytes = own.residentBytes - beforeChain
    withExtendedLifetime((records, stream, chain)) {
      for (words, bytes) in [("a query stream", streamBytes), ("a partition", chainBytes)] {
        let perRow = Double(bytes) / Double(rowCount)
        report.add(
          "memory for each row of \(words)", Format.decimal(perRow, digits: 0) + " bytes",
          value: perRow, aim: .below(200, "200 bytes"))
      }
    }
  }
}

/// A tree that never answers.
private final class SilentSource: TreeSource {
  static let listener = ListenerID(1)

  func listen(_ request: ListenRequest) -> ListenerID { SilentSource.listener }
  func unlisten(_ listener: ListenerID) {}
  func extend(_ listener: ListenerID, by count: Int) {}
}
