import Glibc

/// Measures the storage and the workspace, and prints the figures beside their baselines and aims.
///
/// `runnel-bench` takes 1,000,000 messages, and the demo with 200,000 for the workspace;
/// `--quick` takes 20,000 for both. `--storage`, `--workspace` and `--streams` measure one of the
/// three, and `--writes`, `--listeners` and `--reads` (with the import) one part of the storage. Build
/// the program before: some parts start the one beside this binary.
@main
struct Bench {
  static func main() {
    let parts = Set(StorageBenchmark.Part.allCases.map { "--\($0)" })
    let known = parts.union(["--quick", "--storage", "--workspace", "--streams"])
    let options = Set(CommandLine.arguments.dropFirst())
    guard options.isSubset(of: known) else {
      Output.note("usage: runnel-bench [\(known.sorted().joined(separator: "] ["))]")
      exit(2)
    }
    do {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let asked = StorageBenchmark.Part.allCases.filter { options.contains("--\($0)") }
      let isStorage = options.contains("--storage") || !asked.isEmpty
      let isAll = !isStorage && options.isDisjoint(with: ["--workspace", "--streams"])
      if isStorage || isAll {
        try storage(
          messageCount: options.contains("--quick") ? 20_000 : 1_000_000,
          options.contains("--storage") || asked.isEmpty
            ? StorageBenchmark.Part.allCases : asked, folder)
      }
      if options.contains("--workspace") || isAll {
        try workspace(messageCount: options.contains("--quick") ? 20_000 : 200_000, folder)
      }
      if options.contains("--streams") || isAll { try streams() }
    } catch {
      Output.note("runnel-bench: \(error)")
      exit(1)
    }
  }

  private static func storage(
    messageCount: Int, _ parts: [StorageBenchmark.Part], _ folder: TemporaryFolder
  ) throws {
    let benchmark = StorageBenchmark(messageCount: messageCount, folder: folder)
    let report = try benchmark.run(parts)
    Output.print(report.table(title: "Storage, \(messageCount) messages") + "\n")
  }

  private static func streams() throws {
    var report = Report()
    let rowCount = 100_000
    var benchmark = try StreamsBenchmark(rowCount: rowCount)
    try benchmark.run(into: &report)
    Output.print(report.table(title: "Streams, \(rowCount) rows") + "\n")
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
    Output.note("dispatching")
    try StoreBenchmark().run(into: &report)
    Output.note("doing nothing")
    try IdleBenchmark(demo: demo, database: database).run(into: &report)
    Output.print(report.table(title: "Workspace, \(messageCount) messages"))
  }
}
