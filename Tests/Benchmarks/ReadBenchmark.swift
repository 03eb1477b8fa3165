import RunnelDatabase
import RunnelTree

/// Windows of a long history: opened, paged, and in the order of a child.
struct ReadBenchmark {
  private static let windowCount = 100
  private static let repeatCount = 60
  private static let smallCount = 1000

  let stage: StorageBenchmark.Stage

  func run(into report: inout Report) throws {
    try open(into: &report)
    try page(into: &report)
    try order(into: &report)
  }

  // MARK: Opening

  private func open(into report: inout Report) throws {
    var (ours, plain) = (Samples(), Samples())
    let query = try collection().limited(to: ReadBenchmark.windowCount, from: .last)
    for _ in 0..<ReadBenchmark.repeatCount {
      let count = try plain.measure {
        try PlainSQLite.newest(Int32(ReadBenchmark.windowCount), of: stage.plainFile)
      }
      let rows = try ours.measure {
        let session = try DatabaseSession(file: stage.file, isReadOnly: true, environment: .live)
        let rows = try session.rows(query)
        try session.close()
        return rows
      }
      guard rows.count == count else { throw BenchmarkError("A window has \(rows.count) rows.") }
    }
    report.add(
      "open, read the newest 100 of \(stage.input.records.count)", Format.time(ours.median),
      baseline: Format.time(plain.median), ratio: ours.median / plain.median, aim: .atMost(3))
    report.add("  time", Format.time(ours.median), value: ours.median, aim: .below(0.01, "10 ms"))
  }

  private func collection() throws -> Query {
    try Query(Path(MessageInput.collection)).ordered(by: .key)
  }

  // MARK: Paging

  /// A page is fetched beyond a window at the newest message, in the middle and near the oldest.
  private func page(into report: inout Report) throws {
    let records = stage.input.records
    let places = [records.count - 1, records.count / 2, 3 * ReadBenchmark.windowCount]
    var samples = [Samples](repeating: Samples(), count: places.count)
    let session = try DatabaseSession(file: stage.file, isReadOnly: true, environment: .live)
    for round in 0..<ReadBenchmark.repeatCount {
      for (index, place) in places.enumerated() {
        let time = try pageTime(session, before: records[place].key, listener: round)
        if round > 0 { samples[index].add(time) }
      }
    }
    try session.close()
    let times = samples.map(\.median)
    guard let slowest = times.max(), let fastest = times.min() else { return }
    report.add(
      "page 100 more at the start, middle and end", times.map(Format.time).joined(separator: ", "),
      ratio: slowest / fastest, aim: .atMost(1.5))
  }

  private func pageTime(
    _ session: DatabaseSession, before key: String, listener number: Int
  ) throws -> Double {
    let listener = ListenerID(number)
    let query = try collection().ending(at: .leaf(.string(key)), isInclusive: true)
    let count = ReadBenchmark.windowCount
    _ = try session.listen(
      listener, ListenRequest(query: query, paging: Paging(anchor: .last, count: count)))
    let start = Timing.now
    let answer = try session.extend(listener, by: count)
    let time = Timing.seconds(since: start)
    guard answer.count == count + 1 else {
      throw BenchmarkError("A page has \(answer.count) rows.")
    }
    session.unlisten(listener)
    return time
  }

  // MARK: Order by child

  private func order(into report: inout Report) throws {
    let likes = try Path("likes")
    let index = IndexDefinition(pattern: "/" + MessageInput.collection, child: likes)
    let query = try Query(Path(MessageInput.collection)).ordered(by: .child(likes))
      .limited(to: ReadBenchmark.windowCount, from: .last)
    let smallFile = stage.folder.file("small.db")
    let small = try DatabaseSession(file: smallFile, environment: .live)
    let few = MessageInput(count: ReadBenchmark.smallCount).document()
    _ = try few.withUnsafeBufferPointer { try small.importJSON($0, at: .root) }
    let large = try DatabaseSession(file: stage.file, environment: .live)
    var samples = (small: Samples(), large: Samples())
    for session in [small, large] { try session.declareIndexes([index]) }
    for _ in 0..<ReadBenchmark.repeatCount {
      let count = try samples.small.measure { try small.rows(query).count }
      let other = try samples.large.measure { try large.rows(query).count }
      guard count == other else { throw BenchmarkError("Windows have \(count), \(other) rows.") }
    }
    try small.close()
    try large.close()
    let (time, base) = (samples.large.median, samples.small.median)
    report.add(
      "window of 100 by child, of \(stage.input.records.count) and of \(ReadBenchmark.smallCount)",
      Format.time(time), baseline: Format.time(base) + " of ours", ratio: time / base,
      aim: .atMost(3))
  }
}
