/// From a key to the last byte of what it changed on the screen.
struct KeyBenchmark {
  private static let manyRows = 10_000

  let demo: DemoInput
  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let views = try folder.write(
      """
      views:
        - name: Messages
          path: \(DemoInput.collection)
          anchor: last
          page: 50
          keep: off
          also: [{ order: pinned, equal-to: true }]
          sections: [{ title: Pinned, where: { pinned: true } }, { day: created }]
          columns:
            - { field: pinned, format: mark, width: 1, screen: 60 }
            - { field: created, format: time, width: 5 }
            - { field: from, width: 10, screen: 40 }
            - { field: text }
            - { field: like_count, format: count, width: 2, screen: 60, muted: true }
            - { field: created, format: age, width: 4, screen: 50, muted: true }
      """, to: "keeping.views.yaml")
    let program = try TerminalProgram([
      "--no-session", "--database", demo.database, "--views", views,
    ])
    try program.wait(for: "the newest message") { $0.contains(demo.newestText) }
    let figures = ProcessFigures(processID: program.processID)
    report.add(
      "key to paint, \(program.rowCount ?? 0) rows loaded", try program.timeKeys().summary,
      aim: "p99 5 ms")
    while let count = program.rowCount, count < KeyBenchmark.manyRows { try program.fetchPage() }
    try program.rest(milliseconds: 500)
    report.add(
      "key to paint, \(program.rowCount ?? 0) rows loaded", try program.timeKeys().summary,
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
}

extension TerminalProgram {
  /// How far the cursor goes before it turns: beyond the screen, so that the list scrolls too.
  private static let turn = 40

  /// Strikes the keys for up and down, and takes the times to the last byte that each makes.
  func timeKeys(count: Int = 500) throws -> Samples {
    var samples = Samples()
    try rest(milliseconds: 200)
    for index in 0..<count {
      let isUp = (index / TerminalProgram.turn).isMultiple(of: 2)
      let start = Timing.now
      try strike(isUp ? "k" : "j")
      guard let time = try lastByte(since: start) else {
        throw BenchmarkError("A key that moves the cursor changed nothing on the screen.")
      }
      samples.add(time)
    }
    return samples
  }
}
