import Glibc

/// Measures the storage and the workspace, and prints the figures beside their baselines and aims.
///
/// `runnel-bench` takes 1,000,000 messages, and the demo with 200,000 for the workspace;
/// `--quick` takes 20,000 for both. `--storage` and `--workspace` measure one of the two. Build the
/// program before: some parts start the one beside this binary.
@main
struct Bench {
  static func main() {
    let known: Set = ["--quick", "--storage", "--workspace"]
    let options = Set(CommandLine.arguments.dropFirst())
    guard options.isSubset(of: known) else {
      Output.note("usage: runnel-bench [--quick] [--storage] [--workspace]")
      exit(2)
    }
    do {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      if !options.contains("--workspace") || options.contains("--storage") {
        try storage(messageCount: options.contains("--quick") ? 20_000 : 1_000_000, folder)
      }
      if !options.contains("--storage") || options.contains("--workspace") {
        try workspace(messageCount: options.contains("--quick") ? 20_000 : 200_000, folder)
      }
    } catch {
      Output.note("runnel-bench: \(error)")
      exit(1)
    }
  }

  private static func storage(messageCount: Int, _ folder: TemporaryFolder) throws {
    let report = try StorageBenchmark(messageCount: messageCount, folder: folder).run()
    Output.print(report.table(title: "Storage, \(messageCount) messages") + "\n")
  }

  private static func workspace(messageCount: Int, _ folder: TemporaryFolder) throws {
    var report = Report()
    Output.note("making the demo with \(messageCount) messages")
    let demo = try DemoInput(messageCount: messageCount)
    let database = try demo.database(in: folder)
    Output.note("starting the program")
    try StartBenchmark(demo: demo, database: database).run(into: &report)
    Output.note("striking keys")
    try KeyBenchmark(demo: demo, database: database).run(into: &report)
    Output.note("doing nothing")
    try IdleBenchmark(demo: demo, database: database).run(into: &report)
    Output.print(report.table(title: "Workspace, \(messageCount) messages"))
  }
}
