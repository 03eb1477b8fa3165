/// From the start of the program to the newest message on the screen, and the memory that takes.
struct StartBenchmark {
  private static let runCount = 10

  let demo: DemoInput

  func run(into report: inout Report) throws {
    var first = Samples()
    _ = try open(&first)
    report.add(
      "exec to first paint, building the indexes (once)", Format.time(first.median))

    var paints = Samples()
    var memory: [Int] = []
    for _ in 0..<StartBenchmark.runCount { memory.append(try open(&paints)) }
    report.add(
      "exec to first paint (\(StartBenchmark.runCount) runs)",
      "median \(Format.time(paints.median))  max \(Format.time(paints.largest))",
      value: paints.median, aim: .below(0.05, "50 ms"))
    memory.sort()
    let resident = memory[memory.count / 2]
    report.add(
      "  resident memory then", Format.megabytes(resident), value: Double(resident),
      aim: .below(40_000_000, "40 MB"))
  }

  /// Opens the database once and leaves; returns the resident memory after the first screen.
  private func open(_ samples: inout Samples) throws -> Int {
    let program = try TerminalProgram(opening: demo)
    samples.add(Timing.seconds(since: program.start))
    try program.rest(milliseconds: 200)
    let memory = ProcessFigures(processID: program.processID).residentBytes
    try program.quit()
    return memory
  }
}

extension TerminalProgram {
  /// Starts the program on a database of the demo and waits for the newest message.
  convenience init(opening demo: DemoInput) throws {
    try self.init(["--no-session", "--database", demo.database, "--views", demo.viewsFile])
    try wait(for: "the newest message") { $0.contains(demo.newestText) }
  }

  /// The number of rows that the header shows.
  var rowCount: Int? {
    let words = screen.line(1).split(separator: " ")
    guard let end = words.firstIndex(where: { $0 == "rows" }), end > 0 else { return nil }
    let hasTotal = end > 2 && words[end - 2] == "of"
    return Int(words[hasTotal ? end - 3 : end - 1])
  }

  /// Fetches the next page and waits until the number of rows shows it.
  func fetchPage() throws {
    let before = rowCount
    try strike("gm")
    try wait(for: "another page after \(before ?? 0) rows") { _ in
      rowCount.map { $0 != before } ?? false
    }
  }
}
