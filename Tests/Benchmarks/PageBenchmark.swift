import RunnelDatabase
import RunnelTree

/// What one page of 50 more rows costs: the tree alone, and from the key to the screen.
struct PageBenchmark {
  private static let pageCount = 50
  private static let terminalPages = 20

  let demo: DemoInput
  let database: String

  func run(into report: inout Report) throws {
    let pages = try inProcess()
    let plain = try baseline()
    report.add(
      "a page of 50, \(pages.count) pages in process", pages.summary, baseline: plain.summary,
      ratio: plain.median / pages.median, aim: "5 ms")
    if let first = pages.all.first, let last = pages.all.last {
      report.add("  the first page", Format.time(first))
      report.add("  the last page", Format.time(last))
    }
    report.add("  key to page on the screen", try throughTerminal().summary)
  }

  /// Extends a listener's window until there is nothing more.
  private func inProcess() throws -> Samples {
    let session = try DatabaseSession(file: database, environment: .live)
    let listener = ListenerID(1)
    let query = try Query(Path(DemoInput.collection)).ordered(by: .key)
    let size = PageBenchmark.pageCount
    var answer = try session.listen(
      listener, ListenRequest(query: query, paging: Paging(anchor: .last, count: size)))
    var samples = Samples()
    while case .page(hasMore: true)? = answer.last?.event {
      answer = try samples.measure { try session.extend(listener, by: size) }
    }
    try session.close()
    return samples
  }

  private func baseline() throws -> Samples {
    let plain = try PlainSQLite(file: ":memory:")
    try plain.insert(demo.records)
    var samples = Samples()
    // After every key of the collection, whose keys are ASCII.
    var last: String? = DemoInput.collection + "/~"
    while let key = last { last = try samples.measure { try plain.readPage(before: key) } }
    try plain.close()
    return samples
  }

  private func throughTerminal() throws -> Samples {
    let program = try TerminalProgram(opening: database, demo: demo)
    var samples = Samples()
    for _ in 0..<PageBenchmark.terminalPages {
      try program.rest(milliseconds: 50)
      try samples.measure { try program.fetchPage() }
    }
    try program.quit()
    return samples
  }
}
