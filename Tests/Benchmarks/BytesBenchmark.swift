import RunnelBase
import RunnelDatabase
import RunnelTree

/// How many bytes the workspace sends to the terminal for what changes.
struct BytesBenchmark {
  private static let changeCount = 20
  private static let pageCount = 10
  /// Nothing comes for so long once a repaint is over.
  private static let quietMilliseconds: Int32 = 150

  let demo: DemoInput

  func run(into report: inout Report) throws {
    let program = try TerminalProgram(opening: demo)
    try program.rest(milliseconds: 500)
    try changes(program, into: &report)
    try pages(program, into: &report)
    try program.quit()
  }

  /// Another process changes a row in sight.
  private func changes(_ program: TerminalProgram, into report: inout Report) throws {
    let session = try DatabaseSession(file: demo.database, environment: .live)
    let newest = try session.rows(
      Query(try Path(DemoInput.collection)).ordered(by: .key).limited(to: 1, from: .last))
    guard let key = newest.first?.key else { throw BenchmarkError("The demo has no messages.") }
    let place = try Path(DemoInput.collection).appending(Path("\(key.text)/like_count"))
    var largest = 0
    var total = 0
    for number in 0..<BytesBenchmark.changeCount {
      _ = try session.write(.set(place, .number(JSONNumber(Int64(10 + number)))))
      let bytes = try program.bytesUntilQuiet(milliseconds: BytesBenchmark.quietMilliseconds)
      if bytes == 0 { throw BenchmarkError("A change was not shown.") }
      largest = max(largest, bytes)
      total += bytes
    }
    // The mark of the change goes after a while, which is another repaint.
    try program.rest(milliseconds: 3500)
    try session.close()
    report.add(
      "bytes for a change of one row", "mean \(total / BytesBenchmark.changeCount), max \(largest)",
      value: Double(largest), aim: .below(400, "400"))
  }

  /// Pages through what is loaded.
  private func pages(_ program: TerminalProgram, into report: inout Report) throws {
    for _ in 0..<BytesBenchmark.pageCount { try program.fetchPage() }
    try program.strike("gg")
    _ = try program.bytesUntilQuiet(milliseconds: BytesBenchmark.quietMilliseconds)
    var largest = 0
    for _ in 0..<BytesBenchmark.pageCount {
      try program.strike("\u{6}")
      largest = max(
        largest, try program.bytesUntilQuiet(milliseconds: BytesBenchmark.quietMilliseconds))
    }
    let screen = TerminalProgram.columns * TerminalProgram.rows
    let ratio = Double(largest) / Double(screen)
    report.add(
      "bytes for a page down, in screens", "\(largest)", baseline: "\(screen)", ratio: ratio,
      aim: .below(1.2, "1.2"))
  }
}
