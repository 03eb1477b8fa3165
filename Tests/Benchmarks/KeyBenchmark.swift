/// From a key to the last byte of what it changed on the screen.
struct KeyBenchmark {
  private static let keyCount = 500
  /// How far the cursor goes before it turns: beyond the screen, so that the list scrolls too.
  private static let turn = 40
  private static let manyRows = 10_000

  let demo: DemoInput
  let database: String

  func run(into report: inout Report) throws {
    let program = try TerminalProgram(opening: database, demo: demo)
    let figures = ProcessFigures(processID: program.processID)
    report.add(
      "key to paint, \(program.rowCount ?? 0) rows loaded", try keys(program).summary,
      aim: "p99 5 ms")
    while let count = program.rowCount, count < KeyBenchmark.manyRows { try program.fetchPage() }
    try program.rest(milliseconds: 500)
    report.add(
      "key to paint, \(program.rowCount ?? 0) rows loaded", try keys(program).summary,
      aim: "p99 5 ms")
    report.add("  resident memory then", Format.megabytes(figures.residentBytes))
    var pages = Samples()
    for _ in 0..<20 {
      try program.rest(milliseconds: 50)
      try pages.measure { try program.fetchPage() }
    }
    report.add("  key to page on the screen then", pages.summary)
    try program.quit()
  }

  private func keys(_ program: TerminalProgram) throws -> Samples {
    var samples = Samples()
    try program.rest(milliseconds: 200)
    for index in 0..<KeyBenchmark.keyCount {
      let isUp = (index / KeyBenchmark.turn).isMultiple(of: 2)
      let start = Timing.now
      try program.strike(isUp ? "k" : "j")
      guard let time = try program.lastByte(since: start) else {
        throw BenchmarkError("A key that moves the cursor changed nothing on the screen.")
      }
      samples.add(time)
    }
    return samples
  }
}
