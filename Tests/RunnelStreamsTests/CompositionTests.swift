import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// The streams of a whole view: pinned rows, a paged history and a row being written, by days.
private final class Composition {
  let tree = TestTree()
  let pinned: QueryStream<Record>
  let history: QueryStream<Record>
  let transient = TransientStream<Record>()
  let union: UnionStream<Record>
  let partition: PartitionedStream<Record, Int64>
  let recorders: [Recorder<Record>]
  private(set) var shown: [SectionIDs] = []
  private(set) var records: [String: Record] = [:]
  private(set) var mistakes: [String] = []
  private var headers: [String: SectionLabels] = [:]
  private var adapter: IndexPathAdapter<Record>?

  init(isDescending: Bool) throws {
    var query = try Query(Path("m")).ordered(by: .child(Path("pin")))
    query = try query.equal(to: .leaf(.bool(true)))
    pinned = QueryStream(request: ListenRequest(query: query), source: tree)
    history = QueryStream(
      request: try messages(paging: Paging(anchor: .last, count: 3)), isDescending: isDescending,
      source: tree)
    union = UnionStream([pinned, history, transient] as [any SectionedStream<Record>]) { a, b in
      let (first, second) = (number(a, "at"), number(b, "at"))
      if first == second { return isDescending ? b.row.key < a.row.key : a.row.key < b.row.key }
      return isDescending ? second < first : first < second
    }
    partition = PartitionedStream(union, fixed: [7], sectionID: { "\($0)" }) { number($0, "day") }
    recorders = [
      Recorder(pinned), Recorder(history), Recorder(transient), Recorder(union),
      Recorder(partition),
    ]
    let part = ListPart(
      partition, pagings: [PagingPoint(history)], placeholders: [.empty, .status]
    ) { section in
      SectionLabels(header: "\(section.items.count)")
    }
    let adapter = IndexPathAdapter(
      [part], log: { [unowned self] in mistakes.append($0) },
      receive: { [unowned self] in take($0) })
    self.adapter = adapter
    adapter.start()
  }

  func settle() throws {
    try tree.settle([pinned, history])
    try compareWithTree()
  }

  /// Notes each query that, with nothing under way, does not hold what the tree does.
  private func compareWithTree() throws {
    for stream in [pinned, history] where stream.isStarted {
      let all = try tree.rows(stream.request.query)
      let wanted = all.filter { row in
        let record = Record(row, in: stream.request.query.path)
        return stream.predicate?(record) ?? true
      }
      let items = stream.items.map(\.row)
      let rows = stream.isDescending ? items.reversed() : items
      let read =
        switch stream.request.paging?.anchor {
        case nil: wanted
        case .first: Array(wanted.prefix(rows.count))
        case .last: Array(wanted.suffix(rows.count))
        }
      // An item that is as it was stays when another order is asked for, with its place in the old one.
      if rows.map(\.key) != read.map(\.key) || rows.map(\.node) != read.map(\.node) {
        mistakes.append("\(stream.request.query) holds \(rows.map(\.key)), not \(read.map(\.key))")
      }
    }
  }

  private func take(_ update: ListUpdate<Record>) {
    let sections = update.sectionIDs
    if let mistake = update.update.mistake(from: shown, to: sections) { mistakes.append(mistake) }
    checkLabels(update)
    shown = update.update.replayed(on: shown, to: sections) ?? []
    if update.update.isReload { records = [:] }
    for key in update.removed { records[key] = nil }
    for record in update.touched { records[record.id] = record }
  }

  /// Takes over the headers as a view does that follows the updates.
  private func checkLabels(_ update: ListUpdate<Record>) {
    if update.update.isReload { headers = [:] }
    for index in update.update.reloadedSections { headers[shown[index].id] = nil }
    for section in update.sections where headers[section.id] == nil {
      headers[section.id] = section.labels
    }
    for section in update.sections where headers[section.id] != section.labels {
      mistakes.append("The header of \(section.id) is an old one.")
    }
    headers = headers.filter { id, _ in update.sections.contains { $0.id == id } }
  }

