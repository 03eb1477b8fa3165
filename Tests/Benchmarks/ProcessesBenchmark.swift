import CPlatform
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree

/// From a write in one process to its event in another, and what both cost while nothing happens.
///
/// The other process is `runnel watch`, which says a line of JSON for each event.
struct ProcessesBenchmark {
  private static let writeCount = 500
  private static let idleSeconds = 3
  /// How long the other process is left alone before a write, so that both sleep.
  private static let pauseMilliseconds: Int32 = 3

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let file = folder.file("shared.db")
    let place = try Path("/message")
    let inbox = Inbox<DatabaseMessage>(limit: 1024) {}
    let writing = try Database(file: file, inbox: inbox, environment: .live)
    defer { writing.close() }
    // The other process is ready once it has said what is there already.
    writing.submit(.push(0, place, WriteBenchmark.message(0)))
    let watcher = try Child(["watch", "/message", "--database", file], readsOutput: true)
    _ = try watcher.line(milliseconds: 5000)
    var samples = Samples()
    for number in 0..<ProcessesBenchmark.writeCount {
      watcher.rest(milliseconds: ProcessesBenchmark.pauseMilliseconds)
      let message = WriteBenchmark.message(number)
      try samples.measure {
        writing.submit(.push(number, place, message))
        while try !watcher.line(milliseconds: 5000).contains("(\(number))") {}
      }
      _ = inbox.drain()
    }
    let time = samples.quantile(0.99)
    report.add(
      "write in one process until the event in another", samples.summary, value: time,
      aim: .below(0.02, "p99 20 ms"))
    let figures = [
      ProcessFigures(processID: getpid()), ProcessFigures(processID: watcher.processID),
    ]
    let before = figures.reduce(0) { $0 + $1.cpuSeconds }
    watcher.rest(milliseconds: Int32(ProcessesBenchmark.idleSeconds * 1000))
    let used = figures.reduce(0) { $0 + $1.cpuSeconds } - before
    let share = used / Double(ProcessesBenchmark.idleSeconds)
    report.add(
      "  CPU of both while idle", Format.decimal(share * 100, digits: 1) + " %", value: share,
      aim: .below(0.005, "0 %"))
    try watcher.end()
  }
}
