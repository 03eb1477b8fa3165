/// The resident memory of the program with a long history open and one window of it.
struct MemoryBenchmark {
  let stage: StorageBenchmark.Stage

  func run(into report: inout Report) throws {
    let watcher = try Child(
      [
        "watch", "/" + MessageInput.collection, "--order-by", "$key", "--limit-to-last", "100",
        "--database", stage.file,
      ], readsOutput: true)
    _ = try watcher.line(milliseconds: 30_000)
    watcher.rest(milliseconds: 500)
    let bytes = ProcessFigures(processID: watcher.processID).residentBytes
    report.add(
      "resident memory with one window of 100", Format.megabytes(bytes), value: Double(bytes),
      aim: .below(60_000_000, "60 MB"))
    try watcher.end()
  }
}
