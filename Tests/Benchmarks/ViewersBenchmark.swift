import Glibc

/// The workspace beside `less` and `vim`, which show a text file of the same rows.
///
/// What is not installed is left out and said.
struct ViewersBenchmark {
  /// A program that shows the newest row first.
  struct Viewer {
    var name: String
    var command: [String]
    var leave: String
  }

  private static let runCount = 5

  let demo: DemoInput

  func run(into report: inout Report) throws {
    let ours = try figures(
      of: Viewer(
        name: "runnel",
        command: [
          try TerminalProgram.path(), "--no-session", "--database", demo.database, "--views",
          demo.viewsFile,
        ], leave: "q"))
    for viewer in viewers {
      let theirs = try figures(of: viewer)
      compare(ours, theirs, with: viewer.name, into: &report)
    }
  }

  private var viewers: [Viewer] {
    [
      Viewer(name: "less", command: ["/usr/bin/less", "-S", "+G", demo.textFile], leave: "q"),
      Viewer(
        name: "vim",
        command: [
          "/usr/bin/vim", "-u", "NONE", "-N", "-n", "-i", "NONE", "+set nowrap", "+$",
          demo.textFile,
        ],
        leave: ":q!\r"),
    ].filter { viewer in
      let isThere = access(viewer.command[0], X_OK) == 0
      if !isThere { Output.note("\(viewer.name) is not installed: it is left out") }
      return isThere
    }
  }

  private struct Figures {
    var start: Double
    var keys: Samples
    var residentBytes: Int
  }

  private func figures(of viewer: Viewer) throws -> Figures {
    var starts = Samples()
    for _ in 0..<ViewersBenchmark.runCount {
      let program = try open(viewer)
      starts.add(Timing.seconds(since: program.start))
      try program.rest(milliseconds: 100)
      try program.quit(by: viewer.leave)
    }
    let program = try open(viewer)
    try program.rest(milliseconds: 500)
    let resident = ProcessFigures(processID: program.processID).residentBytes
    let keys = try program.timeKeys()
    try program.quit(by: viewer.leave)
    return Figures(start: starts.median, keys: keys, residentBytes: resident)
  }

  private func open(_ viewer: Viewer) throws -> TerminalProgram {
    let program = try TerminalProgram(command: viewer.command)
    try program.wait(for: "the newest message") { $0.contains(demo.newestText) }
    return program
  }

  private func compare(
    _ ours: Figures, _ theirs: Figures, with name: String, into report: inout Report
  ) {
    for (words, share) in [("p50", 0.5), ("p95", 0.95)] {
      let (mine, other) = (ours.keys.quantile(share), theirs.keys.quantile(share))
      let (what, figure) = ("key to paint \(words), beside \(name)", Format.time(mine))
      let baseline = Format.time(other)
      if name == "less" {
        report.add(what, figure, baseline: baseline, ratio: mine / other, aim: .atMost(1))
      } else {
        report.add(what, figure, baseline: baseline, ratio: mine / other)
      }
    }
    report.add(
      "  exec to the newest row, beside \(name)", Format.time(ours.start),
      baseline: Format.time(theirs.start), ratio: ours.start / theirs.start)
    report.add(
      "  resident memory then", Format.megabytes(ours.residentBytes),
      baseline: Format.megabytes(theirs.residentBytes),
      ratio: Double(ours.residentBytes) / Double(theirs.residentBytes))
  }
}