  /// One thing that a person or another process may do.
  func act(_ random: inout SeededRandom) throws {
    switch Int.random(in: 0..<13, using: &random) {
    case 0...4: try tree.writeAtRandom(&random)
    case 5: history.fetchMore(Int.random(in: 1...3, using: &random))
    case 6: transient.put(try draft(&random))
    case 7: transient.reset()
    case 8:
      let stream = Bool.random(using: &random) ? pinned : history
      stream.stop()
      stream.start()
    case 9:
      let rest = Int64.random(in: 0..<4, using: &random)
      history.predicate = rest == 3 ? nil : { number($0, "at") != rest }
      transient.predicate = rest == 0 ? { number($0, "day") != rest } : nil
    case 10:
      let order = ["at", "day", "pin"].randomElement(using: &random) ?? "at"
      let anchor: Query.Side = Bool.random(using: &random) ? .first : .last
      history.swap(
        to: try messages(by: order, paging: Paging(anchor: anchor, count: 3)),
        isDescending: Bool.random(using: &random))
    case 11: partition.repartition()
    default: try settle()
    }
  }

  /// A row that is not in the tree, or that shadows one that is.
  private func draft(_ random: inout SeededRandom) throws -> Record {
    let json: JSONValue = [
      "at": .number(JSONNumber(Int64.random(in: 0..<5, using: &random))),
      "day": .number(JSONNumber(Int64.random(in: 0..<4, using: &random))),
    ]
    let key = try Key("k\(Int.random(in: 0..<16, using: &random))")
    let child = Child(key: key, node: try Node(json: json))
    return Record(TreeRow(child, index: .key, detail: .full), in: try Path("m"))
  }
}

@Suite struct CompositionTests {
  @Test func randomUseReplaysThroughAllStreams() throws {
    for seed in Seeds.first(40) {
      var random = SeededRandom(seed: seed)
      let view = try Composition(isDescending: seed % 2 == 0)
      view.pinned.start()
      view.history.start()
      for _ in 0..<40 { try view.act(&random) }
      try view.settle()
      #expect(view.recorders.flatMap(\.mistakes) == [], "seed \(seed)")
      #expect(view.mistakes == [], "seed \(seed)")
      try compare(view, seed)
    }
  }

  /// Compares what is shown with what the sources hold in the end.
  private func compare(_ view: Composition, _ seed: UInt64) throws {
    var expected: [String: Record] = [:]
    for records in [view.transient.items, view.history.items, view.pinned.items] {
      for record in records { expected[record.id] = record }
    }
    #expect(view.records == expected, "seed \(seed)")
    let rows = view.shown.flatMap(\.rowIDs).filter { $0.hasPrefix("/") }
    #expect(Set(rows) == Set(expected.keys) && rows.count == expected.count, "seed \(seed)")
    for section in view.shown {
      for key in section.rowIDs where key.hasPrefix("/") {
        let record = try #require(expected[key], "seed \(seed)")
        #expect(section.id == "\(number(record, "day"))", "seed \(seed)")
      }
    }
    #expect(view.shown.filter { $0.rowIDs.contains("fetch-more") }.count <= 1, "seed \(seed)")
  }

  @Test func changesOfAnObserverReplayToo() throws {
    for seed in Seeds.first(15) {
      var random = SeededRandom(seed: seed)
      let view = try Composition(isDescending: false)
      var rounds = 0
      view.recorders[3].onChange = { _ in
        rounds += 1
        if rounds % 3 == 0 { view.transient.reset() }
        if rounds % 4 == 0 { view.history.fetchMore(1) }
        if rounds % 7 == 0 {
          view.history.stop()
          view.history.start()
        }
      }
      view.pinned.start()
      view.history.start()
      for _ in 0..<30 { try view.act(&random) }
      try view.settle()
      #expect(view.mistakes == [], "seed \(seed)")
      #expect(view.recorders[4].mistakes == [], "seed \(seed)")
    }
  }
}
