import Glibc
import PostgresCluster

/// Measures the storage, the workspace and the server, and prints the figures beside their baselines and aims.
///
/// `runnel-bench` takes 1,000,000 messages; `--quick` takes 20,000. `--storage`, `--workspace`,
/// `--streams`, `--lists`, `--serve`, `--sync`, `--accounts`, `--rules`, `--services` and `--store` measure one of the ten, `--writes`,
/// `--listeners` and `--reads` (with the import) one part of the storage, and `--drain` the last part of the services. Build the program before: some parts start the one beside this
/// binary.
@main
struct Bench {
  static func main() {
    let parts = Set(StorageBenchmark.Part.allCases.map { "--\($0)" })
    let sections = [
      "--workspace", "--streams", "--lists", "--serve", "--sync", "--rules", "--accounts",
      "--services", "--drain", "--store",
    ]
    let known = parts.union(["--quick", "--storage"]).union(sections)
    if CommandLine.arguments.count == 4, CommandLine.arguments[1] == TrafficBenchmark.option {
      return writeChanges(to: CommandLine.arguments[2], seconds: CommandLine.arguments[3])
    }
    if CommandLine.arguments.count > 4, CommandLine.arguments[1] == SyncBenchmark.loadOption {
      return loadReplica(CommandLine.arguments)
    }
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
      let isAll = !isStorage && options.isDisjoint(with: sections)
      if isStorage || isAll {
        try storage(
          messageCount: options.contains("--quick") ? 20_000 : 1_000_000,
          options.contains("--storage") || asked.isEmpty
            ? StorageBenchmark.Part.allCases : asked, folder)
      }
      if options.contains("--workspace") || isAll {
        try workspace(isQuick: options.contains("--quick"), folder)
      }
      if options.contains("--streams") || isAll { try streams() }
      if options.contains("--services") || isAll { try services(folder) }
      if options.contains("--drain") { try drain(folder) }
      // The server's figures have those of the rules.
      if options.contains("--rules") { try rules() }
      if options.contains("--serve") || isAll {
        try serve(isQuick: options.contains("--quick"), folder)
      }
      if options.contains("--sync") || isAll {
        try sync(isQuick: options.contains("--quick"), folder)
      }
      if options.contains("--store") || isAll {
        try sharedStore(isQuick: options.contains("--quick"), folder)
      }
      if options.contains("--accounts") || isAll {
        try accounts(isQuick: options.contains("--quick"), folder)
      }
      if options.contains("--lists") || isAll {
        try lists(isQuick: options.contains("--quick"), folder)
      }
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

  private static func services(_ folder: TemporaryFolder) throws {
    var report = Report()
    try ServicesBenchmark().run(into: &report)
    try ServiceOriginBenchmark(folder: folder).run(into: &report)
    try LiveFindBenchmark().run(into: &report)
    Output.note("serving services")
    try ServedServicesBenchmark(folder: folder).run(into: &report)
    Output.note("sending the writes that waited")
    try DrainBenchmark(folder: folder).run(into: &report)
    Output.print(report.table(title: "Services, in one program and served") + "\n")
  }

  private static func drain(_ folder: TemporaryFolder) throws {
    var report = Report()
    try DrainBenchmark(folder: folder).run(into: &report)
    Output.print(report.table(title: "Services, what waited") + "\n")
  }

  private static func rules() throws {
    var report = Report()
    try RulesBenchmark().run(into: &report)
    Output.print(report.table(title: "Rules") + "\n")
  }

  private static func serve(isQuick: Bool, _ folder: TemporaryFolder) throws {
    var report = Report()
    try ServeBenchmark(folder: folder, isQuick: isQuick, into: &report).run(into: &report)
    Output.print(report.table(title: "Serve, on loopback") + "\n")
  }

  private static func sync(isQuick: Bool, _ folder: TemporaryFolder) throws {
    var report = Report()
    try SyncBenchmark(folder: folder, isQuick: isQuick, into: &report).run(into: &report)
    Output.print(report.table(title: "A server's database, on loopback") + "\n")
  }

  private static func sharedStore(isQuick: Bool, _ folder: TemporaryFolder) throws {
    guard PostgresCluster.isInstalled else { return Output.note(PostgresCluster.advice) }
    var report = Report()
    try SharedStoreBenchmark(folder: folder, isQuick: isQuick).run(into: &report)
    Output.print(report.table(title: "Several servers of one store") + "\n")
  }

  private static func accounts(isQuick: Bool, _ folder: TemporaryFolder) throws {
    var report = Report()
    Output.note("signing in")
    try AccountsBenchmark(folder: folder, isQuick: isQuick).run(into: &report)
    Output.print(report.table(title: "Accounts") + "\n")
  }

  private static func lists(isQuick: Bool, _ folder: TemporaryFolder) throws {
    var report = Report()
    Output.note("changing rows of long lists")
    try LiveListBenchmark(isQuick: isQuick).run(into: &report)
    Output.note("leaving a list open")
    try LeftOpenBenchmark(folder: folder, rowCount: isQuick ? 100_000 : 1_000_000)
      .run(into: &report)
    Output.print(
      report.table(title: "Live lists, from the tree's event to the painted frame") + "\n")
  }

  private static func workspace(isQuick: Bool, _ folder: TemporaryFolder) throws {
    var report = Report()
    let messageCount = isQuick ? 20_000 : 1_000_000
    Output.note("making the demo with \(messageCount) messages")
    let demo = try DemoInput(messageCount: messageCount, in: folder)
    Output.note("starting the program")
    try StartBenchmark(demo: demo).run(into: &report)
    Output.note("starting others, and striking keys in all of them")
    try ViewersBenchmark(demo: demo).run(into: &report)
    Output.note("striking keys")
    try KeyBenchmark(demo: demo, folder: folder).run(into: &report)
    Output.note("holding a key")
    try HeldKeyBenchmark(demo: demo, rowCount: isQuick ? 10_000 : 100_000, folder: folder)
      .run(into: &report)
    Output.note("changing rows")
    try BytesBenchmark(demo: demo).run(into: &report)
    try TrafficBenchmark(demo: demo, seconds: isQuick ? 3 : 10).run(into: &report)
    Output.note("dispatching")
    try StoreBenchmark().run(into: &report)
    Output.note("doing nothing")
    try IdleBenchmark(demo: demo, seconds: isQuick ? 5 : 60).run(into: &report)
    Output.print(report.table(title: "Workspace, \(messageCount) messages"))
  }

  /// What this program does where a measurement starts it as another process.
  private static func writeChanges(to file: String, seconds: String) {
    do {
      guard let seconds = Int(seconds) else { throw BenchmarkError("\(seconds) is no number.") }
      try TrafficBenchmark.write(to: file, seconds: seconds)
    } catch {
      Output.note("runnel-bench: \(error)")
      exit(1)
    }
  }

  /// The same where another process is to be a client of a server.
  private static func loadReplica(_ arguments: [String]) {
    do {
      try SyncBenchmark.loadReplica(
        arguments[2], arguments[3], arguments[4], isWhole: arguments.count > 5)
    } catch {
      Output.note("runnel-bench: \(error)")
      exit(1)
    }
  }
}
