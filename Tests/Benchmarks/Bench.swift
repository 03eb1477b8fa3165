import Glibc

/// Measures the program and prints the figures beside their baselines and aims.
///
/// `runnel-bench` takes the demo with 200,000 messages, `runnel-bench --quick` with 20,000. Build the
/// program before: the terminal's part starts the one beside this binary.
@main
struct Bench {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.isEmpty || Array(arguments) == ["--quick"] else {
      Output.note("usage: runnel-bench [--quick]")
      exit(2)
    }
    do {
      try run(messageCount: arguments.isEmpty ? 200_000 : 20_000)
    } catch {
      Output.note("runnel-bench: \(error)")
      exit(1)
    }
  }

  private static func run(messageCount: Int) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var report = Report()
    Output.note("making the demo with \(messageCount) messages")
    let demo = try DemoInput(messageCount: messageCount)

    Output.note("importing")
    let database = try ImportBenchmark(demo: demo, folder: folder).run(into: &report)
    Output.note("starting the program")
    try StartBenchmark(demo: demo, database: database).run(into: &report)
    Output.note("paging")
    try PageBenchmark(demo: demo, database: database).run(into: &report)
    Output.note("striking keys")
    try KeyBenchmark(demo: demo, database: database).run(into: &report)
    Output.note("writing")
    try WriteBenchmark(demo: demo, folder: folder).run(into: &report)
    Output.note("doing nothing")
    try IdleBenchmark(demo: demo, database: database).run(into: &report)
    Output.print(report.table(title: "\(messageCount) messages, \(demo.recordCount) records"))
  }
}
